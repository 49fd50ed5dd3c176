"""What an import costs, and that the recording ring stays small."""

from __future__ import annotations

import subprocess
import sys
import time

import pytest

import dsb_ifeval
from tests.conftest import Cli

HEAVY = (
    "torch",
    "transformers",
    "datasets",
    "evaluate",
    "huggingface_hub",
    "scipy",
    "accelerate",
    "faster_whisper",
    "hibari",
)
LIMIT_S = 0.5


def loaded_after(statement: str) -> set[str]:
    code = f"{statement}; import sys; print(*sys.modules)"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    return set(done.stdout.split())


def test_importing_the_package_loads_nothing_heavy() -> None:
    loaded = loaded_after("import dsb_ifeval")
    assert not loaded & {*HEAVY, "numpy", "pyarrow", "onnxruntime", "soundfile", "yaml"}


@pytest.mark.parametrize(
    "module", ["dsb_ifeval.runner", "dsb_ifeval.dataset", "dsb_ifeval.adapters.calibration"]
)
def test_the_recording_path_needs_only_its_ring(module: str) -> None:
    assert not loaded_after(f"import {module}") & set(HEAVY)


@pytest.mark.parametrize("arguments", [("--help",), ("run", "--help"), ("--version",)])
def test_help_is_quick(arguments: tuple[str, ...], cli: Cli) -> None:
    """The best of five: the machine may be busy, the work may not be slow."""

    def seconds() -> float:
        began = time.perf_counter()
        assert cli(*arguments).returncode == 0
        return time.perf_counter() - began

    assert min(seconds() for _ in range(5)) < LIMIT_S


def test_import_is_quick() -> None:
    def seconds() -> float:
        began = time.perf_counter()
        subprocess.run([sys.executable, "-c", "import dsb_ifeval"], check=True)
        return time.perf_counter() - began

    assert min(seconds() for _ in range(5)) < LIMIT_S


def test_public_names_are_sorted_and_there() -> None:
    public = [name for name in dsb_ifeval.__all__ if not name.startswith("_")]
    assert public == sorted(public)
    for name in dsb_ifeval.__all__:
        assert getattr(dsb_ifeval, name) is not None
    with pytest.raises(AttributeError):
        _ = dsb_ifeval.nothing
