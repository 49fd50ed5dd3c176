"""Who made a number and with what: run provenance and score signatures."""

from __future__ import annotations

import platform
from collections.abc import Mapping
from importlib.metadata import PackageNotFoundError, version
from typing import Any

from dsb_ifeval._version import __version__
from dsb_ifeval.benchmark.model import VadSettings
from dsb_ifeval.clock import utc_now
from dsb_ifeval.vad import vad_signature

_PACKAGES = ("numpy", "onnxruntime", "soundfile", "soxr", "pyarrow")


def package_versions(names: tuple[str, ...] = _PACKAGES) -> dict[str, str]:
    """Installed versions of the packages that can move a number."""
    found = {}
    for name in names:
        try:
            found[name] = version(name)
        except PackageNotFoundError:
            continue
    return found


def machine() -> dict[str, str]:
    """The machine and interpreter, without names or addresses."""
    return {
        "python": platform.python_version(),
        "system": platform.system(),
        "machine": platform.machine(),
    }


def run_info(fields: Mapping[str, Any]) -> dict[str, Any]:
    """Content of ``run.json``: the given identity plus versions, machine and date."""
    return {
        "format": 1,
        **fields,
        "version": __version__,
        "packages": package_versions(),
        "machine": machine(),
        "started": utc_now(),
    }


def score_signature(spec_version: str, vad: VadSettings, rendering: str = "placed") -> str:
    """All settings that could change a score, in one line (printed with every number)."""
    return "|".join(
        [
            "IAS",
            f"rendering:{rendering}",
            vad_signature(vad),
            f"merge:{vad.merge_gap_ms}ms",
            "thresholds:manifest",
            f"spec:{spec_version}",
            f"dsb-ifeval:{__version__}",
        ]
    )
