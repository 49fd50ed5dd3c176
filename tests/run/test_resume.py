"""A run that is killed at any moment is finished by the same command, with the same bytes."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

from dsb_ifeval.dataset import Dataset
from dsb_ifeval.errors import RunError
from dsb_ifeval.files import TEMPORARY_MARK
from dsb_ifeval.plan import Selection, select, share
from dsb_ifeval.runfolder import RunFolder
from dsb_ifeval.runner import RunOptions, prepare, record, run_system
from tests.conftest import ROOT, Cli

pytestmark = pytest.mark.slow

COUNT = 12


def contents(folder: Path) -> dict[str, bytes]:
    return {path.name: path.read_bytes() for path in sorted(folder.iterdir())}


@pytest.fixture(scope="module")
def undisturbed(tiny_dataset: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    out = tmp_path_factory.mktemp("undisturbed") / "run"
    selection = Selection(limit=COUNT)
    run_system(RunOptions("oracle", tiny_dataset, out, selection=selection, progress=False))
    return out


def start(dataset: Path, out: Path) -> subprocess.Popen[bytes]:
    command = [sys.executable, "-m", "dsb_ifeval", "run", "oracle", "--limit", str(COUNT)]
    return subprocess.Popen(
        [*command, "--dataset", dataset, "--out", out, "--no-progress"],
        env={**os.environ, "PYTHONPATH": str(ROOT)},
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
    )


@pytest.mark.parametrize("after", [0, 1, 6])
def test_killed_and_started_again(
    after: int, tiny_dataset: Path, undisturbed: Path, tmp_path: Path
) -> None:
    out = tmp_path / "run"
    process = start(tiny_dataset, out)
    deadline = time.monotonic() + 60
    while process.poll() is None and time.monotonic() < deadline:
        if len(list(out.glob("recordings/*.rec.json"))) >= after and (out / "cases.jsonl").exists():
            break
        time.sleep(0.005)
    process.send_signal(signal.SIGKILL)
    process.wait()
    assert start(tiny_dataset, out).wait(timeout=120) == 0
    assert contents(out / "recordings") == contents(undisturbed / "recordings")
    for name in ("measurements.parquet", "verdicts.parquet", "cases.jsonl"):
        assert (out / name).read_bytes() == (undisturbed / name).read_bytes(), name
    assert not list(out.rglob(f"{TEMPORARY_MARK}*"))


def test_two_processes_give_the_bytes_of_one(
    tiny_dataset: Path, undisturbed: Path, tmp_path: Path
) -> None:
    selection = Selection(limit=COUNT)
    options = RunOptions(
        "oracle", tiny_dataset, tmp_path / "run", selection=selection, progress=False
    )
    dataset = Dataset(tiny_dataset)
    prepare(options, dataset)
    played = [record(options, dataset, rank, 2).played for rank in (1, 0)]
    assert sum(played) == COUNT
    assert all(played)
    assert contents(options.folder.recordings) == contents(undisturbed / "recordings")


def test_nothing_is_played_twice(tiny_dataset: Path, tmp_path: Path) -> None:
    options = RunOptions(
        "silent", tiny_dataset, tmp_path / "run", selection=Selection(limit=5), progress=False
    )
    run_system(options)
    before = contents(options.folder.recordings)
    dataset = Dataset(tiny_dataset)
    assert record(options, dataset).played == 0
    first = options.folder.cases()[2].case_id
    (options.folder.recordings / f"{first}.rec.json").unlink()
    assert record(options, dataset).played == 1
    assert contents(options.folder.recordings) == before


def test_a_run_can_be_widened(tiny_dataset: Path, tmp_path: Path) -> None:
    out = tmp_path / "run"
    for levels, expected in ((("L1",), 11), (("L2",), 22)):
        selection = Selection(levels=levels)
        options = RunOptions("silent", tiny_dataset, out, selection=selection, progress=False)
        assert len(run_system(options).cases) == expected


def test_another_run_in_the_folder_is_refused(tiny_dataset: Path, tmp_path: Path, cli: Cli) -> None:
    arguments = ("--dataset", tiny_dataset, "--out", tmp_path / "run", "--limit", 1)
    assert cli("run", "silent", *arguments).returncode == 0
    done = cli("run", "talker", *arguments)
    assert done.returncode == 2
    assert "holds a run with system 'silent', this one has 'talker'" in done.stderr
    assert "Traceback" not in done.stderr


def test_only_one_run_records_into_a_folder(tmp_path: Path) -> None:
    folder = RunFolder(tmp_path / "run")
    second = RunFolder(tmp_path / "run").claimed()
    with folder.claimed(), pytest.raises(RunError, match="another run is recording"), second:
        pass
    with folder.claimed():
        pass


def test_shares_are_a_partition_that_keeps_waveforms_together(tiny_dataset: Path) -> None:
    cases = select(Dataset(tiny_dataset).cases, Selection())
    for world in (1, 2, 3, 7, 40):
        shares = [share(cases, rank, world) for rank in range(world)]
        assert sorted(c.case_id for s in shares for c in s) == sorted(c.case_id for c in cases)
        keys = [{case.audio_key for case in s} for s in shares]
        assert sum(map(len, keys)) == len(set().union(*keys))
