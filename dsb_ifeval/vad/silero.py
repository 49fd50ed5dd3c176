"""Silero VAD without torch: speech probabilities of 16 kHz audio (Appendix C.2).

One frame is 512 new samples (32 ms) after the last 64 samples of the frame before (zeros in
front of the first; the last frame is padded with zeros)::

    audio    |--64--|------512------|------512------|---- ...
    frame 0  |<------- 576 -------->|
    frame 1                  |<------- 576 -------->|

The fast graph gets each frame cut into four windows of 256 samples, 128 apart, the last one
completed by reflection: what the model's own STFT layer does with the frame.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.lib.stride_tricks import as_strided
from numpy.typing import NDArray

from dsb_ifeval.vad.segments import FRAME
from dsb_ifeval.vad.weights import GEMM_NAME, MODEL_NAME, session

RATE_HZ = 16_000
CONTEXT = 64
SPAN = CONTEXT + FRAME
BLOCK_FRAMES = 512
"""Frames per call (16 s of audio), so that memory does not grow with the recording."""

WINDOW, HOP, WINDOWS = 256, 128, 4
_OUTPUTS = ["speech_probs", "hn", "cn"]

Samples = NDArray[np.float32]
State = tuple[Samples, Samples]
"""Hidden and cell state of the LSTM, each [1, 1, 128]."""


def zero_state() -> State:
    """The state before the first frame of a recording."""
    return np.zeros((1, 1, 128), np.float32), np.zeros((1, 1, 128), np.float32)


def frames_of(audio: Samples) -> Samples:
    """Audio (n,) as overlapping frames (ceil(n / 512), 576); a read-only view of a padded copy."""
    count = -(-audio.size // FRAME)
    padded = np.zeros(CONTEXT + count * FRAME, np.float32)
    padded[CONTEXT : CONTEXT + audio.size] = audio
    step = padded.itemsize
    return as_strided(padded, (count, SPAN), (FRAME * step, step), writeable=False)


def windows_of(frames: Samples) -> Samples:
    """Frames (t, 576) as STFT windows (4 t, 256)."""
    windows = np.empty((len(frames), WINDOWS, WINDOW), np.float32)
    for index in range(WINDOWS - 1):
        windows[:, index] = frames[:, HOP * index : HOP * index + WINDOW]
    real = SPAN - HOP * (WINDOWS - 1)
    windows[:, -1, :real] = frames[:, -real:]
    windows[:, -1, real:] = frames[:, -2 : real - WINDOW - 2 : -1]
    return windows.reshape(-1, WINDOW)


class SileroVad:
    """Speech probability per 32 ms frame; weights are shared by all instances of a process.

    Args:
        reference: use Silero's own sequence graph instead of the fast one. Probabilities
            differ by less than 1e-4 and the spans agree; it is about three times slower.

    >>> SileroVad().probabilities(np.zeros(1000, np.float32)).shape
    (2,)
    """

    def __init__(self, *, reference: bool = False) -> None:
        self.reference = reference
        self._session: Any = session(MODEL_NAME if reference else GEMM_NAME)

    def probabilities(self, audio_16k: Samples) -> Samples:
        """Probabilities of one recording.

        Args:
            audio_16k: float32 (n,) at 16 kHz, full scale 1.0.

        Returns:
            float32 (ceil(n / 512),).
        """
        frames = frames_of(audio_16k)
        result = np.empty(len(frames), np.float32)
        state = zero_state()
        for first in range(0, len(frames), BLOCK_FRAMES):
            block = frames[first : first + BLOCK_FRAMES]
            result[first : first + len(block)], state = self.advance(block, state)
        return result

    def probabilities_batch(self, audios_16k: Sequence[Samples]) -> list[Samples]:
        """One result per recording, the same bits as ``probabilities`` gives for it alone.

        Recordings run one after another on purpose: stacking them gains a tenth in speed and
        makes a score depend on what else is in the batch.
        """
        return [self.probabilities(audio) for audio in audios_16k]

    def advance(self, frames: Samples, state: State) -> tuple[Samples, State]:
        """Probabilities of consecutive frames (t, 576) and the state after the last one."""
        if self.reference:
            feed = {"input": np.ascontiguousarray(frames)}
        else:
            feed = {"windows": windows_of(frames)}
        probabilities, hidden, cell = self._session.run(
            _OUTPUTS, {**feed, "h": state[0], "c": state[1]}
        )
        return probabilities, (hidden, cell)
