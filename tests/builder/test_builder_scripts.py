"""Reading scripts: everything that can be wrong is reported at once."""

from __future__ import annotations

from pathlib import Path

import pytest

from dataset_builder.scripts import load_scripts, select
from dsb_ifeval.benchmark import Benchmark
from dsb_ifeval.errors import SpecError

pytestmark = pytest.mark.unit


def test_project_scripts_load(benchmark_spec: Benchmark) -> None:
    scripts = load_scripts(benchmark_spec)
    assert len(scripts) >= 48
    assert len({script.id for script in scripts}) == len(scripts)


def test_matched_text_becomes_one_script_per_role(
    benchmark_spec: Benchmark, scripts_folder: Path
) -> None:
    scripts = load_scripts(benchmark_spec, scripts_folder)
    matched = [script for script in scripts if script.audio_key == "MATCHED-C1-i1"]
    assert [script.id for script in matched] == ["R1-C1-i1", "R2-C1-i1", "R3-C1-i1"]
    assert len({script.turn1 for script in matched}) == 1


def test_appended_slots_are_kept_apart(benchmark_spec: Benchmark, scripts_folder: Path) -> None:
    (script,) = select(load_scripts(benchmark_spec, scripts_folder), ["R2-R2_B"])
    assert sorted(script.turn2) == ["s1", "s2", "s4"]
    assert sorted(script.appended) == ["s5", "s6"]


def test_every_mistake_is_reported(benchmark_spec: Benchmark, scripts_folder: Path) -> None:
    path = scripts_folder / "R1.yaml"
    text = path.read_text("utf-8")
    text = text.replace("situation:", "situatoin:").replace("s3:", "s2: hello\n      s3:")
    text = text.replace("speaker: woman, fifties", "speaker: 50")
    path.write_text(text, "utf-8")
    other = scripts_folder / "R2.yaml"
    other.write_text(
        other.read_text("utf-8").replace("R2-R2_B-i1", "R2-C1-i1").replace("role: R2", "role: R2"),
        "utf-8",
    )
    with pytest.raises(SpecError) as caught:
        load_scripts(benchmark_spec, scripts_folder)
    lines = "\n".join(caught.value.problems)
    for part in (
        "conversations/R1.yaml: conversations[0].situation: missing, expected text",
        "conversations/R1.yaml: conversations[0].situatoin: unknown key; did you mean 'situation'?",
        "conversations/R1.yaml: conversations[0].speaker: got 50, expected text",
        "conversations/R1.yaml: conversations[0].turn2.s2: is a silence of 1.2 s",
        "R2-C1-i1 is in the matched set: write it as MATCHED-C1-i1 in matched.yaml",
    ):
        assert part in lines


@pytest.mark.parametrize(
    ("identity", "message"),
    [
        ("R1-C9-i1", "got probe 'C9', expected one of C1, C2, C3, C4, R1_A, R1_B"),
        ("R1-C2-i7", "got instance 7, expected one of 1, 2, 3, 4, 5"),
        ("R2-C2-i1", "got 'R2-C2-i1', expected like 'R1-C1-i1'"),
        ("first", "got 'first', expected like 'R1-C1-i1'"),
    ],
)
def test_wrong_ids(
    benchmark_spec: Benchmark, scripts_folder: Path, identity: str, message: str
) -> None:
    path = scripts_folder / "R1.yaml"
    path.write_text(path.read_text("utf-8").replace("R1-C2-i1", identity), "utf-8")
    with pytest.raises(SpecError, match=message):
        load_scripts(benchmark_spec, scripts_folder)


def test_duplicate_ids(benchmark_spec: Benchmark, scripts_folder: Path) -> None:
    copy = scripts_folder / "R1-again.yaml"
    copy.write_text((scripts_folder / "R1.yaml").read_text("utf-8"), "utf-8")
    with pytest.raises(SpecError, match="id R1-C2-i1 is already used by"):
        load_scripts(benchmark_spec, scripts_folder)


def test_empty_folder(benchmark_spec: Benchmark, tmp_path: Path) -> None:
    with pytest.raises(SpecError, match="no YAML file here"):
        load_scripts(benchmark_spec, tmp_path)


@pytest.mark.parametrize("name", ["R3.yml", "R3.YAML", "R3.yaml.bak", "R3"])
def test_files_that_are_not_read_are_mistakes(
    benchmark_spec: Benchmark, scripts_folder: Path, name: str
) -> None:
    (scripts_folder / name).write_text("role: R3\n", "utf-8")
    with pytest.raises(SpecError, match=rf"1 mistake.*\n.*conversations/{name}: is not read"):
        load_scripts(benchmark_spec, scripts_folder)


def test_notes_and_hidden_files_are_no_mistakes(
    benchmark_spec: Benchmark, scripts_folder: Path
) -> None:
    for name in ("REVIEW.md", ".R1.yaml.swp", ".R1.yaml"):
        (scripts_folder / name).write_text("x", "utf-8")
    assert len(load_scripts(benchmark_spec, scripts_folder)) == 5


def test_select(benchmark_spec: Benchmark, scripts_folder: Path) -> None:
    scripts = load_scripts(benchmark_spec, scripts_folder)

    def ids(*only: str) -> list[str]:
        return [script.id for script in select(scripts, only)]

    assert ids("R1") == ["R1-C1-i1", "R1-C2-i1"]
    assert ids("R1-C2", " R3 ") == ["R1-C2-i1", "R3-C1-i1"]
    assert ids("MATCHED-C1") == ["R1-C1-i1", "R2-C1-i1", "R3-C1-i1"]
    with pytest.raises(SpecError, match="got 'R9'"):
        ids("R1", "R9")
