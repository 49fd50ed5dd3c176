"""A scored run as text: IAS tables that name their N, and one case taken apart."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Mapping, Sequence

from dsb_ifeval.aggregate import Ias, grouped, ias
from dsb_ifeval.cases import Case
from dsb_ifeval.intervals import Interval
from dsb_ifeval.measure import Measurement
from dsb_ifeval.score import Score
from dsb_ifeval.verifiers import Outcome, Verdict
from dsb_ifeval.vocab import Action, Level

_SHOWN_REASONS = 8


def run_table(name: str, score: Score) -> str:
    """The summary of a run: by level, by action and by role, with what was not scored."""
    total = ias(score.verdicts)
    head = (
        f"{name}: {len(score.cases)} cases, {total.scored} scored, {total.unscored} unscored, "
        f"IAS {_percent(total)} {_interval(total)}"
    )
    levels = [level for level in Level if any(case.level is level for case in score.cases)]
    parts = [
        head,
        _by_level(score, levels),
        _matrix(score, levels, "action", lambda case: case.expected_action.value, list(Action)),
        _matrix(score, levels, "role", lambda case: case.role, None),
    ]
    parts += [text for text in (_invalid_triggers(score), _unscored(score)) if text]
    parts.append(f"signature {score.signature}")
    return "\n\n".join(parts)


def case_text(case: Case, verdict: Verdict, measurement: Measurement | None) -> str:
    """One case taken apart: what was expected, what was measured, why the verdict."""
    lines = [
        f"{case.case_id}  {case.expected_action.value}  {verdict.outcome.value.upper()}",
        f"  why      {verdict.reason}",
    ]
    if verdict.value is not None and verdict.limit is not None:
        margin = "" if verdict.margin is None else f", margin {verdict.margin:+g}"
        compared = f"{verdict.value:g} {verdict.unit}, limit {verdict.limit:g}"
        lines.append(f"  measured {compared}{margin}")
    lines.append(f"  verifier {case.verifier.name} {dict(case.verifier.params)}")
    if measurement is not None:
        lines += _measurement_lines(measurement)
    lines.append(f"  prompt   {case.system_prompt[:90]!r}{'...' * (len(case.system_prompt) > 90)}")
    lines.append(f"  turn 2   {case.turn2.text}")
    return "\n".join(lines)


def text_table(rows: Sequence[Sequence[str]]) -> str:
    """Align columns: the first to the left, the others to the right.

    >>> print(text_table([["", "N"], ["L0", "48"]]))
         N
    L0  48
    """
    widths = [max(len(row[i]) for row in rows) for i in range(len(rows[0]))]
    return "\n".join(
        "  ".join(
            cell.ljust(width) if i == 0 else cell.rjust(width)
            for i, (cell, width) in enumerate(zip(row, widths, strict=True))
        ).rstrip()
        for row in rows
    )


def _by_level(score: Score, levels: Sequence[Level]) -> str:
    groups = grouped(score.cases, score.verdicts, lambda case: case.level)
    rows = [["level", "IAS %", "95 % Wilson", "passed", "N", "unscored"]]
    for level in levels:
        cell = groups[level]
        rows.append(
            [
                level.value,
                _percent(cell),
                _interval(cell),
                str(cell.passed),
                str(cell.scored),
                str(cell.unscored),
            ]
        )
    return text_table(rows)


def _matrix(
    score: Score,
    levels: Sequence[Level],
    title: str,
    key: Callable[[Case], str],
    order: Sequence[Action] | None,
) -> str:
    cells = grouped(score.cases, score.verdicts, lambda case: (key(case), case.level))
    totals = grouped(score.cases, score.verdicts, key)
    names = [item.value for item in order if item.value in totals] if order else sorted(totals)
    rows = [[title, *(level.value for level in levels), "all", "95 % Wilson", "N"]]
    for name in names:
        total = totals[name]
        per_level = [_percent(cells.get((name, level), Ias(0, 0, 0))) for level in levels]
        rows.append([name, *per_level, _percent(total), _interval(total), str(total.scored)])
    return text_table(rows)


def _invalid_triggers(score: Score) -> str:
    barge = [m for m in score.measurements if m.barge_in]
    if not barge:
        return ""
    invalid = sum(not m.trigger_valid for m in barge)
    return (
        f"{invalid} of {len(barge)} barge-in cases met a model that had not spoken "
        "(trigger_valid = false); they are scored like the others"
    )


def _unscored(score: Score) -> str:
    left_out = [v for v in score.verdicts if v.outcome is Outcome.UNSCORED]
    if not left_out:
        return ""
    lines = [f"unscored ({len(left_out)}):"]
    lines += [f"  {verdict.case_id}: {verdict.reason}" for verdict in left_out[:_SHOWN_REASONS]]
    if len(left_out) > _SHOWN_REASONS:
        lines.append(f"  ... and {len(left_out) - _SHOWN_REASONS} more (verdicts.parquet)")
    return "\n".join(lines)


def _measurement_lines(m: Measurement) -> list[str]:
    def spans(items: Sequence[Interval]) -> str:
        return " ".join(f"{s.start_ms}-{s.end_ms}" for s in items) or "none"

    onset = "" if m.genuine_ms is None else f", onset {m.genuine_ms} ms after it opened"
    return [
        f"  window   {m.window.start_ms}-{m.window.end_ms} ms, label {m.label.value}{onset}",
        f"  model    {spans(m.model_spans)}",
        f"  user     {spans(m.user_spans)}",
    ]


def _percent(cell: Ias) -> str:
    return "-" if cell.rate is None else f"{100 * cell.rate:.1f}"


def _interval(cell: Ias) -> str:
    bounds = cell.interval()
    return "-" if bounds is None else f"{100 * bounds[0]:.1f}-{100 * bounds[1]:.1f}"


def outcome_counts(verdicts: Sequence[Verdict]) -> Mapping[Outcome, int]:
    """How many cases passed, failed and were not scored."""
    counts = Counter(verdict.outcome for verdict in verdicts)
    return {outcome: counts[outcome] for outcome in Outcome}
