"""Shared fixtures: a small real dataset folder, built without any speech package.

Its voice is the calibration clip, looped to the length that speech of the text would have;
everything else (scripts, gates, assembly, cases, Parquet) is the real builder.
"""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Callable, Mapping
from pathlib import Path

import numpy as np
import pytest

from dataset_builder.build import speak, write
from dataset_builder.engines.base import TimedWord, Utterance
from dataset_builder.scripts import load_scripts
from dataset_builder.scripts import select as select_scripts
from dsb_ifeval.audio import decode, to_float
from dsb_ifeval.benchmark import load_benchmark

ROOT = Path(__file__).resolve().parents[1]

# One cell per action, the matched pair, both barge-in probes and the variant with its own audio.
TINY = (
    "R1-C1",  # TAKE_TURN in a pause, matched audio
    "R2-C1",  # LISTEN, the same waveform
    "R1-C2",  # READBACK, and L4b
    "R2-C3",  # YIELD
    "R4-C4",  # NO_BACKCHANNEL
    "R7-C3",  # CONTINUE
    "R8-R8_B",  # ACCEPT_OVERLAP
    "R2-R2_B",  # BACKCHANNEL, and INTERRUPT at L4b
    "R3-R3_A",  # INTERRUPT, and L4b
    "R6-R6_B",  # READBACK of a stored target
    "R3-R3_B",  # terminal TAKE_TURN
)
WORDS_PER_SECOND = 3.2


class ClipEngine:
    """An engine whose only word is the calibration voice."""

    name = "clip"
    label = "the calibration clip, looped"
    model_sha256 = "0" * 64
    versions: Mapping[str, str] = {"clip": "1"}
    voices = ("talk",)
    speed = 1.0
    workers = 1

    def __init__(self) -> None:
        clip = ROOT / "dsb_ifeval" / "adapters" / "voice" / "talk.flac"
        samples, self._rate_hz = decode(clip.read_bytes())
        self._talk = to_float(samples[:, 0])

    def prepare(self) -> None:
        return None

    def synthesize(self, spoken_text: str, voice: str) -> Utterance:
        words = spoken_text.split()
        seconds = len(words) / WORDS_PER_SECOND
        index = np.arange(int(seconds * self._rate_hz)) % len(self._talk)
        step = seconds / len(words)
        times = tuple(TimedWord(w, i * step, (i + 1) * step) for i, w in enumerate(words))
        return Utterance(self._talk[index], times)


def build_tiny(folder: Path, cache: Path) -> Path:
    """Build the small dataset into ``folder``."""
    benchmark = load_benchmark()
    scripts = select_scripts(load_scripts(benchmark), TINY)
    spoken = speak(benchmark, ClipEngine(), scripts, cache, cache, 1, lambda done, total: None)
    write(benchmark, spoken, folder)
    return folder


@pytest.fixture(scope="session")
def tiny_dataset(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Eleven conversations, sixty cases, every action."""
    folder = tmp_path_factory.mktemp("tiny")
    return build_tiny(folder / "dsb-ifeval", folder / "cache")


Cli = Callable[..., "subprocess.CompletedProcess[str]"]


@pytest.fixture(scope="session")
def cli() -> Cli:
    """Run ``python -m dsb_ifeval ...`` as a user would; returns the completed process."""

    def call(*args: object, **kwargs: object) -> subprocess.CompletedProcess[str]:
        command = [sys.executable, "-m", "dsb_ifeval", *map(str, args)]
        env = {**os.environ, "PYTHONPATH": str(ROOT), **kwargs.pop("env", {})}  # type: ignore[dict-item]
        return subprocess.run(
            command, capture_output=True, text=True, timeout=120, env=env, check=False, **kwargs
        )

    return call
