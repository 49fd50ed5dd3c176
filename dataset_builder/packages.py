"""Asking for optional packages by name, before the work that needs them begins."""

from __future__ import annotations

import importlib.util
from collections.abc import Iterable

from dsb_ifeval.errors import AdapterUnavailable

Package = tuple[str, str]
"""Module to import, package to install."""

WRITER: tuple[Package, ...] = (
    ("datasets", "datasets"),
    ("huggingface_hub", "huggingface_hub"),
    ("pyarrow", "pyarrow"),
    ("soundfile", "soundfile"),
)
"""What writing the dataset folder needs."""


def missing_packages(packages: Iterable[Package]) -> list[str]:
    """The packages that are not installed; nothing is imported."""
    return [package for module, package in packages if importlib.util.find_spec(module) is None]


def require(purpose: str, packages: Iterable[Package]) -> None:
    """Refuse to go on without packages.

    Raises:
        AdapterUnavailable: names what is missing and how to install it.
    """
    missing = missing_packages(packages)
    if missing:
        raise AdapterUnavailable(
            f"{purpose} needs {', '.join(missing)}: pip install 'dsb-ifeval[builder]' "
            "(in a checkout: pip install -e '.[builder]')"
        )
