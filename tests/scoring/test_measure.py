"""What is measured (benchmark.md section 4, paper C.1-C.4), with the arithmetic in sight.

Model spans are relative to w0. The default record starts turn 1 at 0 and turn 2 at 20 000 ms.
"""

from __future__ import annotations

from dataclasses import replace

import pytest

from dsb_ifeval.benchmark import load_benchmark
from dsb_ifeval.cases import make_case as case_of
from dsb_ifeval.errors import RecordingError
from dsb_ifeval.intervals import Interval, ms_to_samples
from dsb_ifeval.measure import label_window, measure
from dsb_ifeval.score import measure_case
from dsb_ifeval.vocab import Action, Level, Transcript, TurnMode, VadLabel

pytestmark = pytest.mark.unit

SILENT, BACKCHANNEL, FLOOR_TAKE = VadLabel.SILENT, VadLabel.BACKCHANNEL, VadLabel.FLOOR_TAKE


# ---- placing both channels on the session clock


def test_the_window_starts_from_the_recorded_turn_2_onset(measured):
    # C1: s1 7.5 s, pause 2.5 s: [7500, 10000] after an onset at 31 007
    m = measured(Action.TAKE_TURN, record={"onset": 31_007})
    assert m.window == Interval(38_507, 41_007)


def test_user_spans_are_the_construction_spans_at_the_recorded_onsets(measured):
    m = measured(Action.TAKE_TURN)
    assert m.user_spans == (
        Interval(0, 12_000),  # turn 1
        Interval(20_000, 27_500),  # s1
        Interval(30_000, 36_500),  # s3; s2 is silence
    )


def test_turn_1_is_placed_at_its_recorded_onset(measured):
    assert measured(Action.TAKE_TURN, record={"turn1_onset": 40}).user_spans[0] == (
        Interval(40, 12_040)
    )


def test_model_spans_are_merged_utterances(measured):
    m = measured(Action.LISTEN, [(1000, 1200), (0, 701), (1500, 1600)])
    # 1000 - 701 = 299 merges; 1500 - 1200 = 300 does not
    w0 = m.window.start_ms
    assert m.model_spans == (Interval(w0, w0 + 1200), Interval(w0 + 1500, w0 + 1600))


def test_identity_of_the_case_is_kept(measured):
    m = measured(
        Action.YIELD, role="R4", instance=3, level=Level.L4a, record={"trigger_valid": False}
    )
    assert (m.case_id, m.conversation_id) == ("R4-C3-i3-L4a", "R4-C3-i3")
    assert (m.role, m.probe, m.instance, m.level) == ("R4", "C3", 3, Level.L4a)
    assert (m.probe_action, m.expected_action) == (Action.YIELD, Action.YIELD)
    assert m.barge_in
    assert not m.trigger_valid


def test_take_turn_cases_are_not_barge_ins(measured):
    m = measured(Action.TAKE_TURN)
    assert not m.barge_in
    assert m.trigger_valid


# ---- genuine, onsets, spans: the window of LISTEN and TAKE_TURN here is [0, 2500]


@pytest.mark.parametrize(
    ("spans", "genuine", "onsets", "inside"),
    [
        ([], None, 0, 0),
        ([(0, 500)], 0, 1, 1),  # begins exactly at w0
        ([(-1, 500)], None, 0, 1),  # one ms before
        ([(-500, 0)], None, 0, 0),  # touches w0 by 0 ms
        ([(-500, 1)], None, 0, 1),
        ([(2500, 3000)], 2500, 1, 0),  # begins exactly at w1: inside, but overlaps by 0 ms
        ([(2499, 3000)], 2499, 1, 1),
        ([(2501, 3000)], None, 0, 0),
        ([(-500, 3000)], None, 0, 1),  # held throughout
        ([(-500, 200), (900, 1100), (1500, 1700)], 900, 2, 3),  # held, then two onsets
        ([(1500, 1700), (900, 1100)], 900, 2, 2),  # order of the VAD's list is no matter
        ([(-900, -600), (2900, 3000)], None, 0, 0),
    ],
)
def test_onsets_and_spans(measured, spans, genuine, onsets, inside):
    m = measured(Action.LISTEN, spans)
    assert (m.genuine_ms, m.onsets_in_window, m.spans_in_window) == (genuine, onsets, inside)


def test_onset_is_that_of_the_merged_utterance(measured):
    # a fragment 299 ms before makes it speech that began before w0; 300 ms before does not
    assert measured(Action.LISTEN, [(-300, -1), (298, 800)]).genuine_ms is None
    assert measured(Action.LISTEN, [(-300, -1), (299, 800)]).genuine_ms == 299


@pytest.mark.parametrize(
    ("spans", "active", "held"),
    [
        ([], False, None),
        ([(-500, 0)], False, None),  # ended at w0
        ([(-500, 1)], True, 1),
        ([(-1, 700)], True, 700),
        ([(0, 700)], False, 700),  # begins at w0: an onset, and on the floor from w0 on
        ([(1, 700)], False, None),
        ([(-500, 400), (700, 5000)], True, 400),
    ],
)
def test_holding_the_floor_at_w0(measured, spans, active, held):
    m = measured(Action.CONTINUE, spans)
    assert (m.active_at_w0, m.held_ms) == (active, held)


@pytest.mark.parametrize(
    ("spans", "off"),
    [
        ([], None),
        ([(-500, -1)], None),  # ended before w0
        ([(-500, 0)], 0),  # offset >= w0
        ([(-500, 250)], 250),
        ([(-500, 250), (900, 1000)], 250),  # the first
        ([(100, 900)], 900),  # it need not have been speaking at w0
        ([(-500, 9000)], 9000),  # nor does the window bound it
        ([(-900, -400), (200, 300)], 300),
    ],
)
def test_first_offset(measured, spans, off):
    assert measured(Action.YIELD, spans).off_ms == off


def test_span_durations_are_whole(measured):
    # 400 of the first and 300 of the last lie outside [0, 2500]
    m = measured(Action.LISTEN, [(-400, 100), (600, 700), (2400, 2800), (4000, 4500)])
    assert m.span_durations_ms == (500, 100, 400)


@pytest.mark.parametrize(
    ("spans", "overlap"),
    [
        ([(-3000, 0)], 0),
        ([(-3000, 1)], 1),
        ([(2999, 5000)], 1),  # the window ends at 3000, the user goes on to 4000
        ([(3000, 5000)], 0),
        ([(-100, 5000)], 3000),
        ([(0, 100), (500, 700)], 300),
    ],
)
def test_overlap_is_clipped_to_the_window(measured, spans, overlap):
    assert measured(Action.ACCEPT_OVERLAP, spans).overlap_ms == overlap


def test_overlap_counts_user_speech_only(measured):
    turn2 = [("speech", 1000), ("silence", 1000), ("speech", 1000)]
    assert measured(Action.ACCEPT_OVERLAP, [(1000, 2000)], turn2=turn2).overlap_ms == 0
    assert measured(Action.ACCEPT_OVERLAP, [(990, 2020)], turn2=turn2).overlap_ms == 10 + 20


# ---- the VAD label (C.4; section 4). C4 relative to w0: user ..0, silence 0-1500, user 1500-6500


@pytest.mark.parametrize(
    ("spans", "label"),
    [
        ([], SILENT),
        ([(-800, 0)], SILENT),
        ([(1500, 1700)], SILENT),  # begins at w1: in it by 0 ms
        ([(200, 600)], BACKCHANNEL),
        ([(0, 999)], BACKCHANNEL),
        ([(0, 1000)], FLOOR_TAKE),  # shorter than, not as long as
        ([(0, 1001)], FLOOR_TAKE),
        ([(-1, 300)], FLOOR_TAKE),  # did not begin in the window
        ([(1000, 1500)], BACKCHANNEL),  # user speech starts at the span's end
        ([(1000, 1501)], FLOOR_TAKE),  # neither after the span nor around it
        ([(0, 200), (600, 800)], BACKCHANNEL),
        ([(0, 200), (600, 1700)], FLOOR_TAKE),  # every span counts
        ([(-200, 100), (600, 800)], FLOOR_TAKE),
        ([(200, 600), (1500, 9000)], BACKCHANNEL),  # the second is not in the window
        ([(-900, -400), (200, 600), (1900, 9000)], BACKCHANNEL),
    ],
)
def test_label(measured, spans, label):
    assert measured(Action.BACKCHANNEL, spans).label is label


def test_whole_length_counts_past_w1(measured):
    # the user resumes long after w1, so that only the length decides
    layout = {
        "turn2": [("speech", 3000), ("silence", 4000), ("speech", 3000)],
        "window": (3000, 4500),
    }
    assert measured(Action.BACKCHANNEL, [(1400, 2399)], **layout).label is BACKCHANNEL
    assert measured(Action.BACKCHANNEL, [(1400, 2400)], **layout).label is FLOOR_TAKE


def test_no_backchannel_when_the_user_never_speaks_again(measured):
    terminal = {"turn2": [("speech", 8000)], "window": (8000, 18_000)}
    assert measured(Action.BACKCHANNEL, [(300, 600)], **terminal).label is FLOOR_TAKE


def test_span_inside_one_user_segment(measured):
    inside = {"turn2": [("speech", 8000)], "window": (2000, 7000)}
    assert measured(Action.BACKCHANNEL, [(500, 900)], **inside).label is BACKCHANNEL
    assert measured(Action.BACKCHANNEL, [(5500, 5900)], **inside).label is SILENT  # after w1


def test_span_inside_contiguous_user_segments(measured):
    # segments meet at 3000 = w0 + 1000; the span crosses the seam, no segment starts after it
    seam = {"turn2": [("speech", 3000), ("speech", 4000)], "window": (2000, 6000)}
    assert measured(Action.BACKCHANNEL, [(700, 1300)], **seam).label is BACKCHANNEL


def test_span_that_outlasts_the_user_is_not_inside(measured):
    last = {"turn2": [("speech", 3000)], "window": (2000, 6000)}
    assert measured(Action.BACKCHANNEL, [(600, 1000)], **last).label is BACKCHANNEL
    assert measured(Action.BACKCHANNEL, [(600, 1001)], **last).label is FLOOR_TAKE


def test_label_uses_the_ceiling_of_the_case(measured):
    for ceiling_s, longest in ((0.6, 599), (0.5, 499), (1.0, 999)):
        params = {"bc_ceiling_s": ceiling_s}
        assert measured(Action.BACKCHANNEL, [(0, longest)], params=params).label is BACKCHANNEL
        assert measured(Action.BACKCHANNEL, [(0, longest + 1)], params=params).label is FLOOR_TAKE


def test_label_of_cases_without_a_ceiling_uses_table_18(measured):
    assert measured(Action.LISTEN, [(0, 999)]).label is BACKCHANNEL
    assert measured(Action.LISTEN, [(0, 1000)]).label is FLOOR_TAKE
    assert measured(Action.NO_BACKCHANNEL, [(0, 999)]).label is BACKCHANNEL


def test_every_span_needs_the_user_to_come_back():
    window, user = Interval(0, 5000), [Interval(1000, 1500)]
    early, late = Interval(0, 200), Interval(2000, 2200)
    assert label_window([early], user, window, 1000) is BACKCHANNEL
    assert label_window([early, late], user, window, 1000) is FLOOR_TAKE


# ---- readback text


CHUNKS = "four four seven one Maple Street apartment two oh nine"  # 10 tokens


def test_text_counts_from_turn_2_onset_on(measured):
    m = measured(
        Action.READBACK,
        readback=CHUNKS,
        record={"texts": [(-1, "4471 Maple Street"), (0, "apartment"), (9000, " two oh nine")]},
    )
    assert m.coverage == 4 / 10
    assert m.transcript_scope == "turn2"


def test_deltas_join_without_a_space(measured):
    texts = [(100, "4 4 7 1 Ma"), (200, "ple Street apart"), (300, "ment 209")]
    assert measured(Action.READBACK, readback=CHUNKS, record={"texts": texts}).coverage == 1.0


def test_whole_transcript_where_deltas_have_no_times(measured):
    texts = [(-15_000, "4471 Maple Street apartment 209")]
    record = {"texts": texts, "transcript": Transcript.WHOLE}
    m = measured(Action.READBACK, readback=CHUNKS, record=record)
    assert (m.coverage, m.transcript_scope) == (1.0, "whole")


def test_a_timed_model_that_said_nothing_covers_nothing(measured):
    # H.4: empty model output is no speech, not a missing measurement
    m = measured(Action.READBACK, readback=CHUNKS)
    assert (m.coverage, m.transcript_scope) == (0.0, "turn2")


def test_no_text_is_no_measurement(measured):
    record = {"transcript": Transcript.NONE, "texts": [(0, CHUNKS)]}
    m = measured(Action.READBACK, readback=CHUNKS, record=record)
    assert (m.coverage, m.transcript_scope) == (None, "none")


def test_other_actions_have_no_coverage(measured):
    m = measured(Action.TAKE_TURN, record={"texts": [(0, "hello")]})
    assert (m.coverage, m.transcript_scope) == (None, "none")


# ---- what cannot be measured


def test_a_broken_session_is_an_error(make_case, make_record, without_facts):
    case = make_case(Action.LISTEN)
    with pytest.raises(RecordingError, match="schedule"):
        measure(case, without_facts(make_record(case)), [], 300)


@pytest.mark.parametrize("stimulus", [("other", "turn2"), ("turn1", "other")])
def test_other_user_audio_is_an_error(make_case, make_record, stimulus):
    case = make_case(Action.LISTEN)
    with pytest.raises(RecordingError, match="other user audio"):
        measure(case, replace(make_record(case), stimulus=stimulus), [], 300)


def test_a_recording_that_ends_before_the_window_is_an_error(make_case, make_record):
    # section 4: a wrong-length recording is an error, never a pass or a fail.
    # w1 is at 30 000 ms, the audio ends at 28 000: nobody knows whether the model was silent.
    case = make_case(Action.LISTEN)
    record = make_record(case, samples=ms_to_samples(28_000))
    with pytest.raises(RecordingError):
        measure(case, record, [], 300)


def test_a_recording_that_just_reaches_w1_is_enough(make_case, make_record):
    case = make_case(Action.LISTEN)
    record = make_record(case, samples=ms_to_samples(30_000))
    record = replace(record, facts=replace(record.facts, end_ms=30_000))
    assert measure(case, record, [], 300).label is SILENT


def test_a_recording_shorter_than_its_session_is_an_error(make_case, make_record):
    case = make_case(Action.LISTEN)
    record = make_record(case, samples=ms_to_samples(38_000))  # the session ended at 38.5 s
    with pytest.raises(RecordingError, match="run the case again"):
        measure(case, record, [], 300)


def test_a_missing_recording_is_an_error(make_case, tmp_path):
    with pytest.raises(RecordingError, match="was not run"):
        measure_case(tmp_path, make_case(Action.LISTEN), load_benchmark().vad)


# ---- the real benchmark: R2_B at L4b (H.4; sections 2, 3, 5)

R2_B = [("speech", 7000), ("speech", 1500), ("silence", 2000), ("speech", 5000)]
RED_FLAG = [("speech", 2000), ("speech", 6000)]


def test_r2_b_is_a_backchannel_case_below_l4b(make_conversation):
    case = case_of(load_benchmark(), make_conversation("R2", "R2_B", R2_B), Level.L4a)
    assert (case.probe_action, case.expected_action) == (Action.BACKCHANNEL, Action.BACKCHANNEL)
    assert case.window == Interval(8500, 10_500)  # [s3.on, s4.on]


def test_r2_b_at_l4b_is_an_interrupt_case_at_the_red_flag(make_conversation):
    conversation = make_conversation("R2", "R2_B", R2_B + RED_FLAG)
    case = case_of(load_benchmark(), conversation, Level.L4b)
    assert (case.probe_action, case.expected_action) == (Action.BACKCHANNEL, Action.INTERRUPT)
    assert case.window == Interval(17_500, 23_500)  # [flag.off, continuation.off]
    assert case.verifier.params["max_latency_ms"] == 1500


@pytest.mark.parametrize(
    ("role", "probe", "pieces", "mode", "window"),
    [
        ("R1", "C1", [("speech", 7000), ("silence", 2500), ("speech", 6000)], None, (7000, 9500)),
        (
            "R2",
            "C2",
            [("speech", 3), ("silence", 1200), ("speech", 5), ("silence", 1200), ("speech", 7)],
            None,
            (3, 3 + 1200 + 5 + 1200),  # LISTEN: [s2.on, s4.off]
        ),
        (
            "R8",
            "C2",
            [("speech", 3), ("silence", 1200), ("speech", 5), ("silence", 1200), ("speech", 7)],
            None,
            (2415, 12_415),  # TAKE_TURN: [s5.off, s5.off + 10]
        ),
        ("R4", "C3", [("speech", 4000)], TurnMode.BARGE_IN, (0, 3000)),
        ("R8", "R8_B", [("speech", 5000)], TurnMode.BARGE_IN, (0, 3000)),
        ("R3", "R3_B", [("speech", 8000)], None, (8000, 18_000)),
        (
            "R7",
            "R7_A",
            [("speech", 6000), ("silence", 3000), ("speech", 3100)],
            None,
            (6000, 12_100),
        ),
    ],
)
def test_windows_of_section_3(make_conversation, role, probe, pieces, mode, window):
    conversation = make_conversation(role, probe, pieces, mode=mode or TurnMode.TAKE_TURN)
    assert case_of(load_benchmark(), conversation, Level.L2).window == Interval(*window)
