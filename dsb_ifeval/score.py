"""Score a run folder from what is on disk: recordings -> measurements -> verdicts.

Needs no dataset, no system and no network. A case whose recording cannot be measured is
unscored with its reason; it never passes, never fails and never stops the others.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from concurrent.futures import ProcessPoolExecutor
from dataclasses import dataclass
from multiprocessing import get_context
from pathlib import Path

from tqdm import tqdm

from dsb_ifeval.benchmark import load_benchmark
from dsb_ifeval.benchmark.model import VadSettings
from dsb_ifeval.cases import Case
from dsb_ifeval.errors import DatasetError, RecordingError, RunError
from dsb_ifeval.intervals import SESSION_RATE_HZ
from dsb_ifeval.measure import Measurement, measure
from dsb_ifeval.provenance import score_signature
from dsb_ifeval.recording import load
from dsb_ifeval.results import (
    read_measurements,
    read_verdicts,
    write_measurements,
    write_verdicts,
)
from dsb_ifeval.runfolder import RunFolder
from dsb_ifeval.thresholds import thresholds_of
from dsb_ifeval.vad import speech_spans
from dsb_ifeval.verifiers import Verdict, unscored, verify

MODEL_CHANNEL = 1
_PARALLEL_FROM = 40
"""Below this many cases a pool costs more than it saves."""


@dataclass(frozen=True, slots=True)
class Score:
    """A scored run: planned cases, what was measured, one verdict per planned case."""

    cases: tuple[Case, ...]
    measurements: tuple[Measurement, ...]
    verdicts: tuple[Verdict, ...]
    signature: str


def measure_case(folder: Path, case: Case, vad: VadSettings) -> Measurement:
    """Measure one recorded case.

    Args:
        folder: where the recordings are.

    Raises:
        RecordingError: the recording cannot be measured; the case stays unscored.
        DatasetError: the case's thresholds cannot be used.
    """
    recording = load(folder, case.case_id)
    spans = speech_spans(recording.stereo[:, MODEL_CHANNEL], SESSION_RATE_HZ, vad)
    return measure(case, recording.record, spans, vad.merge_gap_ms)


def judge(case: Case, measurement: Measurement) -> Verdict:
    """The verdict on a measured case under its own thresholds."""
    try:
        return verify(measurement, thresholds_of(case))
    except DatasetError as error:
        return unscored(case.case_id, str(error))


def score_run(path: Path | str, jobs: int = 1, progress: bool = False) -> Score:
    """Score a run folder and write ``measurements.parquet`` and ``verdicts.parquet``.

    Args:
        jobs: processes; VAD and decoding are the work.

    Raises:
        RunError: not a run folder.
        FileError: it cannot be written.
    """
    run = RunFolder(path)
    run.info()
    cases, vad = run.cases(), load_benchmark().vad
    results = _measured(run.recordings, cases, vad, jobs)
    bar = tqdm(results, "scoring", len(cases), unit="case", disable=None if progress else True)
    measurements: list[Measurement] = []
    verdicts: list[Verdict] = []
    for case, result in zip(cases, bar, strict=True):
        if isinstance(result, Measurement):
            measurements.append(result)
            verdicts.append(judge(case, result))
        else:
            verdicts.append(unscored(case.case_id, result))
    signature = score_signature(load_benchmark().version, vad)
    write_measurements(run.measurements, measurements)
    write_verdicts(run.verdicts, verdicts, signature)
    return Score(tuple(cases), tuple(measurements), tuple(verdicts), signature)


def load_score(path: Path | str) -> Score:
    """A score as it was written; nothing is measured.

    Raises:
        RunError: not a run folder, or not scored yet, or scored for other cases.
    """
    run = RunFolder(path)
    run.info()
    cases = run.cases()
    verdicts, signature = read_verdicts(run.verdicts)
    if [case.case_id for case in cases] != [verdict.case_id for verdict in verdicts]:
        raise RunError(
            f"{run.path}: scored before all planned cases were there; "
            f"run `dsb-ifeval score {run.path}`"
        )
    measurements = read_measurements(run.measurements)
    return Score(tuple(cases), tuple(measurements), tuple(verdicts), signature)


def _measured(
    folder: Path, cases: Sequence[Case], vad: VadSettings, jobs: int
) -> Iterator[Measurement | str]:
    """A measurement or the reason there is none, in the order of the cases."""
    work = [(folder, case, vad) for case in cases]
    if jobs <= 1 or len(cases) < _PARALLEL_FROM:
        yield from map(_measure_or_reason, work)
        return
    # spawn: forked workers would share the parent's onnxruntime threads
    with ProcessPoolExecutor(jobs, mp_context=get_context("spawn")) as pool:
        yield from pool.map(_measure_or_reason, work, chunksize=8)


def _measure_or_reason(work: tuple[Path, Case, VadSettings]) -> Measurement | str:
    try:
        return measure_case(*work)
    except (RecordingError, DatasetError) as error:
        return str(error)
