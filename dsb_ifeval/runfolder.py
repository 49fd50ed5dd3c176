"""A run folder: everything a run leaves, and all that scoring needs.

::

    runs/cascade/
      run.json                        what was run, on what, by which versions
      cases.jsonl                     the planned cases (manifest rows), so scoring needs no dataset
      recordings/{case}.stereo.flac   channel 0 user, channel 1 model, 24 kHz
      recordings/{case}.rec.json      schedule, events, transcript
      logs/rank0.jsonl                one line per session played: speed, faults
      measurements.parquet            one row per measured case
      verdicts.parquet                one row per planned case

A case is done when its record and audio are there; no other state exists, so a killed run
is resumed by starting it again.
"""

from __future__ import annotations

import fcntl
import json
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import IO, Any

from dsb_ifeval.cases import Case
from dsb_ifeval.clock import Stopwatch, pause
from dsb_ifeval.errors import DatasetError, RunError
from dsb_ifeval.files import TEMPORARY_MARK, read_json, write_bytes, write_json
from dsb_ifeval.manifest import case_from_row, case_to_row
from dsb_ifeval.recording import is_done

FORMAT = 1
_LOCK = ".lock"
_IDENTITY = (
    "format",
    "system",
    "source_sha256",
    "options",
    "dataset_sha256",
    "spec_version",
    "version",
)
_LOCK_PATIENCE_S = 5.0
"""Workers of a launcher that was killed take a moment to notice and let go."""


class RunFolder:
    """Paths and state of one run."""

    def __init__(self, path: Path | str) -> None:
        self.path = Path(path)
        self.recordings = self.path / "recordings"
        self.measurements = self.path / "measurements.parquet"
        self.verdicts = self.path / "verdicts.parquet"
        self._info = self.path / "run.json"
        self._cases = self.path / "cases.jsonl"

    def prepare(self, info: Mapping[str, Any], cases: Sequence[Case]) -> None:
        """Create the folder, or join an earlier run of the same system on the same data.

        Cases planned earlier stay planned, so a run can be widened by other filters.

        Raises:
            RunError: the folder holds another run.
            FileError: it cannot be written.
        """
        self._clear_own_partial()
        if self._info.exists():
            self._check_same(info)
            known = {case.case_id for case in self.cases()}
            added = [case for case in cases if case.case_id not in known]
            if added:
                self._write_cases([*self.cases(), *added])
            return
        self._refuse_other_folders()
        self._write_cases(cases)
        write_json(self._info, info)

    @contextmanager
    def claimed(self) -> Iterator[None]:
        """Keep other runs out while this one records; a killed run's claim is gone with it.

        Raises:
            RunError: another run is recording into this folder.
        """
        self._refuse_other_folders()
        try:
            self.path.mkdir(parents=True, exist_ok=True)
            lock = (self.path / _LOCK).open("w")
        except OSError as error:
            raise RunError(f"{self.path}: cannot write: {error.strerror or error}") from error
        with lock:
            if not _locked(lock, _LOCK_PATIENCE_S):
                raise RunError(
                    f"{self.path}: another run is recording into this folder; "
                    "wait for it or choose another --out"
                )
            yield

    def info(self) -> dict[str, Any]:
        """The run's provenance.

        Raises:
            RunError: not a run folder.
        """
        if not self._info.is_file():
            raise RunError(f"{self.path}: not a run folder (no run.json)")
        info = read_json(self._info)
        if not isinstance(info, dict) or not isinstance(info.get("system"), str):
            raise RunError(f"{self._info}: not the description of a run")
        return info

    def cases(self) -> list[Case]:
        """The planned cases.

        Raises:
            RunError: the list is missing or damaged; names the line.
        """
        try:
            lines = self._cases.read_text(encoding="utf-8").splitlines()
        except (OSError, UnicodeDecodeError) as error:
            raise RunError(f"{self._cases}: cannot read the planned cases: {error}") from error
        cases: dict[str, Case] = {}
        for number, line in enumerate(lines, 1):
            try:
                row = json.loads(line)
                if not isinstance(row, dict):
                    raise ValueError(f"got {line[:40]!r}, expected a manifest row")
                case = case_from_row(row)
                if case.case_id in cases:
                    raise ValueError(f"case {case.case_id} stands there twice")
            except (ValueError, DatasetError) as error:
                raise RunError(f"{self._cases}, line {number}: {error}") from error
            cases[case.case_id] = case
        return list(cases.values())

    def missing(self, cases: Iterable[Case]) -> list[Case]:
        """Cases that are not done; failed ones are tried again."""
        return [case for case in cases if not is_done(self.recordings, case.case_id)]

    def clear_partial(self, cases: Iterable[Case]) -> None:
        """Delete temporary files that a killed process left for these cases."""
        wanted = {case.case_id for case in cases}
        for path in self.recordings.glob(f"{TEMPORARY_MARK}*"):
            if path.name.split("-", 2)[-1].split(".", 1)[0] in wanted:
                path.unlink(missing_ok=True)

    def _clear_own_partial(self) -> None:
        for path in self.path.glob(f"{TEMPORARY_MARK}*"):
            path.unlink(missing_ok=True)

    def log(self, rank: int, entry: Mapping[str, Any]) -> None:
        """Append one line about a session to the rank's log.

        Raises:
            RunError: the log cannot be written.
        """
        path = self.path / "logs" / f"rank{rank}.jsonl"
        try:
            path.parent.mkdir(parents=True, exist_ok=True)
            with path.open("a", encoding="utf-8") as stream:
                stream.write(json.dumps(entry) + "\n")
        except OSError as error:
            raise RunError(f"{path}: cannot write: {error.strerror or error}") from error

    def _refuse_other_folders(self) -> None:
        """Leave alone what is neither a run nor what one killed in its first moments leaves."""
        if self._info.exists() or not self.path.is_dir():
            return
        own = {_LOCK, self._cases.name}
        names = {path.name for path in self.path.iterdir()} - own
        if any(not name.startswith(TEMPORARY_MARK) for name in names):
            raise RunError(
                f"{self.path}: not empty and not a run folder (no run.json); choose another --out"
            )

    def _write_cases(self, cases: Sequence[Case]) -> None:
        rows = [json.dumps(case_to_row(case), ensure_ascii=False) for case in cases]
        write_bytes(self._cases, ("\n".join(rows) + "\n").encode())

    def _check_same(self, info: Mapping[str, Any]) -> None:
        earlier = self.info()
        for key in _IDENTITY:
            if earlier.get(key) != info.get(key):
                raise RunError(
                    f"{self.path}: holds a run with {key} {earlier.get(key)!r}, this one has "
                    f"{info.get(key)!r}; choose another --out or delete that folder"
                )


def _locked(lock: IO[str], patience_s: float) -> bool:
    watch = Stopwatch()
    while True:
        try:
            fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
            return True
        except BlockingIOError:
            if watch.elapsed_s() >= patience_s:
                return False
        pause(0.1)
