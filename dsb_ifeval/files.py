"""Writing files so that a crash, a kill or a full disk never leaves half of one.

Everything is written under a temporary name in the same folder and renamed. A reader sees
the old file or the new one.
"""

from __future__ import annotations

import json
import os
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from dsb_ifeval.errors import FileError

TEMPORARY_MARK = ".partial-"


@contextmanager
def replacing(path: Path) -> Iterator[Path]:
    """Give a temporary path to write to; on success it takes the name ``path``.

    Raises:
        FileError: the folder is not writable or the disk is full; names ``path``.
    """
    temporary = path.with_name(f"{TEMPORARY_MARK}{os.getpid()}-{path.name}")
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        yield temporary
        os.replace(temporary, path)
    except OSError as error:
        raise FileError(f"{path}: cannot write: {error.strerror or error}") from error
    finally:
        temporary.unlink(missing_ok=True)


def write_bytes(path: Path, data: bytes) -> None:
    """Write ``data`` atomically."""
    with replacing(path) as temporary:
        temporary.write_bytes(data)


def write_json(path: Path, value: Mapping[str, Any]) -> None:
    """Write readable JSON atomically, keys in the order given."""
    text = json.dumps(value, indent=1, ensure_ascii=False, allow_nan=False)
    write_bytes(path, (text + "\n").encode())


def read_json(path: Path) -> Any:
    """Read a JSON file.

    Raises:
        FileError: the file is missing or not JSON; names it.
    """
    try:
        return json.loads(path.read_bytes())
    except FileNotFoundError as error:
        raise FileError(f"{path}: no such file") from error
    except (OSError, ValueError) as error:
        raise FileError(f"{path}: not readable as JSON: {error}") from error
