"""Time as integer milliseconds: intervals, the 0.3 s merge (C.2), conversions."""

from __future__ import annotations

import pytest

from dsb_ifeval.intervals import (
    Interval,
    merge,
    ms_to_samples,
    overlap_ms,
    samples_to_ms,
    seconds_to_ms,
)

pytestmark = pytest.mark.unit


def spans(*pairs):
    return tuple(Interval(start, end) for start, end in pairs)


@pytest.mark.parametrize(
    ("left", "right", "common"),
    [
        ((0, 10), (5, 20), (5, 10)),
        ((5, 20), (0, 10), (5, 10)),
        ((0, 10), (2, 4), (2, 4)),
        ((0, 10), (0, 10), (0, 10)),
        ((0, 10), (9, 20), (9, 10)),
    ],
)
def test_intersection(left, right, common):
    assert Interval(*left) & Interval(*right) == Interval(*common)


@pytest.mark.parametrize(("left", "right"), [((0, 10), (10, 20)), ((0, 10), (15, 20))])
def test_touching_or_apart_is_empty_both_ways(left, right):
    for a, b in ((left, right), (right, left)):
        common = Interval(*a) & Interval(*b)
        assert not common
        assert common.duration_ms == 0


def test_half_open():
    assert 0 in Interval(0, 10)
    assert 9 in Interval(0, 10)
    assert 10 not in Interval(0, 10)
    assert -1 not in Interval(0, 10)


def test_empty_is_false_and_has_no_duration():
    assert not Interval(5, 5)
    assert not Interval(5, 4)
    assert Interval(5, 4).duration_ms == 0
    assert Interval(5, 6)
    assert Interval(5, 6).duration_ms == 1


def test_shift():
    assert Interval(3, 8).shift(10) == Interval(13, 18)
    assert Interval(3, 8).shift(-10) == Interval(-7, -2)


# C.2: "Adjacent spans within 0.3 s are merged"; benchmark.md section 4: "less than 0.3 s apart"
@pytest.mark.parametrize(
    ("gap", "expected"),
    [
        (0, [(0, 100 + 0 + 100)]),
        (1, [(0, 201)]),
        (299, [(0, 499)]),
        (300, [(0, 100), (400, 500)]),
        (301, [(0, 100), (401, 501)]),
    ],
)
def test_merge_gap_is_strict(gap, expected):
    second = 100 + gap
    assert merge(spans((0, 100), (second, second + 100)), 300) == spans(*expected)


def test_merge_sorts_first():
    assert merge(spans((900, 950), (0, 100), (200, 300)), 300) == spans((0, 300), (900, 950))


def test_merge_chains_small_gaps():
    # 299 ms three times: one utterance however long it gets
    given = spans((0, 100), (399, 500), (799, 900), (1199, 1300))
    assert merge(given, 300) == spans((0, 1300))


def test_merge_keeps_the_longest_end():
    # the short span lies inside the long one; the third is 300 ms from the LONG one's end
    assert merge(spans((0, 1000), (100, 200), (1300, 1400)), 300) == spans((0, 1000), (1300, 1400))
    assert merge(spans((0, 1000), (100, 200), (1299, 1400)), 300) == spans((0, 1400))


def test_merge_of_nothing_and_one():
    assert merge([], 300) == ()
    assert merge(iter(spans((5, 6))), 300) == spans((5, 6))


def test_merge_without_gap_joins_only_overlap():
    assert merge(spans((0, 10), (10, 20)), 0) == spans((0, 10), (10, 20))
    assert merge(spans((0, 10), (9, 20)), 0) == spans((0, 20))


@pytest.mark.parametrize(
    ("left", "right", "expected"),
    [
        ([], [(0, 10)], 0),
        ([(0, 10)], [(10, 20)], 0),
        ([(0, 10)], [(9, 20)], 1),
        ([(0, 100), (200, 300)], [(50, 250)], 50 + 50),
        ([(0, 100), (200, 300)], [(0, 50), (90, 210), (299, 400)], 50 + 10 + 10 + 1),
    ],
)
def test_overlap(left, right, expected):
    assert overlap_ms(spans(*left), spans(*right)) == expected
    assert overlap_ms(spans(*right), spans(*left)) == expected


# 24 samples are 1 ms; half of them round up
@pytest.mark.parametrize(
    ("samples", "ms"),
    [(0, 0), (11, 0), (12, 1), (24, 1), (35, 1), (36, 2), (24_000, 1000), (24_011, 1000)],
)
def test_samples_to_ms_at_24_khz(samples, ms):
    assert samples_to_ms(samples) == ms


@pytest.mark.parametrize(
    ("samples", "rate", "ms"),
    [(8, 16_000, 1), (7, 16_000, 0), (16_000, 16_000, 1000), (441, 44_100, 10), (22, 44_100, 0)],
)
def test_samples_to_ms_at_other_rates(samples, rate, ms):
    assert samples_to_ms(samples, rate) == ms


@pytest.mark.parametrize(
    ("ms", "rate", "samples"),
    [
        (20, 24_000, 480),
        (1, 24_000, 24),
        (0, 24_000, 0),
        (1, 44_100, 44),  # 44.1
        (5, 44_100, 221),  # 220.5 rounds up
        (15, 44_100, 662),  # 661.5 rounds up
    ],
)
def test_ms_to_samples(ms, rate, samples):
    assert ms_to_samples(ms, rate) == samples


@pytest.mark.parametrize(
    ("seconds", "ms"),
    [(0.6, 600), (0.29, 290), (1.001, 1001), (2.675, 2675), (-0.3, -300), (0, 0), (11.4, 11_400)],
)
def test_seconds_to_ms(seconds, ms):
    assert seconds_to_ms(seconds) == ms


def test_every_three_decimal_second_comes_back():
    # what a manifest holds: ms / 1000 written with three decimals
    assert all(seconds_to_ms(ms / 1000) == ms for ms in range(-2000, 90_000, 7))
