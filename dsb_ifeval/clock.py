"""Clocks. The only file that reads time; everything else is handed a clock.

A session counts integer milliseconds from its own zero. Hosted systems are paced by
``WallClock``; it reads the running event loop's time, so a test that swaps the loop for a
jumping one (``dsb_ifeval.testing``) needs no patching. Frame-synchronous local models need
no clock: their time is the number of frames exchanged.
"""

from __future__ import annotations

import asyncio
import time
from typing import Protocol


class Clock(Protocol):
    """Session time for the streaming engine."""

    def start(self) -> None:
        """Make now the session's zero."""

    def now_ms(self) -> int:
        """Milliseconds since :meth:`start`."""

    async def sleep_until(self, deadline_ms: int) -> None:
        """Return at the absolute session time; at once if it has passed."""


class WallClock:
    """Real time, from the running event loop. Deadlines are absolute, so nothing drifts."""

    def __init__(self) -> None:
        self._zero_s = 0.0

    def start(self) -> None:
        self._zero_s = asyncio.get_running_loop().time()

    def now_ms(self) -> int:
        elapsed_s = asyncio.get_running_loop().time() - self._zero_s
        return int(elapsed_s * 1000 + 1e-3)  # a deadline slept until is reached

    async def sleep_until(self, deadline_ms: int) -> None:
        delay_s = self._zero_s + deadline_ms / 1000 - asyncio.get_running_loop().time()
        await asyncio.sleep(max(0.0, delay_s))


class Stopwatch:
    """Elapsed wall time in seconds, for progress and real-time factors; never for scores."""

    def __init__(self) -> None:
        self._zero = time.perf_counter()

    def elapsed_s(self) -> float:
        return time.perf_counter() - self._zero


def pause(seconds: float) -> None:
    """Block for a moment; only for waiting on another process."""
    time.sleep(seconds)


def utc_now() -> str:
    """The date and time for provenance, ISO 8601 in UTC."""
    return time.strftime("%Y-%m-%dT%H:%M:%SZ", time.gmtime())
