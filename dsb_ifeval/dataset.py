"""Read a built dataset folder with pyarrow alone (the recording ring has no ``datasets``).

The folder is what ``datasets.load_dataset`` opens: ``data/test-*.parquet`` with one
self-contained row per case, both user turns embedded as FLAC, and ``manifest.json`` with
the identity of the build.
"""

from __future__ import annotations

import json
from collections import OrderedDict
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from dsb_ifeval.audio import Pcm16, decode, sample_hash
from dsb_ifeval.cases import Case, Stimulus
from dsb_ifeval.conversation import Turn
from dsb_ifeval.errors import DatasetError, RecordingError
from dsb_ifeval.intervals import SESSION_RATE_HZ
from dsb_ifeval.manifest import case_from_row, manifest_hash

_AUDIO = ("turn1", "turn2")
_KEPT_STREAMS = 4


@dataclass(frozen=True, slots=True)
class DatasetInfo:
    """Identity of a build: what a run folder stores and a resume compares."""

    manifest_sha256: str
    engine: str
    spec_version: str
    details: Mapping[str, Any]


class Dataset:
    """Cases of a dataset folder, with user audio decoded and checked on demand.

    Args:
        folder: the dataset folder, e.g. ``dsb-ifeval``.

    Raises:
        DatasetError: missing, empty, or not a dataset of this benchmark; says how to build it.
    """

    def __init__(self, folder: Path | str) -> None:
        self.folder = Path(folder)
        self.info = _read_info(self.folder)
        self._files = _shards(self.folder)
        self._where: dict[str, tuple[int, int]] = {}
        self.cases: tuple[Case, ...] = tuple(self._read_cases())
        if not self.cases:
            raise DatasetError(f"{self.folder}: the dataset has no rows; {_HOW_TO_BUILD}")
        if manifest_hash(self.cases) != self.info.manifest_sha256:
            raise DatasetError(
                f"{self.folder}: its {len(self.cases)} cases are not those of its manifest.json "
                f"(a missing or exchanged data file?); {_HOW_TO_BUILD}"
            )
        self._streams: OrderedDict[str, tuple[Pcm16, Pcm16]] = OrderedDict()

    def stimulus(self, case: Case) -> Stimulus:
        """A case with its user audio, hash-checked; recent streams are kept decoded.

        Raises:
            DatasetError: the audio is damaged or not what the manifest says.
        """
        if case.audio_key not in self._streams:
            self._streams[case.audio_key] = self._decode(case)
            while len(self._streams) > _KEPT_STREAMS:
                self._streams.popitem(last=False)
        turn1, turn2 = self._streams[case.audio_key]
        return Stimulus(case, turn1, turn2)

    def _read_cases(self) -> Iterator[Case]:
        for index, path in enumerate(self._files):
            columns = [name for name in _columns(path) if name not in _AUDIO]
            for row_index, row in enumerate(_rows(path, columns)):
                _parse_json_fields(row)
                case = case_from_row(row)
                if case.case_id in self._where:
                    raise DatasetError(f"{path}: case {case.case_id} stands there twice")
                self._where[case.case_id] = (index, row_index)
                yield case

    def _decode(self, case: Case) -> tuple[Pcm16, Pcm16]:
        file_index, row_index = self._where[case.case_id]
        table = _table(self._files[file_index], list(_AUDIO))
        row = table.slice(row_index, 1).to_pylist()[0]
        return (
            _checked(case, 1, case.turn1, row["turn1"]),
            _checked(case, 2, case.turn2, row["turn2"]),
        )


_HOW_TO_BUILD = "build one with `python -m dataset_builder build`"


def _read_info(folder: Path) -> DatasetInfo:
    path = folder / "manifest.json"
    if not folder.is_dir():
        raise DatasetError(f"{folder}: no such dataset folder; {_HOW_TO_BUILD}")
    try:
        manifest = json.loads(path.read_bytes())
        return DatasetInfo(
            manifest_sha256=manifest["manifest_sha256"],
            engine=manifest["engine"],
            spec_version=str(manifest["spec_version"]),
            details=manifest,
        )
    except FileNotFoundError as error:
        raise DatasetError(
            f"{folder}: not a DSB-IFEval dataset folder (no manifest.json); {_HOW_TO_BUILD}"
        ) from error
    except (OSError, ValueError, KeyError, TypeError) as error:
        raise DatasetError(f"{path}: not a dataset manifest: {error!r}") from error


def _shards(folder: Path) -> list[Path]:
    files = sorted((folder / "data").glob("test-*.parquet"))
    if not files:
        raise DatasetError(f"{folder}: no data/test-*.parquet in it; {_HOW_TO_BUILD}")
    return files


def _columns(path: Path) -> list[str]:
    import pyarrow
    import pyarrow.parquet

    try:
        return list(pyarrow.parquet.read_schema(path).names)
    except (OSError, pyarrow.ArrowException) as error:
        raise DatasetError(f"{path}: not a readable Parquet file: {error}") from error


def _table(path: Path, columns: list[str]) -> Any:
    import pyarrow
    import pyarrow.parquet

    try:
        return pyarrow.parquet.ParquetFile(path).read(columns=columns)
    except (OSError, pyarrow.ArrowException) as error:
        raise DatasetError(f"{path}: cannot read {', '.join(columns[:3])}: {error}") from error


def _rows(path: Path, columns: list[str]) -> list[dict[str, Any]]:
    rows: list[dict[str, Any]] = _table(path, columns).to_pylist()
    return rows


def _parse_json_fields(row: dict[str, Any]) -> None:
    """Json columns come out of pyarrow as text, out of older ones as bytes."""
    verifier = row.get("verifier")
    if isinstance(verifier, dict) and isinstance(verifier.get("params"), str | bytes):
        verifier["params"] = json.loads(verifier["params"])
    if isinstance(row.get("provenance"), str | bytes):
        row["provenance"] = json.loads(row["provenance"])


def _checked(case: Case, number: int, turn: Turn, cell: Mapping[str, Any]) -> Pcm16:
    where = f"case {case.case_id}, turn {number}"
    try:
        samples, rate_hz = decode(cell["bytes"])
    except RecordingError as error:
        raise DatasetError(f"{where}: user audio {error}") from error
    if rate_hz != SESSION_RATE_HZ or samples.shape[1] != 1:
        raise DatasetError(
            f"{where}: user audio is {rate_hz} Hz with {samples.shape[1]} channel(s), "
            f"expected {SESSION_RATE_HZ} Hz mono"
        )
    audio = samples[:, 0]
    if sample_hash(audio) != turn.sha256:
        raise DatasetError(f"{where}: user audio is not what the manifest says (sha256 differs)")
    return audio
