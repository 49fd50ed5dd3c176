"""Clips and silences to turns with exactly known event times (G.2, G.3).

Silences are exact zeros of round-half-up ``d * 24000`` samples; speech segments follow each
other without anything in between, so every boundary is construction metadata.
"""

from __future__ import annotations

import hashlib
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from dsb_ifeval.conversation import Segment, Turn, Word
from dsb_ifeval.intervals import Interval, ms_to_samples, samples_to_ms
from dsb_ifeval.vocab import SegmentKind, TurnMode

from .clips import Clip, Pcm
from .engines.base import SAMPLE_RATE_HZ
from .verbalise import Spoken


@dataclass(frozen=True, slots=True)
class Speech:
    """A speech segment to place: its display words and the clip that says them."""

    slot: str
    words: tuple[Spoken, ...]
    clip: Clip


@dataclass(frozen=True, slots=True)
class Silence:
    """An exact silence to place."""

    slot: str
    duration_ms: int


@dataclass(frozen=True, slots=True)
class BuiltTurn:
    """A turn and its waveform."""

    turn: Turn
    pcm: Pcm


def assemble(
    parts: Sequence[Speech | Silence],
    mode: TurnMode = TurnMode.TAKE_TURN,
    barge_in_after_ms: int | None = None,
) -> BuiltTurn:
    """Place parts one after the other."""
    pieces: list[Pcm] = []
    segments: list[Segment] = []
    start = 0
    for part in parts:
        if isinstance(part, Speech):
            pcm = part.clip.pcm
            segment = _speech_segment(part, start)
        else:
            pcm = np.zeros(ms_to_samples(part.duration_ms), np.int16)
            span = _span(start, start + len(pcm))
            segment = Segment(part.slot, SegmentKind.SILENCE, "", span)
        pieces.append(pcm)
        segments.append(segment)
        start += len(pcm)
    pcm = np.concatenate(pieces)
    return BuiltTurn(Turn(mode, tuple(segments), len(pcm), pcm_sha256(pcm), barge_in_after_ms), pcm)


def pcm_sha256(pcm: Pcm) -> str:
    """Hash of the samples as little-endian PCM16 (not of any file that holds them)."""
    return hashlib.sha256(pcm.astype("<i2").tobytes()).hexdigest()


def _speech_segment(part: Speech, start: int) -> Segment:
    return Segment(
        part.slot,
        SegmentKind.SPEECH,
        " ".join(word.display for word in part.words),
        _span(start, start + len(part.clip.pcm)),
        _display_words(part, start),
    )


def _display_words(part: Speech, start: int) -> tuple[Word, ...]:
    """Times of the display words, each from the spoken words that say it."""
    words: list[Word] = []
    spoken = list(part.clip.words)
    for group in part.words:
        count = len(group.spoken.split())
        own, spoken = spoken[:count], spoken[count:]
        span = _span(start + _samples(own[0].start_s), start + _samples(own[-1].end_s))
        words.append(Word(group.display, span))
    assert not spoken, part
    return tuple(words)


def _samples(seconds: float) -> int:
    return round(seconds * SAMPLE_RATE_HZ)


def _span(start: int, end: int) -> Interval:
    return Interval(samples_to_ms(start), samples_to_ms(end))
