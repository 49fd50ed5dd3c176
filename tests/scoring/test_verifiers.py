"""The nine verifiers at, just inside and just outside every threshold.

Expectations come from benchmark.md section 4 and paper C.4, Table 18; spans are in ms
relative to w0. ``P`` and ``F`` in the tables are pass and fail.
"""

from __future__ import annotations

import re
from dataclasses import replace

import pytest

from dsb_ifeval.benchmark import load_benchmark
from dsb_ifeval.cases import make_case as case_of
from dsb_ifeval.cases import verifier_for
from dsb_ifeval.errors import DatasetError
from dsb_ifeval.score import judge
from dsb_ifeval.thresholds import Thresholds
from dsb_ifeval.verifiers import VERIFIERS, Outcome, unscored, verify
from dsb_ifeval.vocab import Action, Level, Transcript

pytestmark = pytest.mark.unit

P, F = Outcome.PASS, Outcome.FAIL


def numbers(verdict):
    """The numbers a reason names, as text."""
    return re.findall(r"\d+(?:\.\d+)?", verdict.reason)


def compared(verdict):
    return verdict.value, verdict.limit, verdict.unit, verdict.margin


# ---- LISTEN and NO_BACKCHANNEL: label = silent

LISTEN_WINDOW = 2500
NO_BC_WINDOW = 1500


def quiet_cases(end):
    return [
        ([], P),
        ([(-1000, 0)], P),  # touches w0 by 0 ms
        ([(-1000, 1)], F),  # began before w0, runs into the window by 1 ms
        ([(0, 90)], F),
        ([(500, 700)], F),  # a short sound is speech too
        ([(end - 1, end + 900)], F),
        ([(end, end + 900)], P),  # touches w1 by 0 ms
        ([(-1000, end + 900)], F),  # spans the whole window
        ([(-1000, -400), (end + 100, end + 900)], P),  # on both sides of it
    ]


@pytest.mark.parametrize(("spans", "outcome"), quiet_cases(LISTEN_WINDOW))
def test_listen(judged, spans, outcome):
    assert judged(Action.LISTEN, spans).outcome is outcome


@pytest.mark.parametrize(("spans", "outcome"), quiet_cases(NO_BC_WINDOW))
def test_no_backchannel(judged, spans, outcome):
    assert judged(Action.NO_BACKCHANNEL, spans).outcome is outcome


def test_onset_only_reading_can_be_recomputed(measured):
    # Table 18 would let speech that began before w0 pass; section 4 keeps the count for that
    m = measured(Action.LISTEN, [(-1000, 1200)])
    assert (m.onsets_in_window, m.spans_in_window) == (0, 1)


def test_listen_reasons(judged):
    assert judged(Action.LISTEN).reason == "silent throughout the window"
    spoke = judged(Action.LISTEN, [(300, 600), (1000, 1200)])
    assert numbers(spoke) == ["2"]
    assert "into" not in spoke.reason
    assert "into" in judged(Action.LISTEN, [(-300, 600)]).reason


@pytest.mark.parametrize("action", [Action.LISTEN, Action.NO_BACKCHANNEL])
@pytest.mark.parametrize("spans", [[(200, 600)], [(-500, 100), (900, 1400)]])
def test_the_margin_of_a_broken_silence_is_the_speech_in_it(judged, action, spans):
    # Verdict: "margin: distance to the limit in `unit`"
    verdict = judged(action, spans)
    assert verdict.unit == "ms"
    assert verdict.margin == verdict.limit - verdict.value


@pytest.mark.parametrize("action", [Action.LISTEN, Action.NO_BACKCHANNEL])
def test_the_margin_of_a_kept_silence_is_the_nearest_speech(judged, action):
    # Verdict: speech from -800 to -300 ends 300 ms before the window
    assert compared(judged(action, [(-800, -300)])) == (0, 0, "ms", 300)
    assert compared(judged(action)) == (0, 0, "ms", None)


# ---- TAKE_TURN (2.0 s) and INTERRUPT (1500 ms): genuine within the limit


@pytest.mark.parametrize(("action", "limit"), [(Action.TAKE_TURN, 2000), (Action.INTERRUPT, 1500)])
class TestOnset:
    @pytest.mark.parametrize(("late", "outcome"), [(-1, P), (0, P), (1, F)])
    def test_at_the_limit(self, judged, action, limit, late, outcome):
        verdict = judged(action, [(limit + late, limit + 900)])
        assert verdict.outcome is outcome
        assert compared(verdict) == (limit + late, limit, "ms", -late)
        assert numbers(verdict) == [str(limit + late), str(limit)]

    def test_onset_at_w0(self, judged, action, limit):
        verdict = judged(action, [(0, 900)])
        assert verdict.outcome is P
        assert compared(verdict) == (0, limit, "ms", limit)

    def test_one_ms_before_w0_already_held_the_floor(self, judged, action, limit):
        verdict = judged(action, [(-1, 900)])
        assert verdict.outcome is F
        assert compared(verdict) == (None, limit, "ms", None)
        assert "already held the floor" in verdict.reason

    def test_speech_that_ends_at_w0_held_nothing(self, judged, action, limit):
        verdict = judged(action, [(-900, 0)])
        assert verdict.outcome is F
        assert "already held" not in verdict.reason

    def test_silence(self, judged, action, limit):
        verdict = judged(action)
        assert verdict.outcome is F
        assert "did not start to speak" in verdict.reason

    def test_a_new_onset_after_speech_that_held_the_floor(self, judged, action, limit):
        verdict = judged(action, [(-900, 200), (800, 1400)])
        assert (verdict.outcome, verdict.value) == (P, 800)

    def test_a_continued_utterance_is_no_new_onset(self, judged, action, limit):
        assert judged(action, [(-900, 200), (499, 1400)]).outcome is F  # 299 ms: merged
        assert judged(action, [(-900, 200), (500, 1400)]).outcome is P  # 300 ms: not

    def test_the_first_onset_counts(self, judged, action, limit):
        assert judged(action, [(limit - 500, limit - 400), (limit + 50, 9000)]).value == limit - 500

    def test_a_short_sound_is_an_onset(self, judged, action, limit):
        # section 4 asks for the onset, not for a length
        assert judged(action, [(300, 400)]).outcome is P


def test_onset_at_w1_is_inside_and_one_ms_later_is_not(judged):
    generous = {"max_wait_s": 60.0}
    assert judged(Action.TAKE_TURN, [(2500, 3000)], params=generous).outcome is P
    assert judged(Action.TAKE_TURN, [(2501, 3000)], params=generous).outcome is F
    generous = {"max_latency_ms": 60_000}
    assert judged(Action.INTERRUPT, [(6000, 7000)], params=generous).outcome is P
    assert judged(Action.INTERRUPT, [(6001, 7000)], params=generous).outcome is F


def test_table_33_late_onset(judged):
    # paper H.3, R1_A L2 (F-Actor): onset 3.98 s, past the bound; L4b (MiniCPM-o): 1.14 s <= 1.5 s
    assert judged(Action.INTERRUPT, [(3980, 6000)]).outcome is F
    assert judged(Action.INTERRUPT, [(1140, 6000)]).outcome is P
    # R1 L2 (GPT-Live-1): genuine onset 0.24 s <= 2.0 s
    assert judged(Action.TAKE_TURN, [(240, 6000)]).outcome is P


# ---- BACKCHANNEL. C4 relative to w0: user ..0, silence 0-1500, user 1500-6500; w1 = 1500


@pytest.mark.parametrize(
    ("spans", "outcome"),
    [
        ([], F),
        ([(0, 90)], P),
        ([(0, 999)], P),
        ([(0, 1000)], F),  # the ceiling is strict
        ([(500, 1500)], F),
        ([(501, 1500)], P),  # 999 ms up to the user's return
        ([(-1, 300)], F),  # began before w0
        ([(-300, 0)], F),  # over at w0: nothing in the window
        ([(1500, 1700)], F),  # begins at w1: in the window by 0 ms
        ([(1400, 1700)], F),  # runs over the user's first words
        ([(0, 200), (500, 700)], F),  # two
        ([(0, 200), (499, 700)], P),  # 299 ms apart: one of 700 ms
        ([(0, 400), (699, 1000)], F),  # one of exactly 1000 ms
        ([(200, 500), (1500, 1600)], P),  # the second begins at w1
        ([(-800, -300), (200, 500)], P),
        ([(-800, 100), (600, 700)], F),
    ],
)
def test_backchannel(judged, spans, outcome):
    assert judged(Action.BACKCHANNEL, spans).outcome is outcome


@pytest.mark.parametrize(
    ("ceiling_s", "longest"), [(0.6, 599), (0.5, 499), (1.0, 999), (1.2, 1199)]
)
def test_backchannel_ceiling_comes_from_the_thresholds(judged, ceiling_s, longest):
    params = {"bc_ceiling_s": ceiling_s}
    inside = judged(Action.BACKCHANNEL, [(0, longest)], params=params)
    assert inside.outcome is P
    assert compared(inside) == (longest, longest + 1, "ms", 1)
    assert numbers(inside) == [str(longest), str(longest + 1)]
    at = judged(Action.BACKCHANNEL, [(0, longest + 1)], params=params)
    assert at.outcome is F
    assert compared(at) == (longest + 1, longest + 1, "ms", 0)


def test_backchannel_thresholds_replace_the_stored_label(measured):
    # a sweep judges stored measurements: 800 ms is a backchannel under 1.0 s, not under 0.6 s
    m = measured(Action.BACKCHANNEL, [(0, 800)])
    assert verify(m, Thresholds(bc_ceiling_ms=1000)).outcome is P
    assert verify(m, Thresholds(bc_ceiling_ms=600)).outcome is F
    assert verify(m, Thresholds(bc_ceiling_ms=801)).outcome is P


def test_span_past_w1_is_measured_whole(judged):
    layout = {
        "turn2": [("speech", 3000), ("silence", 4000), ("speech", 3000)],
        "window": (3000, 4500),
    }
    assert judged(Action.BACKCHANNEL, [(1400, 2399)], **layout).outcome is P
    assert judged(Action.BACKCHANNEL, [(1400, 2400)], **layout).outcome is F


def test_backchannel_inside_contiguous_user_segments(judged):
    seam = {"turn2": [("speech", 3000), ("speech", 4000)], "window": (2000, 6000)}
    assert judged(Action.BACKCHANNEL, [(700, 1300)], **seam).outcome is P


def test_two_backchannels(judged):
    spans = [(0, 200), (600, 800)]
    verdict = judged(Action.BACKCHANNEL, spans)
    assert compared(verdict) == (2, 1, "spans", -1)
    assert numbers(verdict) == ["2", "1"]
    assert judged(Action.BACKCHANNEL, spans, params={"bc_window_max": 2}).outcome is P


def test_no_sound_has_nothing_to_compare(judged):
    verdict = judged(Action.BACKCHANNEL)
    assert compared(verdict) == (None, 1000, "ms", None)
    assert "no sound" in verdict.reason


TERMINAL = {"turn2": [("speech", 8000)], "window": (8000, 18_000)}


def test_user_never_resumes(judged):
    assert judged(Action.BACKCHANNEL, [(200, 600)], **TERMINAL).outcome is F


@pytest.mark.parametrize(
    ("spans", "layout"),
    [
        ([(200, 600)], TERMINAL),  # the user never resumes
        ([(-100, 300)], {}),  # began before w0
        ([(1400, 1700)], {}),  # over the user's return
    ],
)
def test_failed_backchannel_never_has_a_positive_margin(judged, spans, layout):
    # Verdict: "margin ... positive when passing". The length is fine here, another rule decided.
    verdict = judged(Action.BACKCHANNEL, spans, **layout)
    assert verdict.outcome is F
    assert verdict.margin is None or verdict.margin <= 0


@pytest.mark.parametrize(
    ("spans", "layout", "decisive"),
    [
        ([(200, 600)], TERMINAL, "user"),
        ([(-100, 300)], {}, "before|already|held the floor at"),
    ],
)
def test_failed_backchannel_says_what_decided(judged, spans, layout, decisive):
    # "took or held the floor: sound of 400 ms, ceiling 1000 ms" names a rule that was kept
    assert re.search(decisive, judged(Action.BACKCHANNEL, spans, **layout).reason)


# ---- YIELD: off = first model offset >= w0; 600 ms


@pytest.mark.parametrize(
    ("spans", "outcome", "value", "margin"),
    [
        ([(-3000, 599)], P, 599, 1),
        ([(-3000, 600)], P, 600, 0),
        ([(-3000, 601)], F, 601, -1),
        ([(-3000, 0)], P, 0, 600),
        ([(-3000, -1)], F, None, None),
        ([], F, None, None),
        ([(-3000, 9000)], F, 9000, -8400),
        ([(-3000, 200), (500, 2500)], P, 200, 400),  # stops, 300 ms, starts again
        ([(-3000, 200), (499, 2500)], F, 2500, -1900),  # 299 ms: it never stopped
        ([(100, 500)], P, 500, 100),
        ([(100, 900)], F, 900, -300),
    ],
)
def test_yield(judged, spans, outcome, value, margin):
    verdict = judged(Action.YIELD, spans)
    assert verdict.outcome is outcome
    assert compared(verdict) == (value, 600, "ms", margin)
    if value is not None:
        assert numbers(verdict) == [str(value), "600"]


def test_yield_limit_of_r4(judged):
    params = {"max_latency_ms": 1000}
    assert judged(Action.YIELD, [(-3000, 1000)], params=params).outcome is P
    assert judged(Action.YIELD, [(-3000, 1001)], params=params).outcome is F


def test_yield_at_600_ms_wherever_the_session_is(judged):
    # in float seconds almost half of all start times lose this tie
    for onset in range(12_001, 12_001 + 997 * 40, 997):
        record = {"onset": onset}
        assert judged(Action.YIELD, [(-3000, 600)], record=record).outcome is P
        assert judged(Action.YIELD, [(-3000, 601)], record=record).outcome is F


# ---- CONTINUE: start <= w0 and end > w0 + 600 ms


@pytest.mark.parametrize(
    ("spans", "outcome", "value", "margin"),
    [
        ([(-3000, 599)], F, 599, -1),
        ([(-3000, 600)], F, 600, 0),  # stops exactly at the limit: has yielded
        ([(-3000, 601)], P, 601, 1),
        ([(0, 601)], P, 601, 1),  # starts exactly at w0
        ([(1, 5000)], F, None, None),  # was not speaking at w0
        ([(-3000, 0)], F, None, None),
        ([], F, None, None),
        ([(-3000, 300), (599, 900)], P, 900, 300),  # 299 ms: one utterance
        ([(-3000, 300), (600, 900)], F, 300, -300),
        ([(-3000, 9000)], P, 9000, 8400),
    ],
)
def test_continue(judged, spans, outcome, value, margin):
    verdict = judged(Action.CONTINUE, spans)
    assert verdict.outcome is outcome
    assert compared(verdict) == (value, 600, "ms", margin)
    if value is not None:
        assert numbers(verdict) == [str(value), "600"]


# ---- ACCEPT_OVERLAP: more than 0 ms of both in the window [0, 3000]; user 0-4000


@pytest.mark.parametrize(
    ("spans", "outcome", "overlap"),
    [
        ([], F, 0),
        ([(-3000, 0)], F, 0),
        ([(-3000, 1)], P, 1),
        ([(2999, 6000)], P, 1),
        ([(3000, 6000)], F, 0),  # the user goes on to 4000, the window does not
        ([(-3000, 6000)], P, 3000),
        ([(0, 100), (500, 700)], P, 300),
    ],
)
def test_accept_overlap(judged, spans, outcome, overlap):
    verdict = judged(Action.ACCEPT_OVERLAP, spans)
    assert verdict.outcome is outcome
    assert compared(verdict) == (overlap, 0, "ms", overlap)
    assert numbers(verdict) == [str(overlap)]


def test_accept_overlap_needs_user_speech(judged):
    turn2 = [("speech", 1000), ("silence", 3000)]
    assert judged(Action.ACCEPT_OVERLAP, [(1000, 2500)], turn2=turn2).outcome is F
    assert judged(Action.ACCEPT_OVERLAP, [(999, 2500)], turn2=turn2).outcome is P


# ---- READBACK: coverage >= 0.90

TEN = "four four seven one Maple Street apartment two oh nine"


def said(text, **record):
    return {"readback": TEN, "record": {"texts": [(500, text)], **record}}


@pytest.mark.parametrize(
    ("text", "outcome"),
    [
        ("4471 Maple Street, apartment 209.", P),
        ("Nine, zero, two: apartment, Street Maple, 1 7 4 4", P),  # order-blind
        ("4471 Maple Street, apartment 20", P),  # 9 of 10
        ("4471 Maple Street, apartment 2", F),  # 8 of 10
        ("471 Maple Street, apartment 29", F),  # a doubled digit said once
        ("Thank you, go on.", F),
        ("", F),
    ],
)
def test_readback(judged, text, outcome):
    assert judged(Action.READBACK, **said(text)).outcome is outcome


def test_readback_at_nine_tenths(judged):
    verdict = judged(Action.READBACK, **said("4471 Maple Street, apartment 20"))
    assert compared(verdict) == (0.9, 0.9, "coverage", 0.0)
    assert numbers(verdict) == ["90", "90"]


def test_readback_ignores_when_the_model_spoke(judged):
    # no timing rule: the transcript from turn 2 on decides
    text = "4471 Maple Street, apartment 209."
    assert judged(Action.READBACK, [(-9000, -3000)], **said(text)).outcome is P


def test_readback_of_turn_1_does_not_count(judged):
    record = {"texts": [(-1, "4471 Maple Street, apartment 209.")]}
    assert judged(Action.READBACK, readback=TEN, record=record).outcome is F
    record["transcript"] = Transcript.WHOLE
    assert judged(Action.READBACK, readback=TEN, record=record).outcome is P


def test_readback_without_text_is_unscored(judged):
    verdict = judged(Action.READBACK, **said(TEN, transcript=Transcript.NONE))
    assert verdict.outcome is Outcome.UNSCORED
    assert verdict.passed is None
    assert compared(verdict) == (None, None, "", None)
    assert "transcript" in verdict.reason


def test_a_failed_readback_does_not_claim_the_needed_share(judged):
    # 26 of 29 tokens = 0.8966 fails; rounded to whole per cent it would read "90% ... 90% needed"
    words = [f"word{number}x" for number in range(29)]
    record = {"texts": [(500, " ".join(words[:26]))]}
    verdict = judged(Action.READBACK, readback=" ".join(words), record=record)
    assert verdict.outcome is F
    repeated, needed = numbers(verdict)
    assert float(repeated) < float(needed), verdict.reason


# ---- barge-in cases whose model never spoke


@pytest.mark.parametrize(
    ("action", "spans", "outcome"),
    [
        (Action.YIELD, [], F),
        (Action.CONTINUE, [], F),
        (Action.ACCEPT_OVERLAP, [], F),
        (Action.ACCEPT_OVERLAP, [(500, 900)], P),
        (Action.YIELD, [(100, 500)], P),
    ],
)
def test_an_invalid_trigger_is_judged_by_the_same_rules(judged, action, spans, outcome):
    assert judged(action, spans, record={"trigger_valid": False}).outcome is outcome


# ---- thresholds


def test_thresholds_from_params_in_paper_units():
    assert Thresholds.from_params(
        {
            "max_wait_s": 1.2,
            "max_latency_ms": 1000,
            "bc_ceiling_s": 0.6,
            "bc_window_max": 2,
            "min_coverage": 0.8,
        }
    ) == Thresholds(1200, 1000, 600, 2, 0.8)


def test_unknown_parameter_is_named():
    with pytest.raises(ValueError, match="max_wait_ms"):
        Thresholds.from_params({"max_wait_ms": 2000})


# benchmark.md section 3, "Per-case thresholds"; Table 18 for what no role overrides
OVERRIDES = [
    *((role, Action.TAKE_TURN, "max_wait_ms", ms) for role, ms in
      [("R1", 2000), ("R3", 1500), ("R6", 1200), ("R8", 800), ("R4", 2000)]),
    *((role, Action.INTERRUPT, "max_latency_ms", ms) for role, ms in
      [("R1", 1500), ("R5", 1500), ("R3", 1200), ("R6", 1200), ("R2", 1500)]),
    *((role, Action.BACKCHANNEL, "bc_ceiling_ms", ms) for role, ms in
      [("R1", 600), ("R2", 1000), ("R3", 500), ("R5", 1000), ("R6", 1000), ("R8", 1000)]),
    *((role, Action.BACKCHANNEL, "bc_window_max", 1) for role in ("R1", "R2", "R3", "R5", "R8")),
    *((role, Action.NO_BACKCHANNEL, "bc_window_max", 0) for role in ("R4", "R7")),
    *((role, Action.YIELD, "max_latency_ms", ms) for role, ms in
      [("R1", 600), ("R2", 600), ("R3", 600), ("R4", 1000), ("R5", 600), ("R6", 600)]),
    ("R7", Action.CONTINUE, "max_latency_ms", 600),
    *((role, Action.READBACK, "min_coverage", 0.90) for role in ("R1", "R3", "R6")),
]  # fmt: skip


@pytest.mark.parametrize(("role", "action", "name", "value"), OVERRIDES)
def test_thresholds_of_the_benchmark(role, action, name, value):
    params = verifier_for(load_benchmark(), role, action).params
    assert getattr(Thresholds.from_params(params), name) == value


@pytest.mark.parametrize(
    ("role", "action", "limit"),
    [
        ("R1", Action.TAKE_TURN, 2000),
        ("R3", Action.TAKE_TURN, 1500),
        ("R6", Action.TAKE_TURN, 1200),
        ("R8", Action.TAKE_TURN, 800),
        ("R3", Action.INTERRUPT, 1200),
        ("R5", Action.INTERRUPT, 1500),
        ("R2", Action.INTERRUPT, 1500),
    ],
)
def test_roles_are_judged_at_their_own_limit(measured, role, action, limit):
    own = Thresholds.from_params(verifier_for(load_benchmark(), role, action).params)
    assert verify(measured(action, [(limit, limit + 500)], role=role), own).outcome is P
    assert verify(measured(action, [(limit + 1, limit + 500)], role=role), own).outcome is F


def test_limits_a_manifest_leaves_out_are_those_of_table_18(measured, make_case):
    # section 3: "stored in each case's verifier.params; Table 18 defaults otherwise".
    # Table 18: INTERRUPT 1500 ms, YIELD 600 ms, TAKE_TURN 2.0 s
    bare = {Action.YIELD: 600, Action.TAKE_TURN: 2000, Action.INTERRUPT: 1500}
    found = {}
    for action in bare:
        case = make_case(action)
        case = replace(case, verifier=replace(case.verifier, params={}))
        found[action] = judge(case, measured(action, [(0, 500)])).limit
    assert found == bare


@pytest.mark.parametrize("value", ["1,5", None, [2.0], float("inf"), float("nan")])
def test_a_damaged_parameter_leaves_one_case_unscored(measured, make_case, value):
    # score.judge: a case that cannot be judged "never stops the others"
    case = make_case(Action.TAKE_TURN, params={"max_wait_s": value})
    verdict = judge(case, measured(Action.TAKE_TURN, [(0, 500)]))
    assert verdict.outcome is Outcome.UNSCORED
    assert "max_wait_s" in verdict.reason or "threshold" in verdict.reason


@pytest.mark.parametrize("value", ["0,9", None, float("nan")])
def test_a_damaged_readback_threshold_leaves_one_case_unscored(measured, make_case, value):
    # NaN must not quietly fail the case: nothing is >= NaN
    case = make_case(Action.READBACK, readback="a b", params={"min_coverage": value})
    record = {"texts": [(0, "a b")]}
    verdict = judge(case, measured(Action.READBACK, readback="a b", record=record))
    assert verdict.outcome is Outcome.UNSCORED


def test_a_damaged_ceiling_does_not_stop_measuring(measured, make_case):
    # the ceiling is read once more in measure(); what is measured does not depend on it
    params = {"bc_ceiling_s": "0,6"}
    case = make_case(Action.BACKCHANNEL, params=params)
    try:
        m = measured(Action.BACKCHANNEL, [(0, 300)], params=params)
    except DatasetError:
        return  # score.py turns this one into an unscored case
    assert judge(case, m).outcome is Outcome.UNSCORED


# ---- R2/R2_B at L4b is scored as INTERRUPT at the red flag (H.4)


def test_r2_b_at_l4b(measured, make_conversation):
    pieces = [("speech", 7000), ("speech", 1500), ("silence", 2000), ("speech", 5000)]
    pieces += [("speech", 2000), ("speech", 6000)]  # red flag, continuation
    case = case_of(load_benchmark(), make_conversation("R2", "R2_B", pieces), Level.L4b)
    window = (case.window.start_ms, case.window.end_ms)

    def outcome(*spans):
        m = measured(
            Action.INTERRUPT,
            spans,
            turn2=pieces,
            window=window,
            role="R2",
            probe="R2_B",
            level=Level.L4b,
            probe_action=Action.BACKCHANNEL,
        )
        return judge(case, m).outcome

    assert outcome((1500, 4000)) is P
    assert outcome((1501, 4000)) is F
    assert outcome((-8000, -7600)) is F  # the backchannel after "are you there" is not the target
    assert outcome((-200, 4000)) is F


# ---- the table and the verdict


def test_there_is_a_verifier_for_each_of_the_nine_actions():
    assert set(VERIFIERS) == set(Action)
    assert len(VERIFIERS) == 9


@pytest.mark.parametrize("action", list(Action))
def test_verify_uses_the_expected_action(measured, action):
    # R2_B at L4b: the base action of the cell does not decide
    m = measured(action, [(-400, 700)], probe_action=Action.BACKCHANNEL, readback="a b")
    assert verify(m, Thresholds()) == VERIFIERS[action](m, Thresholds())


def test_passed_is_a_tristate(judged):
    assert judged(Action.LISTEN).passed is True
    assert judged(Action.LISTEN, [(0, 500)]).passed is False
    assert unscored("a-case", "no recording").passed is None


def test_verdicts_carry_their_case(judged):
    for action in Action:
        assert judged(action, readback="a").case_id.startswith("R1-")
    assert unscored("a-case", "why").case_id == "a-case"
    assert unscored("a-case", "why").reason == "why"
