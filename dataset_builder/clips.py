"""Trimmed PCM16 clips: what a synthesised segment becomes before assembly.

An engine leaves silence around its speech. A clip begins 30 ms before the first audible frame
and ends 30 ms after the last one, with 5 ms fades, so that a segment's construction times
are the times at which it is heard. Level is the engine's fixed gain: nothing is normalised.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from .engines.base import SAMPLE_RATE_HZ, TimedWord, Utterance
from .errors import SynthesisError

Pcm = NDArray[np.int16]

RECIPE = 1
"""Version of everything between engine and clip (word-time calibration, trimming, scale);
part of the cache key. Raise it when any of that changes."""

_FRAME = SAMPLE_RATE_HZ // 100
_PAD = SAMPLE_RATE_HZ * 30 // 1000
_FADE = SAMPLE_RATE_HZ * 5 // 1000
_THRESHOLD_DBFS = -46.0
_FULL_SCALE = 32767


@dataclass(frozen=True, slots=True)
class Clip:
    """A segment's samples at 24 kHz and its spoken words, timed from the first sample."""

    pcm: Pcm
    words: tuple[TimedWord, ...]

    @property
    def duration_s(self) -> float:
        return len(self.pcm) / SAMPLE_RATE_HZ


def make_clip(utterance: Utterance) -> Clip:
    """Trim, fade and quantise an utterance.

    Raises:
        SynthesisError: nothing in it is audible.
    """
    start, end = _audible_range(utterance)
    samples = utterance.samples[start:end].astype(np.float64)
    ramp = np.linspace(0.0, 1.0, _FADE)
    samples[:_FADE] *= ramp
    samples[-_FADE:] *= ramp[::-1]
    pcm = np.round(samples * _FULL_SCALE).astype(np.int16)
    cut_s, length_s = start / SAMPLE_RATE_HZ, len(pcm) / SAMPLE_RATE_HZ
    words = tuple(
        TimedWord(
            word.text,
            min(max(word.start_s - cut_s, 0.0), length_s),
            min(max(word.end_s - cut_s, 0.0), length_s),
        )
        for word in utterance.words
    )
    return Clip(pcm, words)


def _audible_range(utterance: Utterance) -> tuple[int, int]:
    samples = utterance.samples
    count = len(samples) // _FRAME
    frames = samples[: count * _FRAME].reshape(count, _FRAME).astype(np.float64)
    power = np.mean(frames**2, axis=1)
    heard = np.flatnonzero(power > 10 ** (_THRESHOLD_DBFS / 10))
    if not heard.size:
        text = " ".join(word.text for word in utterance.words)
        raise SynthesisError(f"no audible sound in {text!r}")
    start = int(heard[0]) * _FRAME - _PAD
    end = (int(heard[-1]) + 1) * _FRAME + _PAD
    return max(0, start), min(len(samples), end)
