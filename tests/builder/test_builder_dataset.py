"""The built folder, through the command line with the tone engine."""

from __future__ import annotations

import io
import json
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow.parquet as pq
import pytest
import soundfile

from dataset_builder.assemble import pcm_sha256
from dataset_builder.cli import main
from dataset_builder.turns import voice_for
from dsb_ifeval.manifest import case_from_row, case_to_row

from .conftest import REPOSITORY, ToneEngine

pytestmark = pytest.mark.unit

Row = dict[str, Any]


@pytest.fixture
def build(tone: ToneEngine, scripts_folder: Path, tmp_path: Path) -> Path:
    return _build(scripts_folder, tmp_path)


def _build(scripts: Path, work: Path, *more: str) -> Path:
    out = work / "built" / "dsb-ifeval"
    arguments = ["--engine", "tone", "--out", str(out), "--cache", str(work / "cache")]
    status = main(["build", *arguments, "--conversations", str(scripts), *more])
    assert status == 0
    return out


def _rows(out: Path) -> list[Row]:
    rows: list[Row] = pq.read_table(out / "data").to_pylist()
    return rows


def _pcm(cell: dict[str, Any]) -> np.ndarray:
    samples, rate = soundfile.read(io.BytesIO(cell["bytes"]), dtype="int16")
    assert rate == 24_000
    return samples


def test_rows_are_complete_and_sorted(build: Path) -> None:
    rows = _rows(build)
    # R1-C2, R2-R2_B and three matched cells: L0 to L4a each, and two safety lines
    assert len(rows) == 5 * 5 + 2
    keys = [(row["audio_key"], row["case_id"]) for row in rows]
    assert keys == sorted(keys)
    assert {row["case_id"] for row in rows} >= {"R1-C2-i1-L0", "R1-C2-i1-L4b", "R2-R2_B-i1-L4b"}


def test_rows_read_back_as_cases(build: Path) -> None:
    for row in _rows(build):
        row["verifier"]["params"] = json.loads(row["verifier"]["params"])
        row["provenance"] = json.loads(row["provenance"])
        case = case_from_row(row)
        again = case_to_row(case)
        assert again == {name: row[name] for name in again}


def test_audio_is_what_the_manifest_says(build: Path) -> None:
    manifest = json.loads((build / "manifest.json").read_text("utf-8"))
    for row in _rows(build):
        for number, turn in enumerate(row["turns"], start=1):
            pcm = _pcm(row[f"turn{number}"])
            assert len(pcm) == turn["samples"]
            assert pcm_sha256(pcm) == turn["sha256"]
            assert manifest["audio"][row["audio_key"]][f"turn{number}_sha256"] == turn["sha256"]
            assert row[f"turn{number}"]["path"] == f"{row['audio_key']}_turn{number}.flac"


def test_silences_are_exact_zeros(build: Path) -> None:
    for row in _rows(build):
        pcm, start = _pcm(row["turn2"]), 0
        for segment in row["turns"][1]["segments"]:
            end = round(segment["end_s"] * 24_000)
            if segment["kind"] == "silence":
                inner = pcm[start + 24 : end - 24]
                assert not inner.any()
                assert abs((end - start) / 24_000 - segment["duration_s"]) < 0.001
            start = end


def test_window_and_readback(build: Path) -> None:
    case = next(row for row in _rows(build) if row["case_id"] == "R1-C2-i1-L1")
    last = case["turns"][1]["segments"][-1]["end_s"]
    assert case["trigger_window"] == {
        "start_s": last,
        "end_s": last + 10,
        "reference": "turn2_onset",
    }
    assert case["readback_target"].startswith("Warfarin, five milligrams")
    assert case["readback_target"].endswith("nine in the morning.")


def test_matched_cells_share_one_waveform(build: Path, tone: ToneEngine) -> None:
    matched = [row for row in _rows(build) if row["audio_key"] == "MATCHED-C1-i1"]
    assert {row["role"] for row in matched} == {"R1", "R2", "R3"}
    assert len({row["turn2"]["bytes"] for row in matched}) == 1
    assert len(tone.spoken) == len(set(tone.spoken)) == 4 + 6 + 3


def test_variant_is_the_base_audio_with_an_appendix(build: Path) -> None:
    rows = {row["case_id"]: row for row in _rows(build)}
    base, variant = rows["R2-R2_B-i1-L4a"], rows["R2-R2_B-i1-L4b"]
    assert variant["audio_key"] == "R2-R2_B-i1-L4b"
    assert variant["expected_action"] == "INTERRUPT"
    assert variant["turn1"]["bytes"] == base["turn1"]["bytes"]
    short, long = _pcm(base["turn2"]), _pcm(variant["turn2"])
    assert np.array_equal(long[: len(short)], short)
    segments = variant["turns"][1]["segments"]
    assert [segment["slot"] for segment in segments] == ["s1", "s2", "s3", "s4", "s5", "s6"]
    assert segments[4]["start_s"] == segments[3]["end_s"]
    window = variant["trigger_window"]
    assert (window["start_s"], window["end_s"]) == (segments[4]["end_s"], segments[5]["end_s"])
    assert base["provenance"] == variant["provenance"]  # the same voice, in particular


def test_voice_is_chosen_by_audio_key(build: Path) -> None:
    for row in _rows(build):
        key = row["audio_key"].removesuffix("-L4b")
        voice = json.loads(row["provenance"])["voice"]
        assert voice == voice_for(key, ToneEngine.voices)


def test_voice_rule() -> None:
    """sha1("R1-C1-i1") = 7c54...; int(sha1, 16) % N, computed with hashlib by hand."""
    import hashlib

    number = int(hashlib.sha1(b"R1-C1-i1").hexdigest(), 16)
    voices = tuple(f"v{index:02}" for index in range(28))
    assert voice_for("R1-C1-i1", voices) == voices[number % 28]


def test_shards_have_one_row_group_and_whole_keys(
    tone: ToneEngine, scripts_folder: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    from dataset_builder import dataset

    monkeypatch.setattr(dataset, "SHARD_BYTES", 1)
    out = _build(scripts_folder, tmp_path)
    paths = sorted((out / "data").iterdir())
    assert paths[0].name == f"test-00000-of-{len(paths):05d}.parquet"
    keys = [set(pq.read_table(path)["audio_key"].to_pylist()) for path in paths]
    assert [len(own) for own in keys] == [1] * 4
    assert len(set.union(*keys)) == 4
    assert all(pq.ParquetFile(path).num_row_groups == 1 for path in paths)


def test_each_waveform_is_stored_once(build: Path) -> None:
    unique = {bytes(row[turn]["bytes"]) for row in _rows(build) for turn in ("turn1", "turn2")}
    stored = sum(path.stat().st_size for path in (build / "data").iterdir())
    # turn 1 of the L4b variant is the only waveform in two audio keys, of the same shard
    assert stored < 1.2 * sum(len(data) for data in unique) + 100_000


def test_two_builds_are_equal_and_the_second_speaks_nothing(
    tone: ToneEngine, scripts_folder: Path, tmp_path: Path
) -> None:
    first = _build(scripts_folder, tmp_path)
    files = {path.name: path.read_bytes() for path in first.rglob("*") if path.is_file()}
    spoken = len(tone.spoken)
    second = _build(scripts_folder, tmp_path)
    assert {p.name: p.read_bytes() for p in second.rglob("*") if p.is_file()} == files
    assert len(tone.spoken) == spoken


def _load(parent: Path, home: Path, body: str) -> str:
    code = f"from datasets import Audio, load_dataset\nd = load_dataset('dsb-ifeval')\n{body}"
    environment = {**os.environ, "HF_HUB_OFFLINE": "1", "HF_HOME": str(home)}
    done = subprocess.run(
        [sys.executable, "-c", code],
        cwd=parent,
        env=environment,
        capture_output=True,
        text=True,
        timeout=120,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    return done.stdout


def test_load_dataset_offline_and_never_stale(
    tone: ToneEngine, scripts_folder: Path, tmp_path: Path
) -> None:
    """By bare name from the parent folder, without torchcodec, and again after a rebuild."""
    out, home = _build(scripts_folder, tmp_path), tmp_path / "hf"
    body = (
        "import io, soundfile\n"
        "d = d['test']\n"
        "print(len(d), d.column_names[0], d.features['turn1'].sampling_rate)\n"
        "row = d.cast_column('turn1', Audio(decode=False)).remove_columns('turn2')[0]\n"
        "print(soundfile.info(io.BytesIO(row['turn1']['bytes'])).samplerate)\n"
        "print(row['verifier']['params'], row['provenance']['engine'])\n"
    )
    printed = _load(out.parent, home, body)
    assert printed.splitlines() == [
        "27 case_id 24000",
        "24000",
        "{'max_wait_s': 2.0} tone",
    ]
    path = scripts_folder / "R1.yaml"
    path.write_text(path.read_text("utf-8").replace("My daddy", "My uncle"), "utf-8")
    _build(scripts_folder, tmp_path)
    texts = _load(
        out.parent, home, "print([t[0]['segments'][0]['text'] for t in d['test']['turns']])"
    )
    assert "My uncle slipped" in texts
    assert "My daddy" not in texts


def test_card_names_engine_voices_and_manifest(build: Path) -> None:
    card = (build / "README.md").read_text("utf-8")
    manifest = json.loads((build / "manifest.json").read_text("utf-8"))
    assert f"description: manifest sha256:{manifest['manifest_sha256']}" in card
    for part in ("config_name: cases", "num_examples: 27", "tones for tests", "alto, bass"):
        assert part in card
    assert manifest["engine"] == "tone"
    assert manifest["format_version"] == 1


def test_help_is_quick() -> None:
    """Nothing heavy is imported for help (the time itself is not asserted: machines differ)."""
    code = (
        "import sys\nfrom dataset_builder.cli import main\n"
        "try:\n    main(['--help'])\nexcept SystemExit:\n    pass\n"
        "heavy = {'numpy', 'datasets', 'onnxruntime', 'pyarrow', 'yaml'} & set(sys.modules)\n"
        "assert not heavy, heavy\n"
    )
    done = subprocess.run(
        [sys.executable, "-c", code], cwd=REPOSITORY, capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, done.stderr
    assert "python -m dataset_builder build" in done.stdout
