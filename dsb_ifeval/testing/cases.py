"""Cases with their audio, from durations."""

from __future__ import annotations

from collections.abc import Sequence
from functools import cache
from pathlib import Path

import numpy as np

from dsb_ifeval import adapters
from dsb_ifeval.audio import Float32, Pcm16, decode, sample_hash, to_float, to_pcm16
from dsb_ifeval.benchmark import load_benchmark
from dsb_ifeval.cases import Case, Stimulus, verifier_for
from dsb_ifeval.conversation import Segment, Turn
from dsb_ifeval.intervals import Interval, ms_to_samples
from dsb_ifeval.vocab import Action, Level, SegmentKind, TurnMode


def speech(duration_ms: int) -> Float32:
    """Speech that the VAD hears, shape ``(n,)`` at 24 kHz: a clip of 3.87 s in a loop.

    The VAD hears it from its first to its last sample, give or take two blocks (64 ms), with
    a pause of 0.2 s where the loop closes.
    """
    return to_float(np.resize(_clip(), ms_to_samples(duration_ms)))


def make_stimulus(
    turn1: Sequence[int] = (2000,),
    turn2: Sequence[int] = (3000,),
    barge_in_after_ms: int | None = None,
    window: Interval | None = None,
    action: Action = Action.TAKE_TURN,
    case_id: str = "R1-C1-i1-L2",
    prompt: str = "Be brief.",
) -> Stimulus:
    """A case with its audio, from durations in ms; a negative one is silence.

    Segments are named ``t1`` in turn 1 and ``s1, s2 ...`` in turn 2, as in the benchmark::

        make_stimulus([2000], [6500, -1500, 5000])  # turn 2: speech, silence, speech

    Args:
        barge_in_after_ms: makes turn 2 a barge-in, this long after the model's onset.
        window: trigger window relative to turn-2 onset; all of turn 2 unless given.
    """
    mode = TurnMode.TAKE_TURN if barge_in_after_ms is None else TurnMode.BARGE_IN
    first, second = _audio(turn1), _audio(turn2)
    conversation, _, level = case_id.rpartition("-")
    role, probe, instance = conversation.split("-")
    case = Case(
        case_id=case_id,
        conversation_id=conversation,
        audio_key=conversation,
        role=role,
        probe=probe,
        probe_full=probe,
        instance=int(instance[1:]),
        level=Level(level),
        probe_action=action,
        expected_action=action,
        system_prompt=prompt,
        verifier=verifier_for(load_benchmark(), role, action),
        window=window or Interval(0, sum(map(abs, turn2))),
        readback="",
        conflict=None,
        turn1=_turn(first, turn1, ("t1",), TurnMode.TAKE_TURN, None),
        turn2=_turn(second, turn2, [f"s{k + 1}" for k in range(99)], mode, barge_in_after_ms),
        provenance={},
    )
    return Stimulus(case, first, second)


def make_case(
    turn1: Sequence[int] = (2000,),
    turn2: Sequence[int] = (3000,),
    barge_in_after_ms: int | None = None,
    window: Interval | None = None,
    action: Action = Action.TAKE_TURN,
    case_id: str = "R1-C1-i1-L2",
    prompt: str = "Be brief.",
) -> Case:
    """The case of :func:`make_stimulus` without its audio."""
    stimulus = make_stimulus(turn1, turn2, barge_in_after_ms, window, action, case_id, prompt)
    return stimulus.case


@cache
def _clip() -> Pcm16:
    path = Path(adapters.__file__).parent / "voice" / "talk.flac"
    samples, _ = decode(path.read_bytes())
    return samples[:, 0]


def _audio(durations: Sequence[int]) -> Pcm16:
    pieces = [speech(ms) if ms > 0 else np.zeros(ms_to_samples(-ms)) for ms in durations]
    return to_pcm16(np.concatenate(pieces))


def _turn(
    audio: Pcm16, durations: Sequence[int], slots: Sequence[str], mode: TurnMode, after: int | None
) -> Turn:
    segments, at_ms = [], 0
    for slot, ms in zip(slots, durations, strict=False):
        kind, text = (SegmentKind.SPEECH, "words") if ms > 0 else (SegmentKind.SILENCE, "")
        segments.append(Segment(slot, kind, text, Interval(at_ms, at_ms + abs(ms))))
        at_ms += abs(ms)
    return Turn(mode, tuple(segments), len(audio), sample_hash(audio), after)
