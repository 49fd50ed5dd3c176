"""Run a system over cases, resumably, in one process or as one of several.

``run_system`` is the whole of it for one process. Under ``accelerate`` the three steps are
called apart: :func:`prepare` on the main process, :func:`record` on every one,
:func:`~dsb_ifeval.score.score_run` on the main one when all are done.
"""

from __future__ import annotations

import asyncio
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from tqdm import tqdm

from dsb_ifeval.adapters import check_system, load_system, source_hash
from dsb_ifeval.adapters.base import Briefed, StreamingModel
from dsb_ifeval.benchmark import load_benchmark
from dsb_ifeval.benchmark.model import SessionConstants
from dsb_ifeval.cases import Case, Stimulus
from dsb_ifeval.clock import Stopwatch, WallClock
from dsb_ifeval.dataset import Dataset
from dsb_ifeval.errors import DatasetError, RunError
from dsb_ifeval.intervals import SESSION_RATE_HZ
from dsb_ifeval.plan import Selection, select, share
from dsb_ifeval.provenance import run_info
from dsb_ifeval.recording import OK, Recording, save, unplayed
from dsb_ifeval.runfolder import RunFolder
from dsb_ifeval.score import Score, score_run
from dsb_ifeval.session import play_local, play_stream


@dataclass(frozen=True, slots=True)
class RunOptions:
    """What to run and where to put it.

    Attributes:
        system: table name, ``file.py:Class`` or ``module:Class``.
        options: keyword arguments for the system, e.g. ``{"seed": 1}``.
        dataset: dataset folder.
        out: run folder; ``runs/<system>`` by default.
    """

    system: str
    dataset: Path = Path("dsb-ifeval")
    out: Path | None = None
    options: Mapping[str, Any] = field(default_factory=dict)
    selection: Selection = field(default_factory=Selection)
    progress: bool = True

    @property
    def folder(self) -> RunFolder:
        """The run folder."""
        stem = self.system.replace(":", "-").replace("/", "-").replace(".py", "")
        return RunFolder(self.out or Path("runs") / stem.strip("-."))


@dataclass(frozen=True, slots=True)
class Recorded:
    """What was played in one go, by one process or by several at once."""

    played: int
    failed: int
    audio_s: float
    wall_s: float
    processes: int = 1


def together(parts: Sequence[Recorded]) -> Recorded:
    """What several processes played side by side; it took as long as the longest."""
    return Recorded(
        played=sum(part.played for part in parts),
        failed=sum(part.failed for part in parts),
        audio_s=sum(part.audio_s for part in parts),
        wall_s=max(part.wall_s for part in parts),
        processes=len(parts),
    )


def prepare(options: RunOptions, dataset: Dataset) -> list[Case]:
    """Plan the run and create or join its folder (main process only).

    Raises:
        RunError: filters without a match, a folder of another run, another spec version.
    """
    benchmark = load_benchmark()
    if dataset.info.spec_version != benchmark.version:
        raise RunError(
            f"{dataset.folder}: built for spec {dataset.info.spec_version}, this version has "
            f"spec {benchmark.version}; rebuild the dataset"
        )
    check_system(options.system)
    cases = select(dataset.cases, options.selection)
    info = run_info(
        {
            "system": options.system,
            "source_sha256": source_hash(options.system),
            "options": dict(options.options),
            "dataset": str(options.dataset),
            "dataset_sha256": dataset.info.manifest_sha256,
            "dataset_engine": dataset.info.engine,
            "spec_version": benchmark.version,
        }
    )
    options.folder.prepare(info, cases)
    return cases


def record(options: RunOptions, dataset: Dataset, rank: int = 0, world: int = 1) -> Recorded:
    """Play this process's share of the cases that are not done yet.

    Raises:
        AdapterUnavailable: the system cannot be started.
        FileError: the run folder cannot be written (disk full, no permission).
    """
    run, constants = options.folder, load_benchmark().session
    mine = share(select(dataset.cases, options.selection), rank, world)
    run.clear_partial(mine)
    todo = run.missing(mine)
    if not todo:
        return Recorded(0, 0, 0.0, 0.0)
    model = load_system(options.system, **options.options)
    failed, audio_s, total = 0, 0.0, Stopwatch()
    label = options.system if world == 1 else f"{options.system} ({rank + 1}/{world})"
    for case in tqdm(todo, label, unit="case", disable=_silent(options.progress and rank == 0)):
        watch = Stopwatch()
        recording = _played(model, dataset, case, constants, options.system)
        save(recording, run.recordings)
        seconds = recording.record.samples / SESSION_RATE_HZ
        failed += recording.record.status != OK
        audio_s += seconds
        run.log(rank, _log_entry(recording, seconds, watch.elapsed_s()))
    return Recorded(len(todo), failed, audio_s, total.elapsed_s())


def _played(
    model: Any, dataset: Dataset, case: Case, constants: SessionConstants, system: str
) -> Recording:
    try:
        stimulus = dataset.stimulus(case)
    except DatasetError as error:  # damaged user audio costs its own cases only
        return unplayed(case, system, str(error))
    return play(model, stimulus, constants, system)


def play(model: Any, stimulus: Stimulus, constants: SessionConstants, system: str) -> Recording:
    """One session, in real time for a streaming model, on the frame clock otherwise."""
    if isinstance(model, Briefed):
        model.brief(stimulus.case)
    if isinstance(model, StreamingModel):
        return asyncio.run(play_stream(model, stimulus, constants, system, WallClock()))
    return play_local(model, stimulus, constants, system)


def run_system(options: RunOptions, jobs: int = 1) -> Score:
    """Record what is missing, then score the run folder, in this process.

    Args:
        jobs: processes for scoring.

    Raises:
        DsbError: see :func:`prepare`, :func:`record` and ``score_run``.
    """
    dataset = Dataset(options.dataset)
    with options.folder.claimed():
        prepare(options, dataset)
        record(options, dataset)
    return score_run(options.folder.path, jobs, options.progress)


def _silent(progress: bool) -> bool | None:
    """For tqdm: None lets it draw on a terminal only."""
    return None if progress else True


def _log_entry(recording: Recording, audio_s: float, wall_s: float) -> dict[str, Any]:
    entry = {
        "case_id": recording.record.case_id,
        "status": recording.record.status,
        "audio_s": round(audio_s, 3),
        "wall_s": round(wall_s, 3),
        "x_real_time": round(audio_s / wall_s, 1) if wall_s else None,
    }
    if recording.record.reason:
        entry["reason"] = recording.record.reason
        entry["traceback"] = recording.traceback
    return entry
