"""Operating limits of a case: Table 18 defaults, the role's overrides, the case's own values."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

from dsb_ifeval.benchmark import load_benchmark
from dsb_ifeval.benchmark.model import Params
from dsb_ifeval.cases import Case
from dsb_ifeval.errors import DatasetError


@dataclass(frozen=True, slots=True)
class Thresholds:
    """Limits in integer ms and counts; a verifier uses only its action's."""

    max_wait_ms: int = 2000
    max_latency_ms: int = 600
    bc_ceiling_ms: int = 1000
    bc_window_max: int = 1
    min_coverage: float = 0.90

    @classmethod
    def from_params(cls, params: Params) -> Thresholds:
        """From a manifest's ``verifier.params`` (paper names and units).

        Raises:
            ValueError: an unknown parameter, or a value that is not a finite number >= 0.
        """
        values: dict[str, Any] = {}
        for name, value in params.items():
            if name not in _PARAMETERS:
                raise ValueError(f"unknown parameter {name!r}; known: {sorted(_PARAMETERS)}")
            if not _is_quantity(value):
                raise ValueError(f"{name}: got {value!r}, expected a number >= 0")
            field, convert = _PARAMETERS[name]
            values[field] = convert(value)
        return cls(**values)


_PARAMETERS: Mapping[str, tuple[str, Callable[[float], float]]] = {
    "max_wait_s": ("max_wait_ms", lambda seconds: round(seconds * 1000)),
    "max_latency_ms": ("max_latency_ms", round),
    "bc_ceiling_s": ("bc_ceiling_ms", lambda seconds: round(seconds * 1000)),
    "bc_window_max": ("bc_window_max", round),
    "min_coverage": ("min_coverage", float),
}


def thresholds_of(case: Case) -> Thresholds:
    """The limits a case is judged by.

    Raises:
        DatasetError: its ``verifier.params`` cannot be used; names case and parameter.
    """
    defaults = load_benchmark().actions[case.expected_action].params
    try:
        return Thresholds.from_params({**defaults, **case.verifier.params})
    except ValueError as error:
        raise DatasetError(f"case {case.case_id}: threshold {error}") from error


def _is_quantity(value: object) -> bool:
    if isinstance(value, bool) or not isinstance(value, int | float):
        return False
    return math.isfinite(value) and value >= 0
