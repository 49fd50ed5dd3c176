"""The nine deterministic verifiers (Appendix C.3-C.4, benchmark section 4).

Each is a pure function of a measurement and thresholds: no audio, no clock, no files. A
verdict can be taken apart: the compared value, its limit and unit, the margin between them
(positive on the passing side) and a sentence.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from enum import Enum

from dsb_ifeval.benchmark.model import Params
from dsb_ifeval.measure import Measurement, label_window
from dsb_ifeval.vocab import Action, VadLabel


class Outcome(str, Enum):
    """A case passes, fails, or was not measured. Unscored never counts as either."""

    PASS = "pass"
    FAIL = "fail"
    UNSCORED = "unscored"


@dataclass(frozen=True, slots=True)
class Thresholds:
    """Operating limits of one case (Table 18 with overrides); only its action's are used."""

    max_wait_ms: int = 2000
    max_latency_ms: int = 600
    bc_ceiling_ms: int = 1000
    bc_window_max: int = 1
    min_coverage: float = 0.90

    @classmethod
    def from_params(cls, params: Params) -> Thresholds:
        """From a manifest's ``verifier.params`` (paper names and units).

        Raises:
            ValueError: a parameter this version does not know.
        """
        known: dict[str, Callable[[float], dict[str, float]]] = {
            "max_wait_s": lambda v: {"max_wait_ms": round(v * 1000)},
            "max_latency_ms": lambda v: {"max_latency_ms": round(v)},
            "bc_ceiling_s": lambda v: {"bc_ceiling_ms": round(v * 1000)},
            "bc_window_max": lambda v: {"bc_window_max": round(v)},
            "min_coverage": lambda v: {"min_coverage": v},
        }
        values: dict[str, float] = {}
        for name, value in params.items():
            if name not in known:
                raise ValueError(f"unknown verifier parameter {name!r}; known: {sorted(known)}")
            values.update(known[name](value))
        return cls(**values)  # type: ignore[arg-type]


@dataclass(frozen=True, slots=True)
class Verdict:
    """The outcome of one case and what decided it.

    Attributes:
        value: the compared quantity, None when there was nothing to compare.
        limit: what it was compared with.
        unit: ``ms``, ``spans`` or ``coverage``.
        margin: distance to the limit in ``unit``, positive when passing.
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
    label = label_window(m.model_spans, m.user_spans, m.window, t.bc_ceiling_ms)
    ok = label is VadLabel.BACKCHANNEL and 1 <= m.spans_in_window <= t.bc_window_max
    longest = max(m.span_durations_ms, default=None)
    if longest is None:
        return _verdict(m, False, None, t.bc_ceiling_ms, "ms", None, "no sound in the window")
    if label is VadLabel.BACKCHANNEL and not ok:
        reason = f"{m.spans_in_window} short sounds, at most {t.bc_window_max} expected"
        margin = float(t.bc_window_max - m.spans_in_window)
        return _verdict(m, False, m.spans_in_window, t.bc_window_max, "spans", margin, reason)
    said = "acknowledged" if ok else "took or held the floor"
    reason = f"{said}: sound of {longest} ms, ceiling {t.bc_ceiling_ms} ms"
    return _verdict(m, ok, longest, t.bc_ceiling_ms, "ms", t.bc_ceiling_ms - longest, reason)


def verify_readback(m: Measurement, t: Thresholds) -> Verdict:
    """READBACK: pass iff normalized coverage >= 0.90."""
    if m.coverage is None:
        return unscored(m.case_id, "no transcript of the model's speech to compare")
    ok = m.coverage >= t.min_coverage
    reason = f"repeated {m.coverage:.0%} of the dictated tokens, {t.min_coverage:.0%} needed"
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
    ok = m.label is VadLabel.SILENT
    if ok:
        return _verdict(m, True, 0, 0, "spans", _nearest_miss(m), "silent throughout the window")
    spoken = "spoke into" if m.active_at_w0 else "spoke in"
    reason = f"{spoken} the window ({m.spans_in_window} utterance(s)) where {expectation}"
    return _verdict(m, False, m.spans_in_window, 0, "spans", -_speech_in_window(m), reason)


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


def _speech_in_window(m: Measurement) -> float:
    """Model speech inside the window, ms."""
    return float(sum((span & m.window).duration_ms for span in m.model_spans))


def _nearest_miss(m: Measurement) -> float | None:
    """Distance from the window to the nearest model speech, ms; None when it never spoke."""
    gaps = [
        max(span.start_ms - m.window.end_ms, m.window.start_ms - span.end_ms)
        for span in m.model_spans
    ]
    return float(max(0, min(gaps))) if gaps else None
