"""A streaming resampler that keeps audio in place and holds almost nothing back.

soxr's streams keep 37 to 73 ms of input before they give anything out. A model's speech would
then be recorded where it belongs, but the tracker would have listened to that stretch before
it was there. A windowed sinc that looks 32 input samples ahead (2 ms at 16 kHz) is heard
within its own tick. Whole signals (user turns, turn-based replies) go through soxr.
"""

from __future__ import annotations

from functools import cache
from math import gcd

import numpy as np

from dsb_ifeval.audio import Float32
from dsb_ifeval.intervals import SESSION_RATE_HZ

REACH = 32
"""Input samples used on either side of an output sample."""

_PASSBAND = 0.95
_KAISER_BETA = 8.0


class RunResampler:
    """One unbroken run of audio at a model's rate, brought to 24 kHz without moving it.

    Args:
        rate_hz: the model's output rate.
        anchor: sample of the session at which the run begins.
    """

    def __init__(self, rate_hz: int, anchor: int) -> None:
        divisor = gcd(rate_hz, SESSION_RATE_HZ)
        self._up, self._down = SESSION_RATE_HZ // divisor, rate_hz // divisor
        self._weights = _weights(self._up, min(1.0, SESSION_RATE_HZ / rate_hz))
        self._anchor = anchor
        self._taken = 0
        self._made = 0
        self._dropped = 0
        self._input: Float32 = np.zeros(REACH, np.float32)

    @property
    def end(self) -> int:
        """Where the audio taken so far ends, in samples of the session."""
        return self._anchor + self._taken * self._up // self._down

    def push(self, audio: Float32) -> tuple[int, Float32]:
        """Take input ``(n,)``; return the samples now ready and the sample they are due at."""
        self._taken += len(audio)
        self._input = np.concatenate([self._input, audio])
        return self._make(max(self._made, (self._taken - REACH - 1) * self._up // self._down))

    def finish(self) -> tuple[int, Float32]:
        """The rest of the run, as if silence followed."""
        self._input = np.concatenate([self._input, np.zeros(2 * REACH, np.float32)])
        return self._make(self._taken * self._up // self._down)

    def _make(self, until: int) -> tuple[int, Float32]:
        due = self._anchor + self._made
        numbers = np.arange(self._made, until)
        self._made = until
        if not len(numbers):
            return due, np.zeros(0, np.float32)
        position = numbers * self._down
        whole, phase = position // self._up - self._dropped, position % self._up
        taps = self._input[whole[:, None] + np.arange(2 * REACH + 1)]
        ready: Float32 = np.einsum("ij,ij->i", taps, self._weights[phase]).astype(np.float32)
        self._forget(int(until * self._down // self._up) - self._dropped)
        return due, ready

    def _forget(self, samples: int) -> None:
        """Drop input that no later output needs."""
        self._input = self._input[samples:]
        self._dropped += samples


@cache
def _weights(phases: int, ratio: float) -> Float32:
    """Kaiser-windowed sinc, one row per phase, each summing to 1: ``(phases, 2 * REACH + 1)``."""
    distance = np.arange(-REACH, REACH + 1) - np.arange(phases)[:, None] / phases
    inside = np.clip(1 - (distance / (REACH + 1)) ** 2, 0, None)
    weights = np.sinc(ratio * _PASSBAND * distance) * np.i0(_KAISER_BETA * np.sqrt(inside))
    return np.asarray(weights / weights.sum(axis=1, keepdims=True), np.float32)
