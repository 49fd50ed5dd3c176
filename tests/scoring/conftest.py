"""Builders for the scorer's tests: cases, records, measurements and verdicts in one line.

Model spans are written in ms *relative to w0*, so that a test reads like its definition:
``judged(Action.YIELD, [(-3000, 601)])`` is a model that began 3 s before the barge-in and
stopped 601 ms after it. Every builder is a session fixture that returns a function, which
keeps Hypothesis happy and needs no import between test modules.
"""

from __future__ import annotations

from dataclasses import replace

import pytest

from dsb_ifeval.cases import Case, Verifier
from dsb_ifeval.conversation import Conversation, Segment, Turn
from dsb_ifeval.events import Event, EventKind
from dsb_ifeval.intervals import Interval, ms_to_samples
from dsb_ifeval.measure import measure
from dsb_ifeval.recording import OK, Record
from dsb_ifeval.thresholds import Thresholds
from dsb_ifeval.turns import TurnFacts
from dsb_ifeval.verifiers import verify
from dsb_ifeval.vocab import Action, Level, SegmentKind, Transcript, TurnMode

ONSET_MS = 20_000
"""Recorded turn-2 onset of every record unless a test says otherwise."""

TURN1_MS = 12_000

GAP_MS = 300
"""C.2: spans less than 0.3 s apart are one utterance."""

# benchmark.md section 3: probe, turn-2 segments (ms), window after turn-2 onset
_C1 = ("C1", [("speech", 7500), ("silence", 2500), ("speech", 6500)], (7500, 10_000))
_C4 = (
    "C4",
    [("speech", 6500), ("speech", 1200), ("silence", 1500), ("speech", 5000)],
    (7700, 9200),
)
_C3 = ("C3", [("speech", 4000)], (0, 3000))
_R1_A = ("R1_A", [("speech", 6000), ("speech", 2000), ("speech", 6000)], (8000, 14_000))
_C2 = (
    "C2",
    [("speech", 3000), ("silence", 1200), ("speech", 3000), ("silence", 1200), ("speech", 3000)],
    (11_400, 21_400),
)
_LAYOUT = {
    Action.LISTEN: _C1,
    Action.TAKE_TURN: _C1,
    Action.BACKCHANNEL: _C4,
    Action.NO_BACKCHANNEL: _C4,
    Action.INTERRUPT: _R1_A,
    Action.READBACK: _C2,
    Action.YIELD: _C3,
    Action.CONTINUE: _C3,
    Action.ACCEPT_OVERLAP: _C3,
}

# paper.txt Table 18
_DEFAULTS = {
    Action.LISTEN: ("action_at_trigger", {}),
    Action.TAKE_TURN: ("silence_tolerance", {"max_wait_s": 2.0}),
    Action.BACKCHANNEL: ("bc_count", {"bc_ceiling_s": 1.0, "bc_window_max": 1}),
    Action.NO_BACKCHANNEL: ("bc_count", {"bc_window_max": 0}),
    Action.INTERRUPT: ("action_at_trigger", {"max_latency_ms": 1500}),
    Action.READBACK: ("readback", {"min_coverage": 0.90}),
    Action.YIELD: ("yield_latency", {"max_latency_ms": 600}),
    Action.CONTINUE: ("yield_latency", {"max_latency_ms": 600}),
    Action.ACCEPT_OVERLAP: ("overlap_duration", {}),
}

_BARGE_IN = {Action.YIELD, Action.CONTINUE, Action.ACCEPT_OVERLAP}


def _turn(pieces, mode=TurnMode.TAKE_TURN, slot="s{}", sha256="turn2", texts=()):
    segments, at = [], 0
    for number, (kind, length_ms) in enumerate(pieces, 1):
        text = texts[number - 1] if texts else f"words {number}" * (kind == "speech")
        span = Interval(at, at + length_ms)
        segments.append(Segment(slot.format(number), SegmentKind(kind), text, span))
        at += length_ms
    barge_in = 3000 if mode is TurnMode.BARGE_IN else None
    return Turn(mode, tuple(segments), ms_to_samples(at), sha256, barge_in)


def _turn1():
    return _turn([("speech", TURN1_MS)], slot="t{}", sha256="turn1")


def _make_case(
    action,
    *,
    turn2=None,
    window=None,
    params=None,
    role="R1",
    probe=None,
    instance=1,
    level=Level.L2,
    probe_action=None,
    readback="",
):
    """A case; layout, window and thresholds default to the action's in the benchmark.

    Args:
        turn2: ``[(kind, ms), ...]`` of turn 2.
        window: ``(start, end)`` in ms after turn-2 onset.
        params: overrides on top of Table 18; ``{}`` leaves the defaults.
    """
    default_probe, default_turn2, default_window = _LAYOUT[action]
    name, defaults = _DEFAULTS[action]
    probe = probe or default_probe
    conversation = f"{role}-{probe}-i{instance}"
    mode = TurnMode.BARGE_IN if action in _BARGE_IN else TurnMode.TAKE_TURN
    return Case(
        case_id=f"{conversation}-{level.value}",
        conversation_id=conversation,
        audio_key=conversation,
        role=role,
        probe=probe,
        probe_full=f"{probe}_full",
        instance=instance,
        level=level,
        probe_action=probe_action or action,
        expected_action=action,
        system_prompt="You are a test.",
        verifier=Verifier(name, {**defaults, **(params or {})}),
        window=Interval(*(window or default_window)),
        readback=readback,
        conflict=None,
        turn1=_turn1(),
        turn2=_turn(turn2 or default_turn2, mode),
        provenance={},
    )


def _make_record(
    case,
    *,
    onset=ONSET_MS,
    turn1_onset=0,
    texts=(),
    transcript=Transcript.TIMED,
    trigger_valid=True,
    samples=None,
):
    """A finished session of the case.

    Args:
        texts: ``(ms relative to turn-2 onset, text)`` transcript deltas, in arrival order.
        samples: length of the recording; long enough for the window unless given.
    """
    end_ms = onset + max(case.window.end_ms, case.turn2.duration_ms) + 2000
    return Record(
        case_id=case.case_id,
        system="test",
        status=OK,
        reason="",
        clock="virtual",
        samples=ms_to_samples(end_ms) if samples is None else samples,
        pcm_sha256="",
        stimulus=(case.turn1.sha256, case.turn2.sha256),
        facts=TurnFacts(
            turn2_onset_ms=onset,
            end_ms=end_ms,
            model_onset_ms=None,
            trigger_valid=trigger_valid,
            turn1_yielded=True,
        ),
        events=tuple(Event(onset + at, EventKind.TEXT, text=text) for at, text in texts),
        transcript=transcript,
        turn1_onset_ms=turn1_onset,
    )


def _measured(action, spans=(), *, gap_ms=GAP_MS, record=None, **case_options):
    """Measure VAD spans given in ms relative to w0; ``record`` holds options of the record."""
    case = _make_case(action, **case_options)
    made = _make_record(case, **(record or {}))
    w0 = made.facts.turn2_onset_ms + case.window.start_ms
    return measure(case, made, [Interval(w0 + start, w0 + end) for start, end in spans], gap_ms)


def _judged(action, spans=(), *, params=None, **options):
    """The verdict on spans relative to w0 under the case's own thresholds."""
    measurement = _measured(action, spans, params=params, **options)
    own = _make_case(action, params=params).verifier.params
    return verify(measurement, Thresholds.from_params(own))


def _make_conversation(role, probe, pieces, *, mode=TurnMode.TAKE_TURN, instance=1, readback=""):
    """A built conversation for ``dsb_ifeval.cases.make_case`` with the real benchmark."""
    key = f"{role}-{probe}-i{instance}"
    turn2 = _turn(pieces, mode)
    return Conversation(key, role, probe, instance, key, _turn1(), turn2, readback, {})


@pytest.fixture(scope="session")
def make_case():
    return _make_case


@pytest.fixture(scope="session")
def make_record():
    return _make_record


@pytest.fixture(scope="session")
def make_conversation():
    return _make_conversation


@pytest.fixture(scope="session")
def measured():
    return _measured


@pytest.fixture(scope="session")
def judged():
    return _judged


@pytest.fixture(scope="session")
def without_facts():
    """A record of a session that broke before its end."""
    return lambda record: replace(record, facts=None)
