"""The cascade's ears: which frames are speech, and stretches of speech ready to recognise.

Frame clock: one frame is 512 samples at 16 kHz, 32 ms. A frame is *voiced* when Silero gives it
``p >= 0.5``, or ``p >= 0.35`` right after a voiced frame. A *stretch* runs from the first voiced
frame to a pause of ``split_frames``::

    voiced    ....####.#####.......................####
    stretch       |--------|<---- split ---->*       |--
                                             closed here

A stretch with less than 200 ms of voiced frames is a cough or a click and is dropped. The others
keep up to 256 ms on both sides, from which samples below -60 dBFS are cut: so the same user audio
gives the same samples wherever the frame grid falls on it, unless noise fills the pauses.
"""

from __future__ import annotations

from collections import deque

import numpy as np

from dsb_ifeval.audio import Float32
from dsb_ifeval.vad.silero import CONTEXT, RATE_HZ, SileroVad, zero_state

FRAME = 512
FRAME_MS = FRAME * 1000 // RATE_HZ
MIN_SPEECH_FRAMES = -(-200 // FRAME_MS)
"""7 frames, 224 ms: the fewest that are at least 200 ms."""

_ENTER, _STAY = 0.5, 0.35
_ROLL_FRAMES = 8
_RESUME_FRAMES = 4
_MAX_FRAMES = 28_000 // FRAME_MS  # one window of the recogniser is 30 s
_QUIET_LEVEL = 10 ** (-60 / 20)
_QUIET_ENERGY = FRAME * _QUIET_LEVEL**2


def frames_for(milliseconds: int) -> int:
    """The fewest frames that last at least this long.

    >>> frames_for(800), frames_for(300), frames_for(0)
    (25, 10, 0)
    """
    return -(-milliseconds // FRAME_MS)


class Ears:
    """Hears one user channel; a fresh one per case.

    Args:
        split_frames: pause that closes a stretch.

    Attributes:
        voiced: the newest frame is speech.
        quiet_frames: frames since the last voiced one, or since the start.
        speech_frames: voiced frames in the open stretch; 0 when none is open.
        stretches: closed and not yet taken, float32 ``(n,)`` at 16 kHz.
    """

    def __init__(self, split_frames: int) -> None:
        self.voiced = False
        self.quiet_frames = 0
        self.speech_frames = 0
        self.stretches: list[Float32] = []
        self._split_frames = split_frames
        self._recent: list[Float32] = []
        self._vad = SileroVad()
        self._state = zero_state()
        self._context: Float32 = np.zeros(CONTEXT, np.float32)
        self._spans: deque[Float32] = deque(maxlen=1 + _RESUME_FRAMES)

    def hear(self, frame: Float32) -> None:
        """Take the next 32 ms, float32 ``(512,)``."""
        self.voiced = self._probability(frame) >= (_STAY if self.voiced else _ENTER)
        self._context = frame[-CONTEXT:]
        self._recent.append(frame)
        if self.voiced:
            self.quiet_frames = 0
            self.speech_frames += 1
        else:
            self.quiet_frames += 1
        if not self.speech_frames:
            del self._recent[:-_ROLL_FRAMES]
        elif self.quiet_frames >= self._split_frames or len(self._recent) >= _MAX_FRAMES:
            self._close()

    def take(self) -> list[Float32]:
        """All closed stretches, which are then forgotten."""
        taken, self.stretches = self.stretches, []
        return taken

    def _close(self) -> None:
        if self.speech_frames >= MIN_SPEECH_FRAMES:
            end = len(self._recent) - max(0, self.quiet_frames - _ROLL_FRAMES)
            self.stretches.append(trimmed(np.concatenate(self._recent[:end])))
        self.speech_frames = 0
        # Only quiet frames may be in two stretches: none at all where one is cut for its length.
        self._recent = self._recent[len(self._recent) - min(_ROLL_FRAMES, self.quiet_frames) :]

    def _probability(self, frame: Float32) -> float:
        self._spans.append(np.concatenate([self._context, frame]))
        quiet = float(np.dot(frame, frame)) < _QUIET_ENERGY
        if quiet and self.quiet_frames >= _ROLL_FRAMES:
            # As dsb_ifeval.vad.activity: silence costs nothing, and when sound returns the
            # network first hears the newest of what it was spared.
            return 0.0
        probabilities, self._state = self._vad.advance(np.stack(self._spans), self._state)
        self._spans.clear()
        return float(probabilities[-1])


def trimmed(samples: Float32) -> Float32:
    """Without what is below -60 dBFS at both ends.

    >>> trimmed(np.array([0, 1e-4, 0.5, 0, -0.5, 0], np.float32)).tolist()
    [0.5, 0.0, -0.5]
    """
    loud = np.flatnonzero(np.abs(samples) > _QUIET_LEVEL)
    return samples[loud[0] : loud[-1] + 1] if len(loud) else samples[:0]
