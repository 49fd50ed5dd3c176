"""Replacing a dataset folder so that a reader never sees half of one.

Everything is written to a hidden sibling folder; at the end the old folder is moved aside, the
new one takes its name, and the old one is deleted. A build that dies in between leaves the
old dataset, under its own name or (between the two renames) under the aside name, from which
the next build restores it.
"""

from __future__ import annotations

import errno
import os
import shutil
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

from .errors import BuildError


@contextmanager
def replacing(target: Path, marker: str) -> Iterator[Path]:
    """A folder to fill, which becomes ``target`` when the block ends without an exception.

    Args:
        target: the folder to replace; anything without ``marker`` in it is left alone.
        marker: name of a file that only a folder written here has.

    Raises:
        BuildError: ``target`` is something else, cannot be written, or the disk is full.
    """
    target = target.resolve()
    aside = target.with_name(f".{target.name}.old")
    fresh = target.with_name(f".{target.name}.building-{os.getpid()}")
    with _explained(target):
        check_replaceable(target, marker)
        _tidy_up(target, aside)
        target.parent.mkdir(parents=True, exist_ok=True)
        fresh.mkdir()
        try:
            yield fresh
            if target.exists():
                os.rename(target, aside)
            os.rename(fresh, target)
        except BaseException:
            shutil.rmtree(fresh, ignore_errors=True)
            if aside.exists() and not target.exists():
                os.rename(aside, target)
            raise
        shutil.rmtree(aside, ignore_errors=True)


def check_replaceable(target: Path, marker: str) -> None:
    """Refuse a target that cannot be written or is not a dataset of ours.

    Raises:
        BuildError: no permission, or ``target`` is a file or a folder of other things.
    """
    existing = next(path for path in (target, *target.parents) if path.exists())
    if not os.access(existing if existing.is_dir() else existing.parent, os.W_OK | os.X_OK):
        raise BuildError(f"cannot write {target}: no permission for {existing}")
    if existing is not target:
        return
    if not target.is_dir():
        raise BuildError(f"{target} is a file; choose another --out")
    if any(target.iterdir()) and not (target / marker).is_file():
        raise BuildError(
            f"{target} exists and holds no {marker}, so it is not a built dataset and will not "
            "be replaced; choose another --out"
        )


def _tidy_up(target: Path, aside: Path) -> None:
    """Undo what a killed build left behind."""
    if aside.exists():
        if target.exists():
            shutil.rmtree(aside)
        else:
            os.rename(aside, target)
    for leftover in target.parent.glob(f".{target.name}.building-*"):
        pid = leftover.name.rpartition("-")[2]
        if pid.isdigit() and not _is_running(int(pid)):
            shutil.rmtree(leftover, ignore_errors=True)


def _is_running(pid: int) -> bool:
    with suppress(ProcessLookupError):
        with suppress(PermissionError):
            os.kill(pid, 0)
        return True
    return False


@contextmanager
def _explained(target: Path) -> Iterator[None]:
    """Turn the operating system's refusals into one clear line."""
    try:
        yield
    except OSError as error:
        if error.errno in (errno.ENOSPC, errno.EDQUOT):
            reason = "the disk is full"
        else:
            reason = error.strerror or str(error)
        raise BuildError(
            f"cannot write {target}: {reason}; an older dataset there is untouched"
        ) from error
