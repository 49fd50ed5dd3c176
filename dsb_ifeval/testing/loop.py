"""Virtual time for asyncio: waiting takes no wall time, and a hang is an error at once."""

from __future__ import annotations

import asyncio
import selectors
from collections.abc import Callable, Coroutine
from typing import Any, TypeVar

T = TypeVar("T")


class Hang(RuntimeError):
    """Every task waits and no timer will wake one: in real time the program would hang."""


class VirtualLoop(asyncio.SelectorEventLoop):
    """An event loop whose time jumps to the next timer as soon as every task waits.

    Time starts at 0. For code that waits on timers and on other tasks; a task that waits for
    a socket or a thread looks like a hang.
    """

    def __init__(self) -> None:
        self._now_s = 0.0
        super().__init__(_JumpingSelector(self._jump))

    def time(self) -> float:
        return self._now_s

    def block(self, seconds: float) -> None:
        """Let time pass without running anything, like a computation that blocks the loop."""
        self._now_s = round(self._now_s + seconds, 9)

    def _jump(self, seconds: float | None) -> None:
        if seconds is None:
            tasks = "; ".join(_whereabouts(task) for task in asyncio.all_tasks(self))
            raise Hang(f"no timer is scheduled and every task waits: {tasks}")
        self.block(seconds)  # to the nanosecond, so that sums of 20 ms stay on the grid


class _JumpingSelector(selectors.SelectSelector):
    def __init__(self, jump: Callable[[float | None], None]) -> None:
        super().__init__()
        self._jump = jump

    def select(self, timeout: float | None = None) -> list[tuple[selectors.SelectorKey, int]]:
        ready = super().select(0)
        if not ready and (timeout is None or timeout > 0):
            self._jump(timeout)
        return ready


def virtual_run(main: Coroutine[Any, Any, T]) -> T:
    """``asyncio.run`` on a :class:`VirtualLoop`; also on Python 3.10.

    Raises:
        Hang: no timer is scheduled and every task waits.
        AssertionError: ``main`` returned and left a task running.
    """
    loop = VirtualLoop()
    try:
        result = loop.run_until_complete(main)
        assert_no_tasks(loop)
        return result
    finally:
        left = asyncio.all_tasks(loop)
        for task in left:
            task.cancel()
        if left:
            loop.run_until_complete(asyncio.wait(left))
        loop.run_until_complete(loop.shutdown_asyncgens())
        loop.close()


def assert_no_tasks(loop: asyncio.AbstractEventLoop | None = None) -> None:
    """Fail when tasks other than the calling one are still running; names them."""
    loop = loop or asyncio.get_running_loop()
    left = asyncio.all_tasks(loop) - {asyncio.current_task(loop)}
    if left:
        raise AssertionError("left running: " + "; ".join(_whereabouts(task) for task in left))


def _whereabouts(task: asyncio.Task[Any]) -> str:
    name = getattr(task.get_coro(), "__qualname__", "?")
    lines = [f"{frame.f_code.co_filename}:{frame.f_lineno}" for frame in task.get_stack(limit=1)]
    return f"{task.get_name()} ({name}{' at ' if lines else ''}{''.join(lines)})"
