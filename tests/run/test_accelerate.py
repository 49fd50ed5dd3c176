"""``accelerate launch runners/run.py``: two processes give what one gives."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

from tests.conftest import ROOT

pytest.importorskip("accelerate")
pytestmark = pytest.mark.slow

LAUNCH = (
    *(sys.executable, "-m", "accelerate.commands.launch", "--num_machines", "1"),
    *("--mixed_precision", "no", "--dynamo_backend", "no"),
)


def start(processes: int, dataset: Path, out: Path) -> subprocess.Popen[str]:
    script = ("runners/run.py", "oracle", "--levels", "L1", "L3", "L4b", "--no-progress")
    where = ("--dataset", dataset, "--out", out)
    several = ("--multi_gpu",) if processes > 1 else ()
    return subprocess.Popen(
        [*LAUNCH, *several, "--num_processes", str(processes), *script, *where],
        cwd=ROOT,
        env={**os.environ, "CUDA_VISIBLE_DEVICES": "", "OMP_NUM_THREADS": "1"},
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        start_new_session=True,
    )


def run(processes: int, dataset: Path, out: Path) -> str:
    launched = start(processes, dataset, out)
    output, _ = launched.communicate(timeout=300)
    assert launched.returncode == 0, output
    return output


def kill_all(launched: subprocess.Popen[str]) -> None:
    """SIGKILL the launcher and its workers, which have sessions of their own."""
    children = subprocess.run(
        ["pgrep", "-P", str(launched.pid)], capture_output=True, text=True, check=False
    )
    for pid in (launched.pid, *map(int, children.stdout.split())):
        os.kill(pid, signal.SIGKILL)
    launched.communicate()


def contents(out: Path) -> dict[str, bytes]:
    files = [*out.glob("recordings/*"), *out.glob("*.parquet")]
    return {path.name: path.read_bytes() for path in files}


def test_two_processes_and_a_kill_change_nothing(tiny_dataset: Path, tmp_path: Path) -> None:
    one = run(1, tiny_dataset, tmp_path / "one")
    assert "recorded 25 sessions:" in one

    out = tmp_path / "two"
    launched = start(2, tiny_dataset, out)
    deadline = time.monotonic() + 120
    while not (out / "run.json").exists() and time.monotonic() < deadline:
        time.sleep(0.005)
    kill_all(launched)

    two = run(2, tiny_dataset, out)
    assert " by 2 processes" in two
    assert two.count("signature IAS|") == 1
    assert contents(out) == contents(tmp_path / "one")
