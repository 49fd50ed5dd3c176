"""A progress bar over segments, on terminals only."""

from __future__ import annotations

import sys
from types import TracebackType
from typing import NoReturn

from tqdm import tqdm


class SegmentBar:
    """Shows segments done; silent when nothing is to be spoken or nobody is watching."""

    def __init__(self) -> None:
        self._bar: tqdm[NoReturn] | None = None

    def __enter__(self) -> SegmentBar:
        return self

    def update(self, done: int, total: int) -> None:
        """Note that ``done`` of ``total`` segments are spoken."""
        if self._bar is None and total:
            print(f"{total} segments to speak, the rest are in the cache", file=sys.stderr)
            self._bar = tqdm(total=total, unit="segment", desc="speaking", disable=None)
        if self._bar is not None:
            self._bar.update(done - self._bar.n)

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        traceback: TracebackType | None,
    ) -> None:
        if self._bar is not None:
            self._bar.close()
