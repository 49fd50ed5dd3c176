"""From speech probabilities to speech spans, as ``silero_vad.get_speech_timestamps`` does it.

Speech starts at a frame with ``p >= threshold``. It ends where ``p`` fell below
``threshold - 0.15`` (never below 0.01) once a later frame, starting at least ``min_silence_ms``
after that one, is below it too; a frame at or above the threshold in between cancels the end::

    p        .1  .9  .9  .2  .4  .9  .2  .2  .4  .3   (frames of 32 ms, min silence 90 ms)
    speech       |---------------------|
    end pending          |---x       |-------*        96 ms later, still below: it ended here

The rule is in :class:`Endpointer`, which the run-time tracker shares. What cannot be known at
run time (dropping short spans, padding) is in :func:`spans_of_probabilities`.
"""

from __future__ import annotations

from collections.abc import Iterable

from dsb_ifeval.benchmark.model import VadSettings

PAPER_SETTINGS = VadSettings(
    rate_hz=16_000,
    threshold=0.5,
    min_speech_ms=90,
    min_silence_ms=90,
    speech_pad_ms=30,
    merge_gap_ms=300,
)
"""Appendix C.2; what is not named there is the library's default."""

FRAME = 512
_HYSTERESIS = 0.15
_LOWEST_EXIT = 0.01

SampleSpan = tuple[int, int]
"""First sample and one past the last."""


class Endpointer:
    """Silero's start and end rule, fed one probability per frame.

    Attributes:
        onset: first frame of the speech that is going on, or None.
        position: number of frames seen.
    """

    __slots__ = ("_enter", "_exit", "_low_since", "_min_frames", "onset", "position")

    def __init__(self, settings: VadSettings) -> None:
        self._enter = settings.threshold
        self._exit = max(settings.threshold - _HYSTERESIS, _LOWEST_EXIT)
        self._min_frames = settings.rate_hz * settings.min_silence_ms / 1000 / FRAME
        self._low_since: int | None = None
        self.onset: int | None = None
        self.position = 0

    def push(self, probability: float) -> tuple[int, int] | None:
        """Take the next frame; the speech it ended, as (first frame, end frame), or None."""
        frame = self.position
        self.position += 1
        if probability >= self._enter:
            self._low_since = None
            if self.onset is None:
                self.onset = frame
        elif self.onset is not None and probability < self._exit:
            if self._low_since is None:
                self._low_since = frame
            if frame - self._low_since >= self._min_frames:
                ended = self.onset, self._low_since
                self.onset = self._low_since = None
                return ended
        return None


def spans_of_probabilities(
    probabilities: Iterable[float], samples: int, settings: VadSettings
) -> list[SampleSpan]:
    """Speech spans of one recording (Appendix C.2), not merged.

    Args:
        probabilities: one per 512 samples at 16 kHz.
        samples: length of the recording at 16 kHz.
        settings: of which ``merge_gap_ms`` is not used.

    Returns:
        Spans in 16 kHz samples, in order, not overlapping.

    >>> spans_of_probabilities([0.1, 0.9, 0.9, 0.9, 0.1, 0.1, 0.1, 0.1], 4096, PAPER_SETTINGS)
    [(32, 2528)]
    """
    endpointer = Endpointer(settings)
    shortest = settings.rate_hz * settings.min_speech_ms / 1000
    spans: list[SampleSpan] = []
    for probability in probabilities:
        ended = endpointer.push(probability)
        if ended is not None and (ended[1] - ended[0]) * FRAME > shortest:
            spans.append((ended[0] * FRAME, ended[1] * FRAME))
    if endpointer.onset is not None and samples - endpointer.onset * FRAME > shortest:
        spans.append((endpointer.onset * FRAME, samples))
    return _padded(spans, samples, settings)


def _padded(spans: list[SampleSpan], samples: int, settings: VadSettings) -> list[SampleSpan]:
    """Widen by ``speech_pad_ms`` per side; neighbours closer than two pads share the gap."""
    pad = settings.rate_hz * settings.speech_pad_ms / 1000
    starts = [start for start, _ in spans]
    ends = [end for _, end in spans]
    if spans:
        starts[0] = int(max(0, starts[0] - pad))
        ends[-1] = int(min(samples, ends[-1] + pad))
    for left in range(len(spans) - 1):
        gap = starts[left + 1] - ends[left]
        widen = gap // 2 if gap < 2 * pad else pad
        ends[left] = int(min(samples, ends[left] + widen))
        starts[left + 1] = int(max(0, starts[left + 1] - widen))
    return list(zip(starts, ends, strict=True))
