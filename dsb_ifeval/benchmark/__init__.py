"""The benchmark's definitions: ``spec/`` read, checked and typed.

>>> benchmark = load_benchmark()
>>> len(benchmark.roles), len(benchmark.probes)
(8, 20)
>>> system_prompt(benchmark, "R2", "C1", 1, Level.L1)[:28]
'Remain silent while the user'
"""

from __future__ import annotations

from dsb_ifeval.benchmark.leakage import LeakageResult, check_personas
from dsb_ifeval.benchmark.load import load_benchmark
from dsb_ifeval.benchmark.model import Benchmark
from dsb_ifeval.benchmark.prompts import contradiction, safety_line, system_prompt
from dsb_ifeval.vocab import Level

__all__ = [
    "Benchmark",
    "LeakageResult",
    "Level",
    "check_personas",
    "contradiction",
    "load_benchmark",
    "safety_line",
    "system_prompt",
]
