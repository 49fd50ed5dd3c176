"""Bad input gives one clear message, and never a pass or a fail."""

from __future__ import annotations

import errno
import json
import os
import resource
import shutil
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest
import soundfile

from dsb_ifeval.dataset import Dataset
from dsb_ifeval.errors import FileError
from dsb_ifeval.plan import Selection
from dsb_ifeval.runner import RunOptions, prepare, record, run_system
from dsb_ifeval.score import score_run
from dsb_ifeval.verifiers import Outcome
from tests.conftest import ROOT, Cli

pytestmark = pytest.mark.slow


@pytest.fixture(scope="module")
def scored(tiny_dataset: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    out = tmp_path_factory.mktemp("scored") / "run"
    selection = Selection(roles=("R2",), levels=("L1",))
    run_system(RunOptions("oracle", tiny_dataset, out, selection=selection, progress=False))
    return out


@pytest.fixture
def run(scored: Path, tmp_path: Path) -> Path:
    return Path(shutil.copytree(scored, tmp_path / "run"))


CASE = "R2-C1-i1-L1"


def truncated(path: Path) -> None:
    path.write_bytes(path.read_bytes()[: path.stat().st_size // 2])


def emptied(path: Path) -> None:
    path.write_bytes(b"")


def no_audio_file(path: Path) -> None:
    path.write_bytes(b"this is not audio" * 100)


def mono(path: Path) -> None:
    samples, rate = soundfile.read(path, dtype="int16")
    soundfile.write(path, samples[:, 1], rate, format="FLAC", subtype="PCM_16")


def other_rate(path: Path) -> None:
    samples, _ = soundfile.read(path, dtype="int16")
    soundfile.write(path, samples, 16_000, format="FLAC", subtype="PCM_16")


def shorter(path: Path) -> None:
    samples, rate = soundfile.read(path, dtype="int16")
    soundfile.write(path, samples[:-480], rate, format="FLAC", subtype="PCM_16")


def silenced(path: Path) -> None:
    samples, rate = soundfile.read(path, dtype="int16")
    soundfile.write(path, np.zeros_like(samples), rate, format="FLAC", subtype="PCM_16")


def missing(path: Path) -> None:
    path.unlink()


@pytest.mark.parametrize(
    ("damage", "words"),
    [
        (truncated, "R2-C1-i1-L1.stereo.flac"),
        (emptied, "not a readable sound file"),
        (no_audio_file, "not a readable sound file"),
        (mono, "1 channel(s), expected 2"),
        (other_rate, "16000 Hz, expected 24000 Hz"),
        (shorter, "truncated or exchanged"),
        (silenced, "sha256 differs"),
        (missing, "No such file"),
    ],
)
def test_a_damaged_recording_is_unscored(run: Path, damage: object, words: str) -> None:
    damage(run / "recordings" / f"{CASE}.stereo.flac")  # type: ignore[operator]
    score = score_run(run)
    verdicts = {verdict.case_id: verdict for verdict in score.verdicts}
    assert verdicts[CASE].outcome is Outcome.UNSCORED
    assert words in verdicts[CASE].reason
    assert all(v.outcome is Outcome.PASS for name, v in verdicts.items() if name != CASE)
    assert CASE not in {m.case_id for m in score.measurements}


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("{", "not a session record"),
        ("[]", "not a session record"),
        ('{"format": 99}', "not a session record"),
        (None, "the case was not run"),
    ],
)
def test_a_damaged_record_is_unscored(run: Path, text: str | None, words: str) -> None:
    record = run / "recordings" / f"{CASE}.rec.json"
    record.unlink() if text is None else record.write_text(text)
    verdict = next(v for v in score_run(run).verdicts if v.case_id == CASE)
    assert verdict.outcome is Outcome.UNSCORED
    assert words in verdict.reason


def test_a_recording_of_other_user_audio_is_unscored(run: Path) -> None:
    path = run / "recordings" / f"{CASE}.rec.json"
    record = json.loads(path.read_text())
    record["stimulus"]["turn2_sha256"] = "f" * 64
    path.write_text(json.dumps(record))
    verdict = next(v for v in score_run(run).verdicts if v.case_id == CASE)
    assert verdict.outcome is Outcome.UNSCORED
    assert "other user audio" in verdict.reason


def test_the_table_lists_what_was_not_scored(run: Path, cli: Cli) -> None:
    mono(run / "recordings" / f"{CASE}.stereo.flac")
    done = cli("score", run)
    assert done.returncode == 0
    assert "unscored (1):" in done.stdout
    assert f"{CASE}: " in done.stdout
    assert "Traceback" not in done.stdout + done.stderr


def test_a_damaged_recording_is_played_again(run: Path, tiny_dataset: Path, cli: Cli) -> None:
    missing(run / "recordings" / f"{CASE}.stereo.flac")
    arguments = ("--dataset", tiny_dataset, "--out", run, "--roles", "R2", "--levels", "L1")
    done = cli("run", "oracle", *arguments)
    assert done.returncode == 0, done.stderr
    assert "recorded 1 sessions" in done.stdout


def damage_dataset(kind: str, source: Path, target: Path) -> Path:
    if kind == "absent":
        return target / "nowhere"
    folder = Path(shutil.copytree(source, target / "dsb-ifeval"))
    shards = sorted(folder.glob("data/*.parquet"))
    if kind == "empty":
        shutil.rmtree(folder)
        folder.mkdir()
    elif kind == "no shards":
        for shard in shards:
            shard.unlink()
    elif kind == "torn shard":
        truncated(shards[0])
    elif kind == "bad manifest":
        (folder / "manifest.json").write_text("{")
    return folder


@pytest.mark.parametrize(
    ("kind", "words"),
    [
        ("absent", "no such dataset folder"),
        ("empty", "no manifest.json"),
        ("no shards", "no data/test-*.parquet"),
        ("torn shard", "not a readable Parquet file"),
        ("bad manifest", "not a dataset manifest"),
    ],
)
def test_a_bad_dataset_folder(
    kind: str, words: str, tiny_dataset: Path, tmp_path: Path, cli: Cli
) -> None:
    folder = damage_dataset(kind, tiny_dataset, tmp_path)
    done = cli("run", "silent", "--dataset", folder, "--out", tmp_path / "run")
    assert done.returncode == 2
    assert words in done.stderr
    assert "Traceback" not in done.stderr


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (("cascde",), "unknown system 'cascde'; did you mean 'cascade'?"),
        (("nothing.py:Model",), "nothing.py: no such file"),
        (("json:Model",), "has no 'Model'"),
        (("json:loads",), "missing a required argument"),
        (("json:JSONDecoder",), "is not a system"),
        (("silent", "--option", "seed"), "expected NAME=VALUE"),
        (("silent", "--option", "sed=1"), "does not take these options"),
        (("silent", "--levels", "L5"), "unknown level 'L5'"),
        (("silent", "--roles", "R9"), "unknown role 'R9'"),
        (("silent", "--probes", "C9"), "unknown probe 'C9'"),
        (("silent", "--limit", "0"), "expected a positive number"),
        (("silent", "--instances", "2"), "unknown instance '2'"),
    ],
)
def test_bad_arguments(
    arguments: tuple[str, ...], words: str, tiny_dataset: Path, tmp_path: Path, cli: Cli
) -> None:
    done = cli("run", *arguments, "--dataset", tiny_dataset, "--out", tmp_path / "run")
    assert done.returncode == 2, done.stdout
    assert words in done.stderr
    assert "Traceback" not in done.stderr


def without(module: str, *arguments: object) -> subprocess.CompletedProcess[str]:
    """The command line in an environment that lacks a package."""
    code = (
        f"import sys; sys.modules[{module!r}] = None; "
        "from dsb_ifeval.cli import main; sys.exit(main(sys.argv[1:]))"
    )
    return subprocess.run(
        [sys.executable, "-c", code, *map(str, arguments)],
        capture_output=True,
        text=True,
        env={**os.environ, "PYTHONPATH": str(ROOT)},
        check=False,
    )


def test_a_missing_extra_names_what_to_install(tiny_dataset: Path, tmp_path: Path) -> None:
    where = ("--dataset", tiny_dataset, "--out", tmp_path / "run")
    done = without("faster_whisper", "run", "cascade", *where)
    assert done.returncode == 2
    assert "needs faster_whisper" in done.stderr
    assert "pip install 'dsb-ifeval[cascade]'" in done.stderr
    assert "Traceback" not in done.stderr


def test_without_scipy_everything_but_the_intervals_is_done(
    tiny_dataset: Path, tmp_path: Path
) -> None:
    out = tmp_path / "run"
    done = without("scipy", "run", "silent", "--dataset", tiny_dataset, "--out", out, "--limit", 1)
    assert done.returncode == 2
    assert "pip install 'dsb-ifeval[score]'" in done.stderr
    assert "Traceback" not in done.stderr
    assert (out / "verdicts.parquet").is_file()


def test_an_unwritable_output_folder(tiny_dataset: Path, tmp_path: Path, cli: Cli) -> None:
    blocked = tmp_path / "file"
    blocked.write_text("in the way")
    done = cli("run", "silent", "--dataset", tiny_dataset, "--out", blocked / "run", "--limit", 1)
    assert done.returncode == 2
    assert "cannot write" in done.stderr
    assert "Traceback" not in done.stderr


def test_a_folder_of_something_else_is_left_alone(
    tiny_dataset: Path, tmp_path: Path, cli: Cli
) -> None:
    (tmp_path / "thesis.txt").write_text("years of work")
    done = cli("run", "silent", "--dataset", tiny_dataset, "--out", tmp_path, "--limit", 1)
    assert done.returncode == 2
    assert "not empty and not a run folder" in done.stderr
    assert {path.name for path in tmp_path.iterdir()} - {".lock"} == {"thesis.txt"}


class FullDisk:
    """A disk with room for a number of files; the next one is cut off half way."""

    def __init__(self, room: int) -> None:
        self._room = room
        self._write = Path.write_bytes

    def __call__(self, path: Path, data: bytes) -> int:
        self._room -= 1
        if self._room < 0:
            self._write(path, data[: len(data) // 2])
            raise OSError(errno.ENOSPC, "No space left on device")
        return self._write(path, data)


@pytest.mark.parametrize("room", [0, 1, 2, 3, 4, 7, 8])
def test_a_disk_that_fills_keeps_finished_work(
    room: int, tiny_dataset: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    out, selection = tmp_path / "run", Selection(roles=("R2",), limit=4)
    options = RunOptions("silent", tiny_dataset, out, selection=selection, progress=False)
    disk = FullDisk(room)
    with monkeypatch.context() as patch:
        patch.setattr(Path, "write_bytes", lambda path, data: disk(path, data))
        with pytest.raises(FileError, match="No space left on device"):
            run_system(options)
    assert not list(out.rglob(".partial-*"))
    # room for cases.jsonl and run.json, then two files a case
    kept = len(list(out.glob("recordings/*.rec.json")))
    assert kept == max(0, (room - 2) // 2)
    dataset = Dataset(tiny_dataset)
    prepare(options, dataset)
    assert record(options, dataset).played == 4 - kept
    assert all(v.outcome is not Outcome.UNSCORED for v in score_run(out).verdicts)


def test_a_full_disk_is_one_line_at_the_command_line(
    tiny_dataset: Path, tmp_path: Path, cli: Cli
) -> None:
    def full_disk() -> None:
        resource.setrlimit(resource.RLIMIT_FSIZE, (100_000, 100_000))

    arguments = ("--dataset", tiny_dataset, "--out", tmp_path / "run", "--limit", 2)
    done = cli("run", "silent", *arguments, preexec_fn=full_disk)
    assert done.returncode == 2
    assert "cannot write" in done.stderr
    assert "Traceback" not in done.stderr


@pytest.mark.parametrize("command", ["score", "show"])
def test_not_a_run_folder(command: str, tmp_path: Path, cli: Cli) -> None:
    done = cli(command, tmp_path)
    assert done.returncode == 2
    assert "not a run folder" in done.stderr


def test_damaged_case_list(run: Path, cli: Cli) -> None:
    (run / "cases.jsonl").write_text('{"case_id": "R1-C1-i1-L1"}\n')
    done = cli("score", run)
    assert done.returncode == 2
    assert "cases.jsonl, line 1" in done.stderr
    assert "Traceback" not in done.stderr


def test_show_before_score_says_so(run: Path, cli: Cli) -> None:
    (run / "verdicts.parquet").unlink()
    done = cli("show", run)
    assert done.returncode == 2
    assert "dsb-ifeval score" in done.stderr


def test_a_spec_with_a_misspelt_key(tmp_path: Path, cli: Cli) -> None:
    folder = Path(shutil.copytree(ROOT / "spec", tmp_path / "spec"))
    roles = folder / "roles.yaml"
    roles.write_text(roles.read_text().replace("directive:", "directiv:", 1))
    done = cli("spec", "--folder", folder)
    assert done.returncode == 2
    assert "roles.yaml" in done.stderr
    assert "directiv" in done.stderr
    assert "Traceback" not in done.stderr
