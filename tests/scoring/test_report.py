"""A scored run as text: numbers checked by hand, intervals by statsmodels 0.15.0."""

from __future__ import annotations

import pytest

from dsb_ifeval.report import case_text, run_table, text_table
from dsb_ifeval.score import Score, judge
from dsb_ifeval.verifiers import Outcome, Verdict, unscored
from dsb_ifeval.vocab import Action, Level

pytestmark = pytest.mark.unit

OUTCOME = {"p": Outcome.PASS, "f": Outcome.FAIL, "u": Outcome.UNSCORED}


@pytest.fixture(scope="module")
def score_of(make_case):
    """A score from ``(action, role, level, mark)`` rows."""

    def build(*rows, measurements=()):
        cases = [
            make_case(action, role=role, level=level, instance=number)
            for number, (action, role, level, _) in enumerate(rows, 1)
        ]
        verdicts = [
            Verdict(case.case_id, OUTCOME[row[3]], reason="because")
            for case, row in zip(cases, rows, strict=True)
        ]
        return Score(tuple(cases), tuple(measurements), tuple(verdicts), "IAS|spec:1")

    return build


@pytest.fixture(scope="module")
def small(score_of):
    return score_of(
        (Action.YIELD, "R4", Level.L2, "p"),
        (Action.LISTEN, "R2", Level.L1, "p"),
        (Action.LISTEN, "R4", Level.L2, "f"),
        (Action.LISTEN, "R2", Level.L2, "u"),
        (Action.YIELD, "R2", Level.L4b, "u"),
    )


def tables(text):
    return {block.split()[0]: [line.split() for line in block.splitlines()]
            for block in text.split("\n\n")}  # fmt: skip


def test_head_names_n_and_unscored(small):
    # 2 of 3 scored pass: 66.7 %; proportion_confint(2, 3, 0.05, "wilson") = .207660, .938510
    head = run_table("cascade", small).splitlines()[0]
    assert head == "cascade: 5 cases, 3 scored, 2 unscored, IAS 66.7 20.8-93.9"


def test_levels(small):
    rows = tables(run_table("x", small))["level"]
    assert rows[0] == ["level", "IAS", "%", "95", "%", "Wilson", "passed", "N", "unscored"]
    assert rows[1:] == [
        ["L1", "100.0", "20.7-100.0", "1", "1", "0"],
        ["L2", "50.0", "9.5-90.5", "1", "2", "1"],
        ["L4b", "-", "-", "0", "0", "1"],  # nothing scored is neither 0 nor 100
    ]


def test_actions_and_roles(small):
    found = tables(run_table("x", small))
    assert found["action"] == [
        ["action", "L1", "L2", "L4b", "all", "95", "%", "Wilson", "N"],
        ["LISTEN", "100.0", "0.0", "-", "50.0", "9.5-90.5", "2"],
        ["YIELD", "-", "100.0", "-", "100.0", "20.7-100.0", "1"],
    ]
    assert found["role"] == [
        ["role", "L1", "L2", "L4b", "all", "95", "%", "Wilson", "N"],
        ["R2", "100.0", "-", "-", "100.0", "20.7-100.0", "1"],
        ["R4", "-", "50.0", "-", "50.0", "9.5-90.5", "2"],
    ]


def test_signature_is_printed(small):
    assert run_table("x", small).splitlines()[-1] == "signature IAS|spec:1"


def test_unscored_cases_are_listed_with_their_reason(small):
    text = run_table("x", small)
    assert "unscored (2):\n  R2-C1-i4-L2: because\n  R2-C3-i5-L4b: because" in text


def test_a_complete_run_lists_no_unscored(score_of):
    text = run_table("x", score_of((Action.YIELD, "R4", Level.L2, "p")))
    assert "unscored (" not in text


def test_many_unscored_are_counted_and_cut(score_of):
    rows = [(Action.LISTEN, "R2", Level.L2, "u")] * 11
    text = run_table("x", score_of(*rows))
    assert "unscored (11):" in text
    assert text.count(": because") == 8
    assert "and 3 more" in text


def test_a_run_without_any_verdict(score_of):
    text = run_table("x", score_of((Action.LISTEN, "R2", Level.L2, "u")))
    assert text.startswith("x: 1 cases, 0 scored, 1 unscored, IAS - -")
    assert "0.0" not in text


def test_actions_stand_in_the_order_of_table_13(score_of):
    rows = [(action, "R1", Level.L2, "p") for action in reversed(Action)]
    names = [row[0] for row in tables(run_table("x", score_of(*rows)))["action"][1:]]
    assert names == [
        "LISTEN",
        "BACKCHANNEL",
        "NO_BACKCHANNEL",
        "INTERRUPT",
        "TAKE_TURN",
        "READBACK",
        "YIELD",
        "CONTINUE",
        "ACCEPT_OVERLAP",
    ]


def test_the_scored_action_is_shown_not_the_base_action(make_case):
    # R2_B at L4b counts as INTERRUPT (section 2: expected_action is what is scored)
    case = make_case(Action.INTERRUPT, role="R2", level=Level.L4b, probe_action=Action.BACKCHANNEL)
    verdict = Verdict(case.case_id, Outcome.PASS)
    rows = tables(run_table("x", Score((case,), (), (verdict,), "s")))["action"]
    assert [row[0] for row in rows[1:]] == ["INTERRUPT"]


def test_share_of_invalid_triggers(score_of, measured):
    # section 4: the share of barge-in cases whose model never spoke stands next to IAS
    rows = [(Action.YIELD, "R4", Level.L2, "p"), (Action.CONTINUE, "R7", Level.L2, "f")]
    silent = measured(Action.CONTINUE, record={"trigger_valid": False})
    other = measured(Action.LISTEN)
    spoke = measured(Action.YIELD, [(-3000, 200)])
    text = run_table("x", score_of(*rows, measurements=[spoke, silent, other]))
    assert "1 of 2 barge-in cases" in text
    assert "trigger_valid = false" in text


def test_the_share_of_invalid_triggers_is_shown_when_it_is_zero(score_of, measured):
    spoke = measured(Action.YIELD, [(-3000, 200)])
    row = (Action.YIELD, "R4", Level.L2, "p")
    assert "0 of 1 barge-in cases" in run_table("x", score_of(row, measurements=[spoke]))


# ---- one case taken apart


def test_case_text(make_case, measured):
    case = make_case(Action.YIELD, role="R4")
    m = measured(Action.YIELD, [(-3000, 601)], role="R4")
    lines = case_text(case, judge(case, m), m).splitlines()
    assert lines[0] == "R4-C3-i1-L2  YIELD  FAIL"
    assert "601 ms" in lines[1]
    assert lines[2] == "  measured 601 ms, limit 600, margin -1"
    text = "\n".join(lines)
    assert "window   20000-23000 ms" in text
    assert "17000-20601" in text
    assert "0-12000 20000-24000" in text
    assert "max_latency_ms" in text


def test_case_text_of_an_onset(make_case, measured):
    case = make_case(Action.TAKE_TURN)
    m = measured(Action.TAKE_TURN, [(1200, 2500)])
    text = case_text(case, judge(case, m), m)
    assert "TAKE_TURN  PASS" in text
    assert "measured 1200 ms, limit 2000, margin +800" in text
    assert "onset 1200 ms" in text


def test_case_text_without_a_measurement(make_case):
    case = make_case(Action.LISTEN)
    lines = case_text(case, unscored(case.case_id, "no record"), None).splitlines()
    assert lines[0] == "R1-C1-i1-L2  LISTEN  UNSCORED"
    assert "no record" in lines[1]
    assert not any(line.startswith(("  measured", "  window")) for line in lines)


def test_case_text_of_silence(make_case, measured):
    case = make_case(Action.LISTEN)
    m = measured(Action.LISTEN)
    text = case_text(case, judge(case, m), m)
    assert "label silent" in text
    assert "model    none" in text


def test_case_text_of_a_held_floor_names_no_onset(make_case, measured):
    # label floor_take without an onset in the window: there is no number to print
    case = make_case(Action.TAKE_TURN)
    m = measured(Action.TAKE_TURN, [(-500, 3000)])
    assert m.genuine_ms is None
    text = case_text(case, judge(case, m), m)
    assert "floor_take" in text
    assert "None" not in text


def test_long_prompts_are_cut_and_short_ones_not(make_case):
    case = make_case(Action.LISTEN)
    assert "'You are a test.'\n" in case_text(case, unscored(case.case_id, "x"), None)


# ---- layout


def test_text_table():
    rows = [["", "N", "IAS"], ["L4a", "240", "-"], ["L0", "8", "50.0"]]
    assert text_table(rows) == "       N   IAS\nL4a  240     -\nL0     8  50.0"


def test_text_table_leaves_no_trailing_blanks():
    assert all(line == line.rstrip() for line in text_table([["a", ""], ["b", "1"]]).splitlines())
