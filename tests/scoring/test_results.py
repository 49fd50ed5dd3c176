"""Measurements and verdicts on disk."""

from __future__ import annotations

from dataclasses import fields

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from dsb_ifeval.errors import RunError
from dsb_ifeval.measure import Measurement
from dsb_ifeval.results import (
    read_measurements,
    read_verdicts,
    write_measurements,
    write_verdicts,
)
from dsb_ifeval.thresholds import Thresholds
from dsb_ifeval.verifiers import Outcome, Verdict, unscored, verify
from dsb_ifeval.vocab import Action, Level, Transcript

pytestmark = pytest.mark.unit

SPANS = [(-3000, 601), (1200, 1500), (2900, 4200)]


@pytest.fixture(scope="module")
def rows(measured):
    return [
        *(measured(action, SPANS, readback="one two", level=Level.L4b) for action in Action),
        measured(Action.LISTEN),  # nothing said: empty lists and nulls
        measured(Action.READBACK, readback="one", record={"transcript": Transcript.NONE}),
        measured(Action.READBACK, readback="one two three", record={"texts": [(0, "1")]}),
        measured(Action.YIELD, record={"trigger_valid": False}),
    ]


def test_measurements_round_trip(tmp_path, rows):
    path = tmp_path / "measurements.parquet"
    write_measurements(path, rows)
    assert read_measurements(path) == rows


def test_every_type_survives(tmp_path, rows):
    write_measurements(tmp_path / "m", rows)
    for before, after in zip(rows, read_measurements(tmp_path / "m"), strict=True):
        for field in fields(Measurement):
            found, wanted = getattr(after, field.name), getattr(before, field.name)
            assert type(found) is type(wanted), field.name


def test_a_stored_measurement_gives_the_same_verdict(tmp_path, rows):
    write_measurements(tmp_path / "m", rows)
    stored = read_measurements(tmp_path / "m")
    for thresholds in (Thresholds(), Thresholds(500, 200, 300, 2, 0.3)):
        assert [verify(m, thresholds) for m in stored] == [verify(m, thresholds) for m in rows]


# C.1 and section 4: what must be there for any threshold to be recomputed
STORED = (
    "user_spans model_spans genuine_ms off_ms overlap_ms onsets_in_window spans_in_window "
    "span_durations_ms active_at_w0 coverage label trigger_valid"
)


def test_columns_of_section_4(tmp_path, rows):
    write_measurements(tmp_path / "m", rows)
    assert set(STORED.split()) <= set(pq.read_schema(tmp_path / "m").names)


def test_no_measurements(tmp_path):
    write_measurements(tmp_path / "m", [])
    assert read_measurements(tmp_path / "m") == []


def test_any_iterable_of_measurements(tmp_path, rows):
    write_measurements(tmp_path / "m", iter(rows[:2]))
    assert read_measurements(tmp_path / "m") == rows[:2]


VERDICTS = [
    Verdict("R1-C1-i1-L2", Outcome.PASS, 1999, 2000, "ms", 1, "took the turn"),
    Verdict("R1-C2-i1-L2", Outcome.FAIL, 26 / 29, 0.9, "coverage", 26 / 29 - 0.9, "repeated"),
    Verdict("R1-C3-i1-L2", Outcome.FAIL, None, 600, "ms", None, "never spoke"),
    unscored("R1-C4-i1-L2", "recordings/R1-C4-i1-L2.rec.json: no record; \u00e9"),
]


def test_verdicts_round_trip(tmp_path):
    path = tmp_path / "verdicts.parquet"
    write_verdicts(path, VERDICTS, "IAS|spec:1")
    assert read_verdicts(path) == (VERDICTS, "IAS|spec:1")


def test_unscored_stays_unscored(tmp_path):
    write_verdicts(tmp_path / "v", VERDICTS, "")
    found, _ = read_verdicts(tmp_path / "v")
    assert [verdict.passed for verdict in found] == [True, False, False, None]
    assert found[3].reason == VERDICTS[3].reason


def test_no_verdicts(tmp_path):
    write_verdicts(tmp_path / "v", [], "sig")
    assert read_verdicts(tmp_path / "v") == ([], "sig")


def test_rewriting_replaces_and_leaves_no_partial_file(tmp_path, rows):
    write_measurements(tmp_path / "m", rows)
    write_measurements(tmp_path / "m", rows[:1])
    assert read_measurements(tmp_path / "m") == rows[:1]
    assert [path.name for path in tmp_path.iterdir()] == ["m"]


# ---- files that are not ours


@pytest.mark.parametrize("read", [read_measurements, read_verdicts])
class TestBadFiles:
    def test_missing(self, tmp_path, read):
        with pytest.raises(RunError, match=r"absent\.parquet.*no such file"):
            read(tmp_path / "absent.parquet")

    @pytest.mark.parametrize("content", [b"", b"PAR1", b"not parquet at all", b"PAR1" * 10])
    def test_not_parquet(self, tmp_path, read, content):
        path = tmp_path / "bad.parquet"
        path.write_bytes(content)
        with pytest.raises(RunError, match=r"bad\.parquet"):
            read(path)

    def test_truncated(self, tmp_path, read, rows):
        path = tmp_path / "cut.parquet"
        write_measurements(path, rows)
        path.write_bytes(path.read_bytes()[:-40])
        with pytest.raises(RunError, match=r"cut\.parquet"):
            read(path)

    def test_another_table(self, tmp_path, read):
        path = tmp_path / "other.parquet"
        pq.write_table(pa.table({"case_id": ["a"], "label": ["silent"]}), path)
        with pytest.raises(RunError, match=r"other\.parquet"):
            read(path)


def test_exchanged_files(tmp_path, rows):
    write_measurements(tmp_path / "m", rows)
    write_verdicts(tmp_path / "v", VERDICTS, "")
    with pytest.raises(RunError):
        read_verdicts(tmp_path / "m")
    with pytest.raises(RunError):
        read_measurements(tmp_path / "v")


@pytest.mark.parametrize("column", ["label", "level", "expected_action"])
def test_a_value_outside_the_vocabulary(tmp_path, rows, column):
    path = tmp_path / "m.parquet"
    write_measurements(path, rows[:1])
    table = pq.read_table(path)
    at = table.schema.get_field_index(column)
    pq.write_table(table.set_column(at, column, pa.array(["SHOUT"])), path)
    with pytest.raises(RunError, match="SHOUT"):
        read_measurements(path)
