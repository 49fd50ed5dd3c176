"""What every speech engine offers, and what an utterance is.

An engine turns words that are already spelled out (``verbalise``) into samples and says when
each of those words sounds. It never trims, pads or normalises: that is assembly.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Protocol

import numpy as np
from numpy.typing import NDArray

SAMPLE_RATE_HZ = 24_000
"""Rate of every engine here (G.3); an engine with another rate would have to resample itself."""

Samples = NDArray[np.float32]


@dataclass(frozen=True, slots=True)
class TimedWord:
    """A spoken word, in seconds from the utterance's first sample."""

    text: str
    start_s: float
    end_s: float


@dataclass(frozen=True, slots=True)
class Utterance:
    """Synthesised speech.

    Attributes:
        samples: mono float32 at 24 kHz, the engine's fixed gain applied, peak below 1.
        words: one entry per whitespace-separated word of the spoken text, in order.
    """

    samples: Samples
    words: tuple[TimedWord, ...]


class Engine(Protocol):
    """A text-to-speech engine. Cheap to create: models are loaded by the first synthesis.

    Attributes:
        name: its name in the table of engines.
        label: one line for people.
        model_sha256: hash of the model file(s) as distributed.
        versions: package versions that can change a sample; part of every cache key.
        voices: names of the voices, sorted.
        speed: speaking rate factor, 1.0 as trained.
        segments_per_worker: how many segments make starting one more process pay off.
    """

    name: str
    label: str
    model_sha256: str
    versions: Mapping[str, str]
    speed: float
    segments_per_worker: int

    @property
    def voices(self) -> tuple[str, ...]: ...

    def prepare(self) -> None:
        """Do once, before workers start, what every worker would otherwise do."""
        ...

    def synthesize(self, spoken_text: str, voice: str) -> Utterance:
        """Speak one segment with one of ``voices``.

        Raises:
            SynthesisError: the text cannot be pronounced, is too long, or the audio clips.
        """
        ...
