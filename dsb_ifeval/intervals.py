"""Time as a value: half-open intervals of integer milliseconds on the session clock.

Integers because float seconds misjudge ties: a yield of exactly 600 ms computed as
``(off - w0) * 1000 <= 600`` in floats fails for almost half of all start times.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

SESSION_RATE_HZ = 24_000
"""Sample rate of the session clock and of every recording (Appendix F.1)."""


@dataclass(frozen=True, order=True, slots=True)
class Interval:
    """``[start_ms, end_ms)`` on the session clock; false when empty.

    >>> a, b = Interval(0, 500), Interval(400, 900)
    >>> a & b
    Interval(start_ms=400, end_ms=500)
    >>> bool(a & Interval(500, 600))
    False
    """

    start_ms: int
    end_ms: int

    def __bool__(self) -> bool:
        return self.end_ms > self.start_ms

    def __and__(self, other: Interval) -> Interval:
        start = max(self.start_ms, other.start_ms)
        return Interval(start, max(start, min(self.end_ms, other.end_ms)))

    def __contains__(self, instant_ms: int) -> bool:
        return self.start_ms <= instant_ms < self.end_ms

    @property
    def duration_ms(self) -> int:
        return max(0, self.end_ms - self.start_ms)

    def shift(self, offset_ms: int) -> Interval:
        """The same interval ``offset_ms`` later."""
        return Interval(self.start_ms + offset_ms, self.end_ms + offset_ms)


def samples_to_ms(samples: int, rate_hz: int = SESSION_RATE_HZ) -> int:
    """Sample count to milliseconds, rounded half up. The only such conversion in the project.

    >>> samples_to_ms(12), samples_to_ms(11), samples_to_ms(36)
    (1, 0, 2)
    """
    return (samples * 2000 + rate_hz) // (2 * rate_hz)


def ms_to_samples(milliseconds: int, rate_hz: int = SESSION_RATE_HZ) -> int:
    """Milliseconds to samples, rounded half up (exact at 24 kHz).

    >>> ms_to_samples(20), ms_to_samples(samples_to_ms(4800))
    (480, 4800)
    """
    return (milliseconds * rate_hz * 2 + 1000) // 2000


def seconds_to_ms(seconds: float) -> int:
    """Seconds from a file (3 decimals, Appendix F.3) to integer milliseconds.

    >>> seconds_to_ms(1.0005), seconds_to_ms(2.5)
    (1001, 2500)
    """
    return int(seconds * 1000 + 0.5) if seconds >= 0 else -int(-seconds * 1000 + 0.5)


def merge(spans: Iterable[Interval], gap_ms: int) -> tuple[Interval, ...]:
    """Join spans less than ``gap_ms`` apart into utterances (Appendix C.2; strict)::

        spans   |---|  |----|        |--|
        gap          <gap     >=gap
        merged  |-----------|        |--|

    >>> merge([Interval(0, 100), Interval(399, 500), Interval(800, 900)], 300)
    (Interval(start_ms=0, end_ms=500), Interval(start_ms=800, end_ms=900))
    """
    merged: list[Interval] = []
    for span in sorted(spans):
        if merged and span.start_ms - merged[-1].end_ms < gap_ms:
            last = merged[-1]
            merged[-1] = Interval(last.start_ms, max(last.end_ms, span.end_ms))
        else:
            merged.append(span)
    return tuple(merged)


def overlap_ms(left: Sequence[Interval], right: Sequence[Interval]) -> int:
    """Total time covered by both sides; each side must not overlap itself.

    >>> overlap_ms([Interval(0, 100), Interval(200, 300)], [Interval(50, 250)])
    100
    """
    return sum((a & b).duration_ms for a in left for b in right)
