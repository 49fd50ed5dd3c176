"""Where the benchmark's data files are, found the same way in every kind of install."""

from __future__ import annotations

from functools import cache
from pathlib import Path

from dsb_ifeval.errors import SpecError

_HERE = Path(__file__).resolve().parent
_MARKER = "roles.yaml"


@cache
def spec_dir() -> Path:
    """The folder of the benchmark's YAML files.

    A wheel carries it inside the package; a checkout and an editable install have it
    beside the package.

    Raises:
        SpecError: neither place holds it (a broken install).
    """
    for candidate in (_HERE / "spec", _HERE.parent / "spec"):
        if (candidate / _MARKER).is_file():
            return candidate
    raise SpecError(
        [f"{_HERE}: no spec/{_MARKER} beside or inside the package; reinstall dsb-ifeval"]
    )
