"""Word times from the model's own phoneme durations (speech construction metadata).

The acoustic model decides how many frames each phoneme lasts before it makes a sound, so
word times are known rather than estimated. Two corrections were found by comparing with an
acoustic aligner::

    phonemes    w  ɜ  d  [space]  n  ɛ  k  s  t  .   [space]  ...
    frames      |--word--|--------next--------|--pause---|
    times       ^start   ^end = start of next  ^end: last audible frame

- the frames of a space are the onset of the following word, not a gap;
- the waveform runs a constant one and a half frames ahead of the frames.

Next to a pause the durations say nothing about where the sound really stops or starts, so
those edges are moved to the first or last audible 10 ms.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from .base import SAMPLE_RATE_HZ, Samples
from .phonemes import PAUSES, Phoneme

HOP_SAMPLES = 600
"""Samples per duration frame: 25 ms, in hibari as in Kokoro."""

SHIFT_S = 0.0375
"""Sound before its frames, in both engines. With it, word starts and ends inside phrases agree
with pocketsphinx's forced alignment without bias (median difference 8 to 15 ms)."""

_STEP_S = 0.01
_AUDIBLE_RMS = 0.005
_LOOK_BACK_S = 0.15
_LOOK_AHEAD_S = 0.10


@dataclass(slots=True)
class _Edges:
    """A word's times while they are being corrected."""

    start_s: float
    end_s: float
    after_pause: bool
    before_pause: bool = False


def word_times(
    phonemes: Sequence[Phoneme],
    frames: Sequence[float],
    samples: Samples,
    shift_s: float = SHIFT_S,
) -> list[tuple[float, float]]:
    """Start and end of every word, in seconds from the first sample.

    Args:
        frames: duration of each symbol in frames, with the boundary symbols the models add
            before the first and after the last phoneme.
        samples: the waveform those frames became, at 24 kHz.
        shift_s: how far the waveform runs ahead of the frames.
    """
    assert len(frames) == len(phonemes) + 2, (len(frames), len(phonemes))
    ends = np.cumsum(np.asarray(frames, np.float64)) * HOP_SAMPLES / SAMPLE_RATE_HZ - shift_s
    words = _edges(phonemes, ends)
    _snap_to_sound(words, samples)
    length_s = len(samples) / SAMPLE_RATE_HZ
    return _ordered([(word.start_s, word.end_s) for word in words], length_s)


def _edges(phonemes: Sequence[Phoneme], ends: np.ndarray) -> list[_Edges]:
    """Word edges from durations alone; symbol ``i`` lasts from ``ends[i]`` to ``ends[i + 1]``."""
    words: list[_Edges] = []
    current: int | None = None
    space_start_s: float | None = None
    paused = True
    for index, phoneme in enumerate(phonemes):
        start_s, end_s = float(ends[index]), float(ends[index + 1])
        if phoneme.word is None:
            space_start_s = start_s
        elif phoneme.symbol in PAUSES:
            paused = True
            if words:
                words[-1].before_pause = True
        elif phoneme.is_speech and phoneme.word != current:
            glued = space_start_s is not None and not paused
            first_s = space_start_s if glued and space_start_s is not None else start_s
            words.append(_Edges(first_s, end_s, after_pause=paused))
            current, paused = phoneme.word, False
        elif phoneme.is_speech:
            words[-1].end_s = end_s
    words[-1].before_pause = True
    return words


def _snap_to_sound(words: list[_Edges], samples: Samples) -> None:
    audible = _audible_times(samples)
    for index, word in enumerate(words):
        if word.after_pause:
            floor = words[index - 1].end_s if index else 0.0
            low = max(floor, word.start_s - _LOOK_BACK_S)
            heard = audible[(audible >= low) & (audible < word.end_s)]
            if heard.size:
                word.start_s = float(heard[0])
        if word.before_pause:
            ceiling = words[index + 1].start_s if index + 1 < len(words) else np.inf
            high = min(ceiling, word.end_s + _LOOK_AHEAD_S)
            heard = audible[(audible >= word.start_s) & (audible < high)]
            if heard.size:
                word.end_s = float(heard[-1]) + _STEP_S


def _audible_times(samples: Samples) -> np.ndarray:
    """Start times of the 10 ms frames that carry sound."""
    step = round(_STEP_S * SAMPLE_RATE_HZ)
    count = len(samples) // step
    frames = samples[: count * step].reshape(count, step)
    rms = np.sqrt(np.mean(frames.astype(np.float64) ** 2, axis=1))
    return np.flatnonzero(rms > _AUDIBLE_RMS) * _STEP_S


def _ordered(times: list[tuple[float, float]], length_s: float) -> list[tuple[float, float]]:
    """Times inside the waveform, non-negative lengths, no word before its predecessor."""
    ordered, floor = [], 0.0
    for start_s, end_s in times:
        start_s = min(max(start_s, floor), length_s)
        end_s = min(max(end_s, start_s), length_s)
        ordered.append((start_s, end_s))
        floor = start_s
    return ordered
