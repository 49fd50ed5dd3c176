"""The nine deterministic verifiers (Appendix C.3-C.4, benchmark section 4).

Each is a pure function of a measurement and thresholds: no audio, no clock, no files. A
verdict can be taken apart: the compared value, its limit and unit, the margin between them
(positive on the passing side) and a sentence.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from enum import Enum

from dsb_ifeval.measure import Measurement, label_window
from dsb_ifeval.thresholds import Thresholds
from dsb_ifeval.vocab import Action, VadLabel


class Outcome(str, Enum):
    """A case passes, fails, or was not measured. Unscored never counts as either."""

    PASS = "pass"
    FAIL = "fail"
    UNSCORED = "unscored"


@dataclass(frozen=True, slots=True)
class Verdict:
    """The outcome of one case and what decided it.

    Attributes:
        value: the compared quantity, None when there was nothing to compare.
        limit: what it was compared with.
        unit: ``ms``, ``spans`` or ``coverage``.
        margin: distance to the limit in ``unit``, positive when passing, None when another
            rule than the limit decided. For a silence that passes: how near the closest
            model speech came to the window, None when there was none.
        reason: the verdict in words.
    """

    case_id: str
    outcome: Outcome
    value: float | None = None
    limit: float | None = None
    unit: str = ""
    margin: float | None = None
    reason: str = ""

    @property
    def passed(self) -> bool | None:
        """True or False for a scored case, None for an unscored one."""
        return None if self.outcome is Outcome.UNSCORED else self.outcome is Outcome.PASS


def unscored(case_id: str, reason: str) -> Verdict:
    """A case that was not measured, with why."""
    return Verdict(case_id, Outcome.UNSCORED, reason=reason)


def verify(measurement: Measurement, thresholds: Thresholds) -> Verdict:
    """Apply the expected action's verifier."""
    return VERIFIERS[measurement.expected_action](measurement, thresholds)


def verify_listen(m: Measurement, t: Thresholds) -> Verdict:
    """LISTEN: pass iff label = silent."""
    return _silence(m, "listening was expected")


def verify_no_backchannel(m: Measurement, t: Thresholds) -> Verdict:
    """NO BACKCHANNEL: pass iff label = silent."""
    return _silence(m, "not even a short sound was expected")


def verify_take_turn(m: Measurement, t: Thresholds) -> Verdict:
    """TAKE TURN: pass iff genuine exists and genuine <= max_wait_s."""
    return _onset_within(m, t.max_wait_ms, "took the turn", "max_wait")


def verify_interrupt(m: Measurement, t: Thresholds) -> Verdict:
    """INTERRUPT: pass iff genuine exists and genuine * 1000 <= max_latency_ms."""
    return _onset_within(m, t.max_latency_ms, "cut in", "max_latency")


def verify_backchannel(m: Measurement, t: Thresholds) -> Verdict:
    """BACKCHANNEL: pass iff label = backchannel and 1 <= spans in window <= bc_window_max."""
    ceiling = t.bc_ceiling_ms
    longest = max(m.span_durations_ms, default=None)
    if longest is None:
        return _verdict(m, False, None, ceiling, "ms", None, "no sound in the window")
    if longest >= ceiling:
        reason = f"took the floor: sound of {longest} ms, ceiling {ceiling} ms"
        return _verdict(m, False, longest, ceiling, "ms", ceiling - longest, reason)
    if label_window(m.model_spans, m.user_spans, m.window, ceiling) is not VadLabel.BACKCHANNEL:
        return _verdict(m, False, longest, ceiling, "ms", None, _not_a_backchannel(m))
    if m.spans_in_window > t.bc_window_max:
        reason = f"{m.spans_in_window} short sounds, at most {t.bc_window_max} expected"
        margin = t.bc_window_max - m.spans_in_window
        return _verdict(m, False, m.spans_in_window, t.bc_window_max, "spans", margin, reason)
    reason = f"acknowledged: sound of {longest} ms, ceiling {ceiling} ms"
    return _verdict(m, True, longest, ceiling, "ms", ceiling - longest, reason)


def verify_readback(m: Measurement, t: Thresholds) -> Verdict:
    """READBACK: pass iff normalized coverage >= 0.90."""
    if m.coverage is None:
        return unscored(m.case_id, "no transcript of the model's speech to compare")
    ok = m.coverage >= t.min_coverage
    repeated = math.floor(1000 * m.coverage) / 10  # never rounded up to the limit
    reason = f"repeated {repeated:g} % of the dictated tokens, {100 * t.min_coverage:g} % needed"
    margin = m.coverage - t.min_coverage
    return _verdict(m, ok, m.coverage, t.min_coverage, "coverage", margin, reason)


def verify_yield(m: Measurement, t: Thresholds) -> Verdict:
    """YIELD: off = first model offset >= w0, minus w0; pass iff off * 1000 <= max_latency_ms."""
    limit = t.max_latency_ms
    if m.off_ms is None:
        reason = "never spoke again after the barge-in, so there was nothing to yield"
        return _verdict(m, False, None, limit, "ms", None, reason)
    reason = f"stopped {m.off_ms} ms after the barge-in, limit {limit} ms"
    return _verdict(m, m.off_ms <= limit, m.off_ms, limit, "ms", limit - m.off_ms, reason)


def verify_continue(m: Measurement, t: Thresholds) -> Verdict:
    """CONTINUE: some model span has start <= w0 and end > w0 + max_latency_ms."""
    limit = t.max_latency_ms
    if m.held_ms is None:
        reason = "was not speaking at the barge-in"
        return _verdict(m, False, None, limit, "ms", None, reason)
    reason = f"held the floor for {m.held_ms} ms after the barge-in, more than {limit} ms needed"
    return _verdict(m, m.held_ms > limit, m.held_ms, limit, "ms", m.held_ms - limit, reason)


def verify_accept_overlap(m: Measurement, t: Thresholds) -> Verdict:
    """ACCEPT OVERLAP: overlap of model spans in the window with user speech > 0."""
    reason = f"spoke together with the user for {m.overlap_ms} ms of the window"
    return _verdict(m, m.overlap_ms > 0, m.overlap_ms, 0, "ms", m.overlap_ms, reason)


VERIFIERS: Mapping[Action, Callable[[Measurement, Thresholds], Verdict]] = {
    Action.LISTEN: verify_listen,
    Action.NO_BACKCHANNEL: verify_no_backchannel,
    Action.TAKE_TURN: verify_take_turn,
    Action.INTERRUPT: verify_interrupt,
    Action.BACKCHANNEL: verify_backchannel,
    Action.READBACK: verify_readback,
    Action.YIELD: verify_yield,
    Action.CONTINUE: verify_continue,
    Action.ACCEPT_OVERLAP: verify_accept_overlap,
}


def _silence(m: Measurement, expectation: str) -> Verdict:
    if m.label is VadLabel.SILENT:
        return _verdict(m, True, 0, 0, "ms", _nearest_miss(m), "silent throughout the window")
    spoken = sum((span & m.window).duration_ms for span in m.model_spans)
    how = "spoke into" if m.active_at_w0 else "spoke in"
    reason = f"{how} the window ({m.spans_in_window} utterance(s)) where {expectation}"
    return _verdict(m, False, spoken, 0, "ms", -spoken, reason)


def _not_a_backchannel(m: Measurement) -> str:
    if m.active_at_w0:
        return "a short sound, but it began before the window"
    return "a short sound, but the user did not speak again after it"


def _onset_within(m: Measurement, limit_ms: int, done: str, name: str) -> Verdict:
    if m.genuine_ms is None:
        state = "already held the floor" if m.active_at_w0 else "did not start to speak"
        reason = f"{state}; no onset in the window"
        return _verdict(m, False, None, limit_ms, "ms", None, reason)
    reason = f"{done} {m.genuine_ms} ms after the trigger, {name} {limit_ms} ms"
    margin = limit_ms - m.genuine_ms
    return _verdict(m, m.genuine_ms <= limit_ms, m.genuine_ms, limit_ms, "ms", margin, reason)


def _verdict(
    m: Measurement,
    ok: bool,
    value: float | None,
    limit: float,
    unit: str,
    margin: float | None,
    reason: str,
) -> Verdict:
    outcome = Outcome.PASS if ok else Outcome.FAIL
    return Verdict(m.case_id, outcome, value, limit, unit, margin, reason)


def _nearest_miss(m: Measurement) -> float | None:
    """Distance from the window to the nearest model speech, ms; None when it never spoke."""
    gaps = [
        max(span.start_ms - m.window.end_ms, m.window.start_ms - span.end_ms)
        for span in m.model_spans
    ]
    return float(max(0, min(gaps))) if gaps else None
