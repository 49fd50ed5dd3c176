"""The turn manager as a script: benchmark section 7, to the tick.

Unless a test says otherwise the user speaks 0-2000 (turn 1) and then 3000 ms (turn 2).
"""

from __future__ import annotations

from dataclasses import replace
from itertools import groupby

import pytest

from dsb_ifeval.turns import ModelState, Play, TurnManager, TurnPlan
from dsb_ifeval.vocab import TurnMode

TAKE_TURN = TurnPlan(TurnMode.TAKE_TURN, turn1_ms=2000, turn2_ms=3000, window_end_ms=3000)
BARGE_IN = replace(TAKE_TURN, mode=TurnMode.BARGE_IN, barge_in_after_ms=3000)
CONFIRM_MS = 128
"""The tracker reports a pause this long after it began and is active until then."""
FOREVER = 10**6


def heard(*spans, confirm_ms=0, done=(), busy=()):
    """The model's side: speech spans, (from, to) busy, (at, done_ms) completions."""

    def state(now_ms):
        begun = [on for on, _ in spans if on <= now_ms]
        ended = [off for _, off in spans if off + confirm_ms <= now_ms]
        completions = [done_ms for at, done_ms in done if at <= now_ms]
        return ModelState(
            active=len(begun) > len(ended),
            last_onset_ms=begun[-1] if begun else None,
            last_offset_ms=ended[-1] if ended else None,
            busy=any(on <= now_ms < off for on, off in busy),
            done_ms=completions[-1] if completions else None,
        )

    return state


def drive(constants, plan, state):
    """Play to the end; returns the facts and the runs of (play, from, to)."""
    manager, plays = TurnManager(plan, constants), []
    for now_ms in range(0, 200_000, constants.chunk_ms):
        play = manager.step(now_ms, state(now_ms))
        plays.append((play, now_ms))
        if play is Play.END:
            break
    runs = []
    for play, group in groupby(plays, key=lambda entry: entry[0]):
        times = [now_ms for _, now_ms in group]
        runs.append((play, times[0], times[-1] + constants.chunk_ms))
    return manager.facts(), runs


@pytest.fixture
def run(constants):
    return lambda plan, *spans, **more: drive(constants, plan, heard(*spans, **more))[0]


def test_constants_are_those_of_the_benchmark(constants):
    assert constants.chunk_ms == 20
    assert constants.take_turn_onset_wait_ms == 5000
    assert constants.settle_ms == 600
    assert constants.take_turn_max_ms == 30_000
    assert constants.barge_in_onset_wait_ms == 8000
    assert constants.tail_ms == 500
    assert constants.final_onset_wait_ms == 8000
    assert constants.final_quiet_ms == 1500
    assert constants.final_max_ms == 20_000
    assert constants.trailing_ms == 1500


def test_the_whole_schedule_of_a_silent_model(constants):
    facts, runs = drive(constants, TAKE_TURN, heard())
    # turn 1 ends 2000, + 5000 without a word = 7000; turn 2 ends 10000, + 500 tail
    # + 8000 without a word = 18500, + 1500 trailing = 20000
    assert runs == [
        (Play.TURN1, 0, 2000),
        (Play.SILENCE, 2000, 7000),
        (Play.TURN2, 7000, 10_000),
        (Play.SILENCE, 10_000, 20_000),
        (Play.END, 20_000, 20_020),
    ]
    assert facts.turn2_onset_ms == 7000
    assert facts.end_ms == 20_000
    assert facts.model_onset_ms is None
    assert facts.trigger_valid
    assert facts.turn1_yielded


def test_facts_only_after_the_end(constants):
    manager = TurnManager(TAKE_TURN, constants)
    manager.step(0, ModelState())
    with pytest.raises(RuntimeError, match="not ended"):
        manager.facts()


# --- take-turn: from the end of turn 1 at 2000 ---


def test_a_reply_is_followed_by_the_settle_time(run):
    facts = run(TAKE_TURN, (3000, 4000))
    assert facts.turn2_onset_ms == 4600  # 4000 + 600
    assert facts.turn1_yielded


def test_settling_off_the_grid_is_rounded_up(run):
    assert run(TAKE_TURN, (3000, 4001)).turn2_onset_ms == 4620  # 4601 -> 4620


@pytest.mark.parametrize(
    ("onset", "turn2"),
    [
        (6980, 8600),  # 4980 after turn 1: a reply, 8000 + 600
        (7000, 8600),  # exactly 5 s: still a reply
        (7020, 7000),  # too late: turn 2 began at 7000
    ],
)
def test_five_seconds_for_the_first_word(run, onset, turn2):
    assert run(TAKE_TURN, (onset, 8000)).turn2_onset_ms == turn2


@pytest.mark.parametrize(("pause", "turn2"), [(600, 6180), (620, 4600)])
def test_a_pause_shorter_than_the_settle_time_is_no_end(run, pause, turn2):
    # speaks 3000-4000, pauses, speaks until 5580; quiet at 4600 or 5580 + 600
    assert run(TAKE_TURN, (3000, 4000), (4000 + pause, 5580)).turn2_onset_ms == turn2


def test_a_model_that_never_stops(run):
    facts = run(TAKE_TURN, (2500, FOREVER))
    assert facts.turn2_onset_ms == 32_000  # 2000 + 30000
    assert not facts.turn1_yielded
    assert facts.trigger_valid


@pytest.mark.parametrize(
    ("offset", "yielded"),
    [(31_400, True), (31_420, False)],  # quiet for 600 and for 580 at 32000
)
def test_the_bound_of_thirty_seconds_cuts_the_settle_time(run, offset, yielded):
    facts = run(TAKE_TURN, (2500, offset))
    assert facts.turn2_onset_ms == 32_000
    assert facts.turn1_yielded is yielded


def test_speech_within_turn_1_is_no_reply(run):
    assert run(TAKE_TURN, (1000, 1500)).turn2_onset_ms == 7000  # 2000 + 5000


def test_speech_across_the_end_of_turn_1_is_a_reply(run):
    assert run(TAKE_TURN, (1000, 2500)).turn2_onset_ms == 3100  # 2500 + 600


def test_speech_that_ended_just_before_turn_1_is_no_reply(run):
    # ends at 1960, before the end of turn 1 at 2000; the tracker is active until 2088.
    # Nothing was said since the end of turn 1, so 2000 + 5000
    facts = run(TAKE_TURN, (1000, 1960), confirm_ms=CONFIRM_MS)
    assert facts.turn2_onset_ms == 7000


def test_speech_that_ended_just_before_turn_1_and_a_reply(run):
    # as above, then a real reply 4000-5000: 5000 + 600
    facts = run(TAKE_TURN, (1000, 1960), (4000, 5000), confirm_ms=CONFIRM_MS)
    assert facts.turn2_onset_ms == 5600


def test_a_completion_event_before_the_end_of_playout(run):
    # announced 2800, generated by 3100, placed until 6000; the VAD hears the end at 5950
    facts = run(TAKE_TURN, (2850, 5950), busy=[(2800, 3100)], done=[(3100, 6000)])
    assert facts.turn2_onset_ms == 6600  # 6000 + 600


def test_a_completion_event_after_the_end_of_playout(run):
    facts = run(TAKE_TURN, (3000, 4000), busy=[(2800, 5000)], done=[(5000, 5000)])
    assert facts.turn2_onset_ms == 5600  # 5000 + 600


def test_a_pause_inside_a_completed_reply_is_no_end(run):
    # all of it arrived by 3100 and plays until 9000, with a pause 4000-6000
    facts = run(TAKE_TURN, (3000, 4000), (6000, 9000), busy=[(2900, 3100)], done=[(3100, 9000)])
    assert facts.turn2_onset_ms == 9600


def test_an_announced_reply_is_waited_for(run):
    # announced 4900 ms after turn 1, first sound 7000 ms after it
    facts = run(TAKE_TURN, (9000, 9500), busy=[(6900, 9400)], done=[(9400, 9500)])
    assert facts.turn2_onset_ms == 10_100  # 9500 + 600


def test_an_announced_reply_that_never_comes(run):
    facts = run(TAKE_TURN, busy=[(3000, FOREVER)])
    assert facts.turn2_onset_ms == 32_000
    assert not facts.turn1_yielded


# --- barge-in ---


@pytest.mark.parametrize(
    ("after", "onset", "turn2"),
    [
        (3000, 3000, 6000),  # C3: 3000 + 3000
        (2000, 3000, 5000),  # R8_B: 3000 + 2000
        (3000, 3008, 6020),  # 6008 -> next tick
        (3000, 9980, 12_980),  # 7980 after turn 1: within 8 s
    ],
)
def test_barge_in_after_the_onset(run, after, onset, turn2):
    facts = run(replace(BARGE_IN, barge_in_after_ms=after), (onset, FOREVER))
    assert facts.model_onset_ms == onset
    assert facts.turn2_onset_ms == turn2
    assert facts.trigger_valid
    assert facts.turn1_yielded


def test_barge_in_into_a_model_already_speaking(run):
    facts = run(BARGE_IN, (1000, FOREVER))
    assert facts.model_onset_ms == 2000  # counts from the end of turn 1
    assert facts.turn2_onset_ms == 5000


def test_barge_in_is_timed_from_the_first_onset(run):
    # stops again and restarts: the injection does not move
    assert run(BARGE_IN, (2500, 3000), (4000, FOREVER)).turn2_onset_ms == 5500


def test_barge_in_without_an_onset(run):
    facts = run(BARGE_IN)
    assert facts.turn2_onset_ms == 10_000  # 2000 + 8000
    assert facts.model_onset_ms is None
    assert not facts.trigger_valid


def test_an_announced_reply_is_not_an_onset(run):
    facts = run(BARGE_IN, busy=[(2500, FOREVER)])
    assert facts.turn2_onset_ms == 10_000
    assert not facts.trigger_valid


def test_speech_within_turn_1_is_no_onset(run):
    facts = run(BARGE_IN, (500, 1500))
    assert facts.turn2_onset_ms == 10_000
    assert not facts.trigger_valid


def test_speech_that_ended_just_before_turn_1_is_no_onset(run):
    # over at 1960, known at 2088: the model was not speaking at the end of turn 1
    facts = run(BARGE_IN, (1000, 1960), confirm_ms=CONFIRM_MS)
    assert facts.turn2_onset_ms == 10_000
    assert facts.model_onset_ms is None
    assert not facts.trigger_valid


def test_speech_that_ended_just_before_turn_1_and_an_onset(run):
    facts = run(BARGE_IN, (1000, 1960), (4000, FOREVER), confirm_ms=CONFIRM_MS)
    assert facts.model_onset_ms == 4000
    assert facts.turn2_onset_ms == 7000  # 4000 + 3000


def test_turn_2_never_yields(constants):
    _, runs = drive(constants, BARGE_IN, heard((3000, FOREVER)))
    assert (Play.TURN2, 6000, 9000) in runs  # in one piece


# --- after turn 2, which is 7000-10000 in all of these ---


@pytest.mark.parametrize(
    ("spans", "end"),
    [
        ([], 20_000),  # 10500 + 8000 + 1500
        ([(12_000, 13_000)], 16_000),  # 13000 + 1500 quiet + 1500 trailing
        ([(9000, 10_800)], 13_800),  # speaking when turn 2 ends: 10800 + 1500 + 1500
        ([(10_200, 10_300)], 13_300),  # in the tail: 10300 + 1500 + 1500
        ([(18_480, 19_000)], 22_000),  # the last tick of the 8 s
        ([(18_520, 19_000)], 20_000),  # too late
        ([(12_000, 13_000), (14_500, 15_000)], 18_000),  # speaks again when 1500 are over
        ([(12_000, 13_000), (14_520, 15_000)], 16_000),  # too late
        ([(11_000, FOREVER)], 32_000),  # 10500 + 20000 + 1500
        ([(8000, 9000)], 20_000),  # over before turn 2 was: nothing said since
    ],
)
def test_final_wait(run, spans, end):
    facts = run(TAKE_TURN, *spans)
    assert facts.turn2_onset_ms == 7000
    assert facts.end_ms == end


def test_speech_that_ended_just_before_turn_2_did(run):
    # over at 9960, known at 10088; turn 2 ends at 10000 and nothing is said since
    assert run(TAKE_TURN, (8000, 9960), confirm_ms=CONFIRM_MS).end_ms == 20_000


def test_final_wait_with_a_completion_event(run):
    # arrived by 11100, plays until 15000, done after playout 16000: 16000 + 1500 + 1500
    facts = run(TAKE_TURN, (11_000, 15_000), busy=[(10_900, 16_000)], done=[(16_000, 16_000)])
    assert facts.end_ms == 19_000


def test_final_wait_through_a_pause_of_a_completed_reply(run):
    # all of it arrived by 11100; plays 11000-12000 and 14000-15000
    facts = run(
        TAKE_TURN,
        (11_000, 12_000),
        (14_000, 15_000),
        busy=[(10_900, 11_100)],
        done=[(11_100, 15_000)],
    )
    assert facts.end_ms == 18_000


@pytest.mark.parametrize(
    ("window_end", "end"),
    [
        (18_000, 25_000),  # turn 2 of 8000 at 7000, w1 = 10 s after it = 25000
        (18_001, 25_020),  # up to the next tick
        (8000, 19_500),  # inside turn 2: 16500 + 1500 + 1500
    ],
)
def test_recorded_to_the_end_of_the_window(run, window_end, end):
    plan = replace(TAKE_TURN, turn2_ms=8000, window_end_ms=window_end)
    assert run(plan, (15_500, 16_500)).end_ms == end


def test_terminal_window_of_a_silent_model(run):
    # 7000 + 8000 + 500 + 8000 + 1500 = 25000 = w1: both bounds meet
    assert run(replace(TAKE_TURN, turn2_ms=8000, window_end_ms=18_000)).end_ms == 25_000


def test_turns_that_do_not_divide_into_ticks(constants):
    plan = replace(TAKE_TURN, turn1_ms=2001, turn2_ms=3013)
    facts, runs = drive(constants, plan, heard())
    assert runs[0] == (Play.TURN1, 0, 2020)  # the tick that holds the last ms is turn 1's
    assert facts.turn2_onset_ms == 7020  # 2001 + 5000 = 7001
    assert runs[2] == (Play.TURN2, 7020, 10_040)  # 3013 ms: 151 ticks
    # 7020 + 3013 + 500 + 8000 = 18533 -> 18540, + 1500
    assert facts.end_ms == 20_040
