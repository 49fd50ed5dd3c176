"""Commands and their messages."""

from __future__ import annotations

import errno
from pathlib import Path

import pytest

from dataset_builder import dataset, engines, packages
from dataset_builder.cli import main
from dsb_ifeval.errors import AdapterUnavailable

from .conftest import ToneEngine

pytestmark = pytest.mark.unit


def _build(scripts: Path, work: Path, *more: str) -> int:
    arguments = ["--engine", "tone", "--out", str(work / "dsb-ifeval"), "--cache", str(work / "c")]
    return main(["build", *arguments, "--conversations", str(scripts), *more])


def test_check(scripts_folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["check", "--conversations", str(scripts_folder)]) == 0
    out = capsys.readouterr().out
    assert "5 conversations (3 texts) pass the structural gates" in out
    assert "the full grid has 240: 235 are not written yet" in out


def test_check_rejects(scripts_folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    path = scripts_folder / "R1.yaml"
    path.write_text(path.read_text("utf-8").replace("My daddy", "Nurse, my daddy"), "utf-8")
    assert main(["check", "--conversations", str(scripts_folder)]) == 2
    error = capsys.readouterr().err
    assert error.startswith("error: 1 rejection(s) by the structural gates:")
    assert "R1-C2-i1 t1: the user names the assistant's role ('nurse')" in error


def test_build_reports(
    tone: ToneEngine, scripts_folder: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert _build(scripts_folder, tmp_path) == 0
    out = capsys.readouterr().out
    assert "R1 ER triage nurse" in out
    assert "the published 27.2 s" in out
    assert "27 cases, 4 audio keys, 1 shard(s)" in out
    assert "13 segment(s) spoken by tone" in out


def test_only(
    tone: ToneEngine, scripts_folder: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert _build(scripts_folder, tmp_path, "--only", "R1-C2") == 0
    assert "6 cases, 1 audio keys" in capsys.readouterr().out


def test_off_target_segments_reject_the_build(
    tone: ToneEngine, scripts_folder: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    path = scripts_folder / "R2.yaml"
    text = path.read_text("utf-8").replace("Hello, are you still there?", "Hello?")
    path.write_text(text, "utf-8")
    assert _build(scripts_folder, tmp_path) == 2
    error = capsys.readouterr().err
    assert "R2-R2_B-i1 s2: 0.31 s of speech, target 1.5 s (-79%, tolerance 50%)" in error
    assert "no dataset was written; --keep-off-target writes it anyway" in error
    assert not (tmp_path / "dsb-ifeval").exists()
    assert _build(scripts_folder, tmp_path, "--keep-off-target") == 0
    assert (tmp_path / "dsb-ifeval" / "manifest.json").is_file()


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["--only", "R9"], "--only: got 'R9', expected ids such as R1, R2-C1"),
        (["--engine", "xtts"], "no speech engine 'xtts'; there are: hibari, kokoro, tone"),
        (["--conversations", "/nowhere"], "no YAML file here"),
    ],
)
def test_user_mistakes_end_in_one_message(
    tone: ToneEngine,
    scripts_folder: Path,
    tmp_path: Path,
    capsys: pytest.CaptureFixture[str],
    arguments: list[str],
    message: str,
) -> None:
    assert _build(scripts_folder, tmp_path, *arguments) == 2
    error = capsys.readouterr().err
    assert error.startswith("error: ")
    assert message in error


def test_full_disk_keeps_the_old_dataset(
    tone: ToneEngine,
    scripts_folder: Path,
    tmp_path: Path,
    capsys: pytest.CaptureFixture[str],
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    assert _build(scripts_folder, tmp_path) == 0
    manifest = tmp_path / "dsb-ifeval" / "manifest.json"
    before = manifest.read_bytes()

    def fail(*_: object, **__: object) -> None:
        raise OSError(errno.ENOSPC, "No space left on device")

    monkeypatch.setattr(dataset.pq, "write_table", fail)
    assert _build(scripts_folder, tmp_path, "--only", "R1") == 2
    error = capsys.readouterr().err
    assert "the disk is full; an older dataset there is untouched" in error
    assert manifest.read_bytes() == before
    assert sorted(path.name for path in tmp_path.iterdir()) == ["c", "conversations", "dsb-ifeval"]


def test_an_impossible_out_is_refused_before_speaking(
    tone: ToneEngine, scripts_folder: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (tmp_path / "file").write_text("x")
    assert _build(scripts_folder, tmp_path, "--out", str(tmp_path / "file" / "sub")) == 2
    error = capsys.readouterr().err
    assert f"not a folder: {tmp_path / 'file'}" in error
    assert "older dataset" not in error
    assert tone.spoken == []


def test_unwritable_cache(
    tone: ToneEngine, scripts_folder: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (tmp_path / "c").write_text("a file where the cache should be")
    assert _build(scripts_folder, tmp_path) == 2
    assert "cannot write the cache at" in capsys.readouterr().err


def test_missing_packages_are_named(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setattr(packages.importlib.util, "find_spec", lambda name: None)
    with pytest.raises(AdapterUnavailable) as caught:
        engines.create_engine("hibari", tmp_path)
    assert "the speech engine hibari needs hibari-tts, onnx, onnxruntime" in str(caught.value)
    assert "pip install 'dsb-ifeval[builder]'" in str(caught.value)


def test_engines(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["engines"]) == 0
    out = capsys.readouterr().out
    assert "hibari" in out
    assert "kokoro" in out
