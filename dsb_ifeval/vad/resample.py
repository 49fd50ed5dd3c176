"""A causal 24 kHz to 16 kHz resampler for one frame at a time, the same whatever the block size.

The scorer resamples whole recordings with soxr HQ. A tracker cannot: a stream resampler keeps
state that depends on how the samples arrive. Here every output is a fixed sum over 65 input
samples (a Kaiser-windowed sinc, pass band to 6.7 kHz, -60 dB from 8.1 kHz), so a frame of 16 kHz
audio is a pure function of the 24 kHz samples under it. A frame's block ends ``REACH`` samples
before the newest one, which lines it up with the frames of the whole recording.
"""

from __future__ import annotations

import numpy as np
from numpy.lib.stride_tricks import as_strided

from dsb_ifeval.intervals import SESSION_RATE_HZ
from dsb_ifeval.vad.silero import SPAN, Samples

REACH = 32
"""Input samples on each side of an output sample."""
BLOCK = 768
"""New 24 kHz samples per frame: 32 ms, 512 samples at 16 kHz."""

_GROUP_IN, _GROUP_OUT = 48, 32
_GROUPS = SPAN // _GROUP_OUT
_GROUP_TAPS = _GROUP_IN + 2 * REACH
INPUT = _GROUP_IN * (_GROUPS - 1) + _GROUP_TAPS
HISTORY = INPUT - BLOCK
"""Older samples a frame also needs: the model's context of 64 samples and the filter's reach."""

_CUTOFF_HZ = 7_400
_KAISER_BETA = 5.65


def _filter() -> Samples:
    """Weights [112, 32]: from the input under 32 output samples (2 ms) to those samples."""
    centres = REACH + 1.5 * np.arange(_GROUP_OUT)
    distance = np.arange(_GROUP_TAPS)[:, None] - centres
    ratio = 2 * _CUTOFF_HZ / SESSION_RATE_HZ
    inside = np.clip(1 - (distance / REACH) ** 2, 0, None)
    weights = np.sinc(ratio * distance) * np.i0(_KAISER_BETA * np.sqrt(inside))
    weights[np.abs(distance) > REACH] = 0
    return np.asarray(weights / weights.sum(axis=0), np.float32)


_WEIGHTS = _filter()


def frames_view(window: Samples) -> Samples:
    """Overlapping frames' worth of 24 kHz samples, (t, 18, 112): a view, made once per buffer.

    ``window`` holds ``HISTORY`` + t x 768 contiguous samples.
    """
    step = window.itemsize
    shape = ((window.size - HISTORY) // BLOCK, _GROUPS, _GROUP_TAPS)
    return as_strided(window, shape, (BLOCK * step, _GROUP_IN * step, step), writeable=False)


def frames_of_24k(view: Samples) -> Samples:
    """The model's frames (t, 576) at 16 kHz of a view (t, 18, 112).

    A frame ends ``REACH`` samples before its block does.
    """
    rows = np.ascontiguousarray(view)  # one small product per frame: one thread, the same bits
    frames: Samples = np.matmul(rows, _WEIGHTS).reshape(-1, SPAN)
    return frames
