"""IAS: N, unscored cases, Wilson intervals (section 8) and groups."""

from __future__ import annotations

import pytest

from dsb_ifeval.aggregate import Ias, grouped, ias
from dsb_ifeval.report import outcome_counts
from dsb_ifeval.verifiers import Outcome, Verdict, unscored
from dsb_ifeval.vocab import Action, Level

pytestmark = pytest.mark.unit


def verdicts(marks):
    """``p`` pass, ``f`` fail, ``u`` unscored."""
    outcome = {"p": Outcome.PASS, "f": Outcome.FAIL, "u": Outcome.UNSCORED}
    return [Verdict(f"case{number}", outcome[mark]) for number, mark in enumerate(marks)]


@pytest.mark.parametrize(
    ("marks", "counts", "rate"),
    [
        ("", (0, 0, 0), None),
        ("p", (1, 1, 0), 1.0),
        ("f", (0, 1, 0), 0.0),
        ("u", (0, 0, 1), None),
        ("ppff", (2, 4, 0), 0.5),
        ("ppfu", (2, 3, 1), 2 / 3),
        ("uuup", (1, 1, 3), 1.0),
        ("uuuf", (0, 1, 3), 0.0),
    ],
)
def test_counts(marks, counts, rate):
    found = ias(verdicts(marks))
    assert (found.passed, found.scored, found.unscored) == counts
    assert found.rate == rate


@pytest.mark.parametrize("extra", [1, 7, 100])
def test_unscored_moves_neither_rate_nor_interval(extra):
    without, with_some = ias(verdicts("pppff")), ias(verdicts("pppff" + "u" * extra))
    assert with_some.rate == without.rate
    assert with_some.interval() == without.interval()
    assert with_some.scored == without.scored
    assert with_some.unscored == extra


def test_any_iterable_of_verdicts():
    assert ias(iter(verdicts("pfu"))) == Ias(1, 2, 1)


def test_nothing_scored_has_no_interval():
    assert Ias(0, 0, 5).interval() is None


# statsmodels 0.15.0 (scipy 1.17.1):
#   statsmodels.stats.proportion.proportion_confint(k, n, alpha, method="wilson")
# R: prop.test(k, n, conf.level = 0.95, correct = FALSE)$conf.int is the same interval:
#   z <- qnorm(1 - alpha/2); p <- k/n; d <- 1 + z^2/n
#   (p + z^2/(2*n) + c(-1, 1) * z * sqrt(p*(1-p)/n + z^2/(4*n^2))) / d
WILSON_95 = [
    (0, 1, 0.000000000000, 0.793450685623),
    (1, 1, 0.206549314377, 1.000000000000),
    (0, 10, 0.000000000000, 0.277532799863),
    (10, 10, 0.722467200137, 1.000000000000),
    (1, 10, 0.017876213095, 0.404150026795),
    (5, 10, 0.236593090513, 0.763406909487),
    (3, 21, 0.049810124997, 0.346360602806),
    (7, 21, 0.171947526051, 0.546265480257),
    (37, 48, 0.634607359100, 0.866921737331),
    (120, 240, 0.437242689785, 0.562757310215),
    (1, 1038, 0.000170082439, 0.005436777195),
    (1037, 1038, 0.994563222805, 0.999829917561),
    (621, 1038, 0.568132401047, 0.627674742422),
]
WILSON_90 = [
    (0, 10, 0.000000000000, 0.212941970083),
    (3, 21, 0.058571401520, 0.308665210075),
    (37, 48, 0.658226847243, 0.854537600762),
    (120, 240, 0.447209300916, 0.552790699084),
    (621, 1038, 0.573012592542, 0.623008271652),
]


@pytest.mark.parametrize(("passed", "scored", "low", "high"), WILSON_95)
def test_wilson_95(passed, scored, low, high):
    assert Ias(passed, scored, 0).interval() == pytest.approx((low, high), abs=1e-11)


@pytest.mark.parametrize(("passed", "scored", "low", "high"), WILSON_90)
def test_wilson_90(passed, scored, low, high):
    assert Ias(passed, scored, 0).interval(0.90) == pytest.approx((low, high), abs=1e-11)


@pytest.mark.parametrize("scored", [1, 5, 48, 240, 1038])
def test_interval_stays_in_0_1_and_holds_the_rate(scored):
    for passed in {0, 1, scored // 2, scored - 1, scored}:
        cell = Ias(passed, scored, 0)
        low, high = cell.interval()
        assert 0.0 <= low <= cell.rate <= high <= 1.0
        mirrored = Ias(scored - passed, scored, 0).interval()
        assert mirrored == pytest.approx((1 - high, 1 - low), abs=1e-12)


# ---- groups


@pytest.fixture(scope="module")
def cases(make_case):
    return [
        make_case(Action.YIELD, role="R4", instance=1),
        make_case(Action.LISTEN, role="R2", instance=1),
        make_case(Action.YIELD, role="R4", instance=2, level=Level.L1),
        make_case(Action.YIELD, role="R2", instance=3),
    ]


def of(cases, marks):
    outcome = {"p": Outcome.PASS, "f": Outcome.FAIL, "u": Outcome.UNSCORED}
    return [Verdict(c.case_id, outcome[mark]) for c, mark in zip(cases, marks, strict=True)]


def test_groups_in_order_of_first_appearance(cases):
    found = grouped(cases, of(cases, "pfup"), lambda case: case.role)
    assert list(found.items()) == [("R4", Ias(1, 1, 1)), ("R2", Ias(1, 2, 0))]


def test_groups_by_several_keys(cases):
    found = grouped(cases, of(cases, "pfup"), lambda case: (case.expected_action, case.level))
    assert found == {
        (Action.YIELD, Level.L2): Ias(2, 2, 0),
        (Action.LISTEN, Level.L2): Ias(0, 1, 0),
        (Action.YIELD, Level.L1): Ias(0, 0, 1),
    }


def test_groups_add_up_to_the_whole(cases):
    marks = of(cases, "pfup")
    total, parts = ias(marks), grouped(cases, marks, lambda case: case.role).values()
    assert sum(part.passed for part in parts) == total.passed
    assert sum(part.scored for part in parts) == total.scored
    assert sum(part.unscored for part in parts) == total.unscored


def test_exchanged_verdicts_are_refused(cases):
    mixed = of(cases, "pfup")
    mixed[0], mixed[1] = mixed[1], mixed[0]
    with pytest.raises(ValueError, match="R2-C1-i1-L2"):
        grouped(cases, mixed, lambda case: case.role)


def test_missing_or_surplus_verdicts_are_refused(cases):
    complete = of(cases, "pfup")
    with pytest.raises(ValueError, match="argument 2"):
        grouped(cases, complete[:-1], lambda case: case.role)
    with pytest.raises(ValueError, match="argument 2"):
        grouped(cases, [*complete, unscored("x", "")], lambda case: case.role)


def test_no_cases():
    assert grouped([], [], lambda case: case.role) == {}


def test_outcome_counts_name_every_outcome():
    assert outcome_counts(verdicts("ppu")) == {
        Outcome.PASS: 2,
        Outcome.FAIL: 0,
        Outcome.UNSCORED: 1,
    }
