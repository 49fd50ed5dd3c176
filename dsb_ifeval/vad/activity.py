"""Is the model speaking now? Causal speech tracking on the session clock (Appendix F.2).

Turn transitions follow the model's speech, so one tracker runs in every session, once per
20 ms tick. It takes the audio of the model channel as it is played and answers from blocks of
768 samples (32 ms at 24 kHz) counted from the start of the session: answers depend on the
samples only, not on how they were cut into pushes. A block is judged when the 32 samples after
it (1.3 ms, the resampler's reach) are there too, so its frame is the scorer's frame.

**Onset**: the first block with ``p >= threshold`` (0.5); its time is the block's start.
**Offset**: Silero's own rule (:class:`~dsb_ifeval.vad.segments.Endpointer`): the start of the
first block below ``threshold - 0.15`` once a block at least 90 ms later is below it too. So a
pause is confirmed 128 ms after it began and the tracker stays active until then.

**Idle**: outside speech a block below -60 dBFS (RMS) counts as ``p = 0`` and the network does
not run, which makes silence nearly free. The LSTM state is kept, and when sound returns the
last four skipped blocks are run first. (Resetting the state instead, to zero or to that of long
silence, makes onsets 32 to 96 ms late in a quarter of cases: the network uses what it heard
before the pause.) In speech it also runs on quiet blocks, up to eight in a row, so that ends
agree with the scorer's.

The scorer does not use this class: it sees the whole recording, drops spans below 90 ms, pads
30 ms per side and resamples with soxr. So an onset here is normally 30 ms after the scorer's.
"""

from __future__ import annotations

from bisect import bisect_left
from math import isfinite

import numpy as np

from dsb_ifeval.benchmark.model import VadSettings
from dsb_ifeval.intervals import SESSION_RATE_HZ, Interval, samples_to_ms
from dsb_ifeval.vad.resample import BLOCK, HISTORY, REACH, frames_of_24k, frames_view
from dsb_ifeval.vad.segments import PAPER_SETTINGS, Endpointer
from dsb_ifeval.vad.silero import Samples, SileroVad, zero_state

IDLE_DBFS = -60.0
MAX_QUIET_BLOCKS = 8
PREROLL_BLOCKS = 4

_IDLE_ENERGY = BLOCK * 10 ** (IDLE_DBFS / 10)
_BLOCK_MS = BLOCK * 1000 // SESSION_RATE_HZ


class SpeechTracker:
    """Speech activity of one 24 kHz stream; time 0 is the first sample pushed.

    The first tracker of a process loads the weights, so that no session does while it runs.

    Args:
        settings: thresholds; the paper's unless given.

    >>> tracker = SpeechTracker()
    >>> tracker.push(np.zeros(480, np.float32))
    >>> tracker.active, tracker.now_ms, tracker.quiet_for_ms(20)
    (False, 20, 20)
    """

    def __init__(self, settings: VadSettings = PAPER_SETTINGS) -> None:
        self._endpointer = Endpointer(settings)
        self._vad = SileroVad()
        self._state = zero_state()
        self._window = np.zeros(HISTORY + (PREROLL_BLOCKS + 1) * BLOCK, np.float32)
        self._block = self._window[-BLOCK:]
        self._frames = frames_view(self._window)
        self._filled = BLOCK - REACH
        self._lead_in = True
        self._pushed = 0
        self._quiet_blocks = 0
        self._skipped = 0
        self._onsets: list[int] = []
        self._ended: list[Interval] = []

    def push(self, samples: Samples) -> None:
        """Take the next samples: float32 (m,) at 24 kHz, full scale 1.0, any m.

        A block with a NaN or an infinity in it counts as silence.
        """
        if samples.ndim != 1:
            raise ValueError(f"expected samples of shape (m,), got {samples.shape}")
        position, total = 0, samples.size
        self._pushed += total
        while position < total:
            filled = self._filled
            count = min(total - position, BLOCK - filled)
            self._block[filled : filled + count] = samples[position : position + count]
            position += count
            self._filled = filled + count
            if self._filled == BLOCK:
                self._finish_block()

    @property
    def now_ms(self) -> int:
        """End of the newest sample pushed."""
        return samples_to_ms(self._pushed)

    @property
    def active(self) -> bool:
        """Speech is going on at the newest complete block."""
        return self._endpointer.onset is not None

    @property
    def last_onset_ms(self) -> int | None:
        """Start of the newest speech, going on or over."""
        return self._onsets[-1] if self._onsets else None

    @property
    def last_offset_ms(self) -> int | None:
        """End of the newest speech that is over."""
        return self._ended[-1].end_ms if self._ended else None

    @property
    def spans_so_far(self) -> tuple[Interval, ...]:
        """All speech, in order; the one going on ends at ``now_ms``. Short spans are kept."""
        if not self.active:
            return tuple(self._ended)
        return (*self._ended, Interval(self._onsets[-1], self.now_ms))

    def first_onset_at_or_after(self, instant_ms: int) -> int | None:
        """The earliest onset not before ``instant_ms``, or None so far."""
        index = bisect_left(self._onsets, instant_ms)
        return self._onsets[index] if index < len(self._onsets) else None

    def quiet_for_ms(self, now_ms: int) -> int:
        """Time since speech was last active: 0 during speech, ``now_ms`` if there was none."""
        if self.active:
            return 0
        return max(0, now_ms - (self.last_offset_ms or 0))

    def _finish_block(self) -> None:
        energy = float(np.dot(self._block, self._block))
        if not isfinite(energy):
            self._block.fill(0.0)
            energy = 0.0
        if self._lead_in:  # the first 32 samples only bring the blocks into step
            self._lead_in = False
        else:
            self._judge(energy < _IDLE_ENERGY)
        self._window[:-BLOCK] = self._window[BLOCK:]
        self._filled = 0

    def _judge(self, quiet: bool) -> None:
        endpointer = self._endpointer
        was_active = endpointer.onset is not None
        self._quiet_blocks = self._quiet_blocks + 1 if quiet else 0
        idle = self._quiet_blocks > (MAX_QUIET_BLOCKS if was_active else 0)
        ended = endpointer.push(self._skip() if idle else self._run())
        if ended is not None:
            self._ended.append(Interval(ended[0] * _BLOCK_MS, ended[1] * _BLOCK_MS))
        elif endpointer.onset is not None and not was_active:
            self._onsets.append(endpointer.onset * _BLOCK_MS)

    def _skip(self) -> float:
        self._skipped += 1
        return 0.0

    def _run(self) -> float:
        count = min(self._skipped, PREROLL_BLOCKS) + 1
        self._skipped = 0
        frames = frames_of_24k(self._frames[-count:])
        probabilities, self._state = self._vad.advance(frames, self._state)
        return float(probabilities[-1])
