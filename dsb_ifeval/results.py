"""Measurements and verdicts on disk: two Parquet files in a run folder.

``measurements.parquet`` holds one row per measured case, enough to judge it again under any
thresholds; ``verdicts.parquet`` one row per planned case, unscored ones with their reason.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import asdict, fields
from pathlib import Path
from typing import Any

from dsb_ifeval.errors import RunError
from dsb_ifeval.files import replacing
from dsb_ifeval.intervals import Interval
from dsb_ifeval.measure import Measurement
from dsb_ifeval.verifiers import Outcome, Verdict
from dsb_ifeval.vocab import Action, Level, VadLabel


def write_measurements(path: Path, measurements: Iterable[Measurement]) -> None:
    """Write ``measurements.parquet`` atomically."""
    _write(path, [_measurement_row(m) for m in measurements], _measurement_schema())


def read_measurements(path: Path) -> list[Measurement]:
    """Read ``measurements.parquet``.

    Raises:
        RunError: missing or not of this layout; names the file.
    """
    return [_measurement(path, row) for row in _read(path)]


def write_verdicts(path: Path, verdicts: Sequence[Verdict], signature: str) -> None:
    """Write ``verdicts.parquet`` atomically, with the score's signature in its metadata."""
    rows = [{**asdict(verdict), "outcome": verdict.outcome.value} for verdict in verdicts]
    _write(path, rows, _verdict_schema(), {"signature": signature})


def read_verdicts(path: Path) -> tuple[list[Verdict], str]:
    """Read ``verdicts.parquet`` and the signature it was scored under.

    Raises:
        RunError: missing or not of this layout; names the file.
    """
    rows = _read(path)
    try:
        verdicts = [Verdict(**{**row, "outcome": Outcome(row["outcome"])}) for row in rows]
    except (KeyError, TypeError, ValueError) as error:
        raise RunError(f"{path}: not a verdict file: {error!r}") from error
    return verdicts, _metadata(path).get("signature", "")


def _measurement_row(m: Measurement) -> dict[str, Any]:
    row: dict[str, Any] = {f.name: getattr(m, f.name) for f in fields(m)}
    for name in ("level", "probe_action", "expected_action", "label"):
        row[name] = row[name].value
    row["window"] = asdict(m.window)
    row["user_spans"] = [asdict(span) for span in m.user_spans]
    row["model_spans"] = [asdict(span) for span in m.model_spans]
    row["span_durations_ms"] = list(m.span_durations_ms)
    return row


def _measurement(path: Path, row: Mapping[str, Any]) -> Measurement:
    try:
        return Measurement(
            **{
                **row,
                "level": Level(row["level"]),
                "probe_action": Action(row["probe_action"]),
                "expected_action": Action(row["expected_action"]),
                "label": VadLabel(row["label"]),
                "window": Interval(**row["window"]),
                "user_spans": tuple(Interval(**span) for span in row["user_spans"]),
                "model_spans": tuple(Interval(**span) for span in row["model_spans"]),
                "span_durations_ms": tuple(row["span_durations_ms"]),
            }
        )
    except (KeyError, TypeError, ValueError) as error:
        raise RunError(f"{path}: not a measurement file: {error!r}") from error


def _measurement_schema() -> Any:
    import pyarrow as pa

    span = pa.struct([("start_ms", pa.int64()), ("end_ms", pa.int64())])
    kinds: dict[str, Any] = {
        "str": pa.string(),
        "int": pa.int64(),
        "int | None": pa.int64(),
        "bool": pa.bool_(),
        "float | None": pa.float64(),
        "Level": pa.string(),
        "Action": pa.string(),
        "VadLabel": pa.string(),
        "Interval": span,
        "tuple[Interval, ...]": pa.list_(span),
        "tuple[int, ...]": pa.list_(pa.int64()),
    }
    return pa.schema([(f.name, kinds[str(f.type)]) for f in fields(Measurement)])


def _verdict_schema() -> Any:
    import pyarrow as pa

    text, number = pa.string(), pa.float64()
    return pa.schema(
        [
            ("case_id", text),
            ("outcome", text),
            ("value", number),
            ("limit", number),
            ("unit", text),
            ("margin", number),
            ("reason", text),
        ]
    )


def _write(
    path: Path, rows: list[dict[str, Any]], schema: Any, metadata: Mapping[str, str] | None = None
) -> None:
    import pyarrow as pa
    import pyarrow.parquet as pq

    table = pa.Table.from_pylist(rows, schema=schema.with_metadata(dict(metadata or {})))
    with replacing(path) as temporary:
        pq.write_table(table, temporary, compression="zstd")


def _read(path: Path) -> list[dict[str, Any]]:
    import pyarrow as pa
    import pyarrow.parquet as pq

    if not path.is_file():
        raise RunError(f"{path}: no such file; score the run with `dsb-ifeval score`")
    try:
        rows: list[dict[str, Any]] = pq.ParquetFile(path).read().to_pylist()
    except (OSError, pa.ArrowException) as error:
        raise RunError(f"{path}: not a readable Parquet file: {error}") from error
    return rows


def _metadata(path: Path) -> dict[str, str]:
    import pyarrow.parquet as pq

    raw = pq.read_schema(path).metadata or {}
    return {key.decode(): value.decode() for key, value in raw.items()}
