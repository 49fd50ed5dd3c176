"""Shared by the session tests. Times are ms on the session clock; one tick is 20 ms."""

from __future__ import annotations

import pytest

from dsb_ifeval.benchmark import load_benchmark

TRACKER_MS = 64
"""How far a tracked onset or offset may be from the scripted one: two blocks of the VAD."""


@pytest.fixture(scope="session")
def constants():
    return load_benchmark().session


@pytest.fixture(scope="session")
def near():
    """Assert that a grid time follows a tracked edge: exact, give or take blocks and a tick."""

    def check(found_ms: int, exact_ms: int) -> None:
        assert found_ms % 20 == 0
        assert exact_ms - TRACKER_MS <= found_ms <= exact_ms + TRACKER_MS + 20

    return check
