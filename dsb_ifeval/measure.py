"""Measure once, judge many times: every quantity a verifier needs, from one recording.

A :class:`Measurement` holds both sides' speech and the continuous values of Appendix C.1,
so that thresholds can be changed without audio or VAD. Times are integer ms on the session
clock; values relative to the window count from w0.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from dsb_ifeval.cases import Case
from dsb_ifeval.errors import RecordingError
from dsb_ifeval.intervals import Interval, merge, overlap_ms, samples_to_ms
from dsb_ifeval.readback import coverage
from dsb_ifeval.recording import Record
from dsb_ifeval.thresholds import thresholds_of
from dsb_ifeval.vocab import Action, Level, Transcript, TurnMode, VadLabel


@dataclass(frozen=True, slots=True)
class Measurement:
    """One case's raw timing (benchmark section 4).

    Attributes:
        window: trigger window on the session clock; both ends count as inside.
        user_spans: construction spans of user speech at the recorded turn onsets.
        model_spans: merged model utterances.
        genuine_ms: start - w0 of the first span that begins in the window.
        off_ms: first model offset at or after w0, minus w0.
        overlap_ms: model speech in the window that coincides with user speech in it.
        onsets_in_window: spans that begin in the window (onset-only reading of Table 18).
        spans_in_window: spans that overlap it by more than 0 ms.
        span_durations_ms: whole lengths of the spans in the window.
        active_at_w0: a span that began before w0 still runs at w0.
        held_ms: how long after w0 the span holding the floor at w0 goes on.
        label: what the window looks like under the case's backchannel ceiling.
        coverage: readback coverage, None where nothing is dictated or no text exists.
        transcript_scope: ``turn2``, ``whole`` or ``none``: which text coverage used.
        trigger_valid: False when a barge-in met a model that never spoke.
    """

    case_id: str
    conversation_id: str
    role: str
    probe: str
    instance: int
    level: Level
    probe_action: Action
    expected_action: Action
    barge_in: bool
    window: Interval
    user_spans: tuple[Interval, ...]
    model_spans: tuple[Interval, ...]
    genuine_ms: int | None
    off_ms: int | None
    overlap_ms: int
    onsets_in_window: int
    spans_in_window: int
    span_durations_ms: tuple[int, ...]
    active_at_w0: bool
    held_ms: int | None
    label: VadLabel
    coverage: float | None
    transcript_scope: str
    trigger_valid: bool
    turn1_yielded: bool


def measure(
    case: Case, record: Record, model_spans: Sequence[Interval], merge_gap_ms: int
) -> Measurement:
    """Measure a recorded case.

    Args:
        model_spans: VAD spans of the model channel, unmerged, session clock.
        merge_gap_ms: spans less than this apart are one utterance (C.2).

    Raises:
        RecordingError: the record has no schedule, is of another stimulus than the case, or
            ends before the window does.
        DatasetError: the case's thresholds cannot be used.
    """
    facts = record.facts
    if facts is None:
        raise RecordingError("the record has no schedule; the session did not end")
    if record.stimulus != (case.turn1.sha256, case.turn2.sha256):
        raise RecordingError(
            "recorded with other user audio than the dataset holds; run the case again"
        )
    onset = facts.turn2_onset_ms
    window = case.window.shift(onset)
    recorded_ms = samples_to_ms(record.samples)
    if recorded_ms < max(window.end_ms, facts.end_ms):
        raise RecordingError(
            f"{recorded_ms} ms long, but the session ended at {facts.end_ms} ms and the window "
            f"at {window.end_ms} ms; run the case again"
        )
    spans = merge(model_spans, merge_gap_ms)
    user = (*case.turn1.speech_spans(record.turn1_onset_ms), *case.turn2.speech_spans(onset))
    inside = in_window(spans, window)
    begun = begin_in(spans, window)
    holding = [span for span in spans if span.start_ms <= window.start_ms < span.end_ms]
    score, scope = _coverage(case, record, onset)
    return Measurement(
        case_id=case.case_id,
        conversation_id=case.conversation_id,
        role=case.role,
        probe=case.probe,
        instance=case.instance,
        level=case.level,
        probe_action=case.probe_action,
        expected_action=case.expected_action,
        barge_in=case.turn2.mode is TurnMode.BARGE_IN,
        window=window,
        user_spans=user,
        model_spans=spans,
        genuine_ms=begun[0].start_ms - window.start_ms if begun else None,
        off_ms=_first_offset(spans, window.start_ms),
        overlap_ms=overlap_ms([span & window for span in inside], [u & window for u in user]),
        onsets_in_window=len(begun),
        spans_in_window=len(inside),
        span_durations_ms=tuple(span.duration_ms for span in inside),
        active_at_w0=any(span.start_ms < window.start_ms for span in holding),
        held_ms=max(s.end_ms for s in holding) - window.start_ms if holding else None,
        label=label_window(spans, user, window, thresholds_of(case).bc_ceiling_ms),
        coverage=score,
        transcript_scope=scope,
        trigger_valid=facts.trigger_valid,
        turn1_yielded=facts.turn1_yielded,
    )


def in_window(spans: Sequence[Interval], window: Interval) -> list[Interval]:
    """Spans that overlap the window by more than 0 ms."""
    return [span for span in spans if span & window]


def begin_in(spans: Sequence[Interval], window: Interval) -> list[Interval]:
    """Spans with ``w0 <= start <= w1``."""
    return [span for span in spans if window.start_ms <= span.start_ms <= window.end_ms]


def label_window(
    spans: Sequence[Interval], user: Sequence[Interval], window: Interval, ceiling_ms: int
) -> VadLabel:
    """The VAD label of Appendix C.4 under a backchannel ceiling.

    ``backchannel`` needs every span in the window to begin in it, to be shorter than the
    ceiling over its whole length, and the user to speak again after it (user speech starting
    at or after its end, or the span lying inside user speech).
    """
    inside = in_window(spans, window)
    begun = begin_in(spans, window)
    if not inside:
        return VadLabel.SILENT
    short = all(
        span.start_ms >= window.start_ms
        and span.duration_ms < ceiling_ms
        and _user_resumes(span, user)
        for span in inside
    )
    return VadLabel.BACKCHANNEL if begun and short else VadLabel.FLOOR_TAKE


def _user_resumes(span: Interval, user: Sequence[Interval]) -> bool:
    after = any(speech.start_ms >= span.end_ms for speech in user)
    return after or any(
        speech.start_ms <= span.start_ms and span.end_ms <= speech.end_ms
        for speech in merge(user, gap_ms=1)  # segments that touch are one stretch of speech
    )


def _first_offset(spans: Sequence[Interval], w0_ms: int) -> int | None:
    return min((s.end_ms - w0_ms for s in spans if s.end_ms >= w0_ms), default=None)


def _coverage(case: Case, record: Record, onset_ms: int) -> tuple[float | None, str]:
    if case.expected_action is not Action.READBACK or record.transcript is Transcript.NONE:
        return None, "none"
    if record.transcript is Transcript.WHOLE:
        return coverage(case.readback, record.text), "whole"
    return coverage(case.readback, record.text_from(onset_ms)), "turn2"
