"""A built user conversation: two turns of known segments on a known clock.

The builder makes these from scripts; cases, sessions and scoring read them. Times are
integer milliseconds *relative to the onset of their own turn*; a recording adds the onset
at which the turn was really played.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass

from dsb_ifeval.intervals import Interval, samples_to_ms
from dsb_ifeval.vocab import SegmentKind, TurnMode


@dataclass(frozen=True, slots=True)
class Word:
    """A word as displayed, with its aligned time (G.3)."""

    text: str
    span: Interval


@dataclass(frozen=True, slots=True)
class Segment:
    """Speech or exact-zero silence between two construction-known boundaries (G.2).

    Attributes:
        slot: name of the probe slot; ``t1`` for turn 1.
        text: what is said, as displayed; empty for silence.
        span: construction time, relative to the turn's onset.
    """

    slot: str
    kind: SegmentKind
    text: str
    span: Interval
    words: tuple[Word, ...] = ()

    @property
    def is_speech(self) -> bool:
        return self.kind is SegmentKind.SPEECH


@dataclass(frozen=True, slots=True)
class Turn:
    """One user turn.

    Attributes:
        barge_in_after_ms: delay after the model's onset; None unless ``mode`` is BARGE_IN.
        samples: length of the waveform at 24 kHz.
        sha256: hash of the little-endian PCM16 samples (not of any file format).
    """

    mode: TurnMode
    segments: tuple[Segment, ...]
    samples: int
    sha256: str
    barge_in_after_ms: int | None = None

    @property
    def duration_ms(self) -> int:
        return samples_to_ms(self.samples)

    @property
    def text(self) -> str:
        """All spoken text of the turn, in order."""
        return " ".join(segment.text for segment in self.segments if segment.is_speech)

    def segment(self, slot: str) -> Segment:
        """The segment of a slot.

        Raises:
            KeyError: the turn has no such slot.
        """
        for segment in self.segments:
            if segment.slot == slot:
                return segment
        raise KeyError(slot)

    def speech_spans(self, onset_ms: int = 0) -> Iterator[Interval]:
        """Construction spans of the user's speech, shifted to a recorded onset."""
        for segment in self.segments:
            if segment.is_speech:
                yield segment.span.shift(onset_ms)


@dataclass(frozen=True, slots=True)
class Conversation:
    """A two-turn user conversation with its waveform identity (sections 1 and 6).

    Attributes:
        id: ``R1-C1-i1``.
        probe: short probe id, ``C1`` or ``R1_A``.
        audio_key: conversation id, or the shared id of the matched set, or the id of the
            L4b variant (``R2-R2_B-i1-L4b``).
        readback: normal text of the readback target; empty where none is defined.
        provenance: how text and audio were made (generator, engine, voice, model hash).
    """

    id: str
    role: str
    probe: str
    instance: int
    audio_key: str
    turn1: Turn
    turn2: Turn
    readback: str
    provenance: Mapping[str, str]
