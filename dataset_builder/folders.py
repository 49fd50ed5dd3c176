"""Replacing a dataset folder so that a reader never sees half of one.

Everything is written to a hidden sibling folder; at the end the old folder is moved aside, the
new one takes its name, and the old one is deleted. A build that dies in between leaves the
old dataset, under its own name or (between the two renames) under the aside name, from which
the next build restores it. Only what the builder wrote is ever deleted: a folder with anything
else in it is refused.
"""

from __future__ import annotations

import errno
import json
import os
import re
import shutil
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

from .errors import BuildError

MANIFEST = "manifest.json"
"""The file that, with ``MANIFEST_KEYS`` in it, marks a folder as a built dataset."""

MANIFEST_KEYS = frozenset(("manifest_sha256", "engine", "spec_version"))
"""What tells our manifest from others of that name (web extensions have one)."""

_WRITTEN = re.compile(rf"README\.md|{re.escape(MANIFEST)}|data/test-[^/]*\.parquet")


@contextmanager
def replacing(target: Path) -> Iterator[Path]:
    """A folder to fill, which becomes ``target`` when the block ends without an exception.

    Args:
        target: the folder to replace; anything but an empty folder or a built dataset is left
            alone.

    Raises:
        BuildError: ``target`` is something else, cannot be written, or the disk is full.
    """
    target = target.resolve()
    aside = target.with_name(f".{target.name}.old")
    fresh = target.with_name(f".{target.name}.building-{os.getpid()}")
    with _explained(target):
        check_replaceable(target)
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


def check_replaceable(target: Path) -> None:
    """Refuse a target that cannot be written or is not a dataset of ours.

    Raises:
        BuildError: no permission, or ``target`` is a file or a folder of other things.
    """
    with _explained(target):
        existing = next(path for path in (target, *target.parents) if path.exists())
        if existing is not target and not existing.is_dir():
            raise BuildError(f"cannot write {target}: not a folder: {existing}")
        if not os.access(existing if existing.is_dir() else existing.parent, os.W_OK | os.X_OK):
            raise BuildError(f"cannot write {target}: no permission for {existing}")
        if existing is target:
            _check_ours(target)


def _check_ours(target: Path) -> None:
    """Refuse anything but an empty folder, or a dataset with nothing of the user's in it."""
    if not target.is_dir():
        raise BuildError(f"{target} is a file; choose another --out")
    if not any(target.iterdir()):
        return
    if not (target / MANIFEST).is_file():
        problem = f"holds no {MANIFEST}"
    elif not _is_our_manifest(target / MANIFEST):
        problem = f"its {MANIFEST} is not one of a built dataset"
    else:
        _check_nothing_foreign(target)
        return
    raise BuildError(
        f"{target} exists and {problem}, so it is not a built dataset and will not be replaced; "
        "choose another --out"
    )


def _is_our_manifest(path: Path) -> bool:
    try:
        manifest = json.loads(path.read_bytes())
    except (ValueError, RecursionError):
        return False
    return isinstance(manifest, dict) and manifest.keys() >= MANIFEST_KEYS


def _check_nothing_foreign(folder: Path) -> None:
    foreign = next(_foreign(folder), None)
    if foreign:
        raise BuildError(
            f"{folder} holds {foreign}, which no build wrote, and will not be replaced; move it "
            "away or choose another --out"
        )


def _foreign(folder: Path) -> Iterator[str]:
    """What the builder did not write, as paths in the folder; links count, wherever they lead."""
    for path in sorted(folder.iterdir()):
        if path.name == "data" and path.is_dir() and not path.is_symlink():
            inside = sorted(path.iterdir())
        else:
            inside = [path]
        for found in inside:
            name = found.relative_to(folder).as_posix()
            if found.is_symlink() or not found.is_file() or not _WRITTEN.fullmatch(name):
                yield name


def _tidy_up(target: Path, aside: Path) -> None:
    """Undo what a killed build left behind."""
    if aside.exists():
        _check_nothing_foreign(aside)  # without a manifest where its removal was interrupted
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
        older = os.path.isfile(target / MANIFEST)  # unlike Path.is_file, never raises
        kept = "; an older dataset there is untouched" if older else ""
        raise BuildError(f"cannot write {target}: {reason}{kept}") from error
