"""DuplexSpeechBench-IFEval: does a voice agent behave on the floor as its role implies?

The stages are plain typed values, each with a form on disk, so that any can be rerun alone::

    spec -> cases -> session -> recording -> measurement -> verdict -> metrics -> report

Importing the package loads nothing heavy; the names below are imported on first use.
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

from dsb_ifeval._version import __version__

if TYPE_CHECKING:
    from dsb_ifeval.adapters import load_system
    from dsb_ifeval.benchmark import load_benchmark
    from dsb_ifeval.dataset import Dataset
    from dsb_ifeval.errors import DsbError
    from dsb_ifeval.events import Output
    from dsb_ifeval.runner import RunOptions, run_system
    from dsb_ifeval.score import score_run

_HOMES = {
    "Dataset": "dsb_ifeval.dataset",
    "DsbError": "dsb_ifeval.errors",
    "Output": "dsb_ifeval.events",
    "RunOptions": "dsb_ifeval.runner",
    "load_benchmark": "dsb_ifeval.benchmark",
    "load_system": "dsb_ifeval.adapters",
    "run_system": "dsb_ifeval.runner",
    "score_run": "dsb_ifeval.score",
}

__all__ = [
    "Dataset",
    "DsbError",
    "Output",
    "RunOptions",
    "__version__",
    "load_benchmark",
    "load_system",
    "run_system",
    "score_run",
]


def __getattr__(name: str) -> Any:
    if name in _HOMES:
        return getattr(import_module(_HOMES[name]), name)
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")


def __dir__() -> list[str]:
    return __all__
