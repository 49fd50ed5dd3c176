"""``spec/`` as one ``Benchmark``, with every mistake reported at once."""

from __future__ import annotations

from functools import cache
from pathlib import Path

from dsb_ifeval.benchmark.checks import Problems, read_yaml
from dsb_ifeval.benchmark.crosscheck import cross_check
from dsb_ifeval.benchmark.model import Benchmark
from dsb_ifeval.benchmark.read_probes import read_probes
from dsb_ifeval.benchmark.read_roles import read_actions, read_instructions, read_roles
from dsb_ifeval.benchmark.read_settings import (
    read_grid,
    read_judge,
    read_matched,
    read_scoring,
    read_session,
    read_systems,
)
from dsb_ifeval.paths import spec_dir

FILES = (
    "benchmark",
    "roles",
    "probes",
    "actions",
    "instructions",
    "session",
    "scoring",
    "judge",
    "systems",
)
"""The files of ``spec/``, without their ending ``.yaml``."""


def load_benchmark(folder: Path | None = None) -> Benchmark:
    """Read and cross-check the benchmark's definitions.

    Args:
        folder: the YAML files; by default those that came with the library, read once per process.

    Raises:
        SpecError: anything is wrong, with all mistakes of all files.
    """
    return _load_own() if folder is None else _load(Path(folder), str(folder))


@cache
def _load_own() -> Benchmark:
    return _load(spec_dir(), "spec")


def _load(folder: Path, label: str) -> Benchmark:
    problems = Problems()
    tops = {
        name: read_yaml(folder / f"{name}.yaml", problems, f"{label}/{name}.yaml") for name in FILES
    }
    overall = tops["benchmark"]
    vad, audio, leakage = read_scoring(tops["scoring"])
    benchmark = Benchmark(
        version=overall.text("version"),
        roles=read_roles(tops["roles"]),
        probes=read_probes(tops["probes"]),
        actions=read_actions(tops["actions"]),
        instructions=read_instructions(tops["instructions"]),
        matched=read_matched(overall.child("matched")),
        instances=overall.integers("instances", minimum=1),
        grid=read_grid(overall.child("grid")),
        session=read_session(tops["session"]),
        vad=vad,
        audio=audio,
        leakage=leakage,
        judge=read_judge(tops["judge"]),
        systems=read_systems(tops["systems"]),
    )
    overall.done()
    cross_check(benchmark, tops)
    problems.raise_if_any()
    return benchmark
