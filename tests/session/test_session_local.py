"""Local sessions end to end: scripted models against the real tracker.

Times that follow the model's speech may be two blocks (64 ms) and a tick off; all others are
exact. Unless a test says otherwise the user speaks 0-2000 and then 3000 ms.
"""

from __future__ import annotations

from dataclasses import asdict, replace

import numpy as np
import pytest

from dsb_ifeval.audio import to_pcm16
from dsb_ifeval.events import EventKind, Output
from dsb_ifeval.intervals import Interval
from dsb_ifeval.recording import is_done, load, load_record, save
from dsb_ifeval.session import play_local
from dsb_ifeval.testing import ScriptedModel, make_stimulus, speech

MS = 24


@pytest.fixture
def play(constants):
    def run(model, *args, **kwargs):
        return play_local(model, make_stimulus(*args, **kwargs), constants, "test")

    return run


def schedule(recording):
    assert recording.record.status == "ok", recording.record.reason
    return recording.record.facts


# --- take-turn ---


def test_silent_model(play):
    recording = play(ScriptedModel())
    facts = schedule(recording)
    # 2000 + 5000; then 10000 + 500 + 8000 + 1500
    assert (facts.turn2_onset_ms, facts.end_ms) == (7000, 20_000)
    assert facts.turn1_yielded
    assert recording.record.samples == 20_000 * MS
    assert recording.stereo.shape == (20_000 * MS, 2)
    assert not recording.stereo[:, 1].any()
    assert recording.record.events == ()
    assert recording.record.clock == "frame"


def test_a_reply(play, near):
    recording = play(ScriptedModel([(3000, 4000)], ["fine"]))
    facts = schedule(recording)
    near(facts.turn2_onset_ms, 4600)  # 4000 + 600
    # turn 2 ends 7600, + 500 + 8000 + 1500; the tracker's error only enters with turn 2
    assert facts.end_ms == facts.turn2_onset_ms + 13_000
    assert np.array_equal(recording.stereo[3000 * MS : 4000 * MS, 1], to_pcm16(speech(1000)))
    assert not recording.stereo[: 3000 * MS, 1].any()
    assert not recording.stereo[4000 * MS :, 1].any()
    texts = [event for event in recording.record.events if event.kind is EventKind.TEXT]
    assert [(event.t_ms, event.text) for event in texts] == [(3000, "fine")]
    assert recording.record.text == "fine"
    assert recording.record.text_from(3001) == ""


def test_a_model_that_never_stops(play):
    facts = schedule(play(ScriptedModel([(2500, 100_000)])))
    assert facts.turn2_onset_ms == 32_000  # 2000 + 30000
    assert not facts.turn1_yielded
    # 35000 + 500 + 20000 + 1500
    assert facts.end_ms == 57_000


def test_speech_within_turn_1_is_no_reply(play):
    assert schedule(play(ScriptedModel([(500, 1200)]))).turn2_onset_ms == 7000


def test_speech_that_ends_just_before_turn_1_is_no_reply(play):
    # a backchannel 1000-1900; the tracker knows at about 2030 that it is over
    assert schedule(play(ScriptedModel([(1000, 1900)]))).turn2_onset_ms == 7000


def test_speech_across_the_end_of_turn_1(play, near):
    near(schedule(play(ScriptedModel([(1000, 2500)]))).turn2_onset_ms, 3100)  # 2500 + 600


def test_final_wait_after_a_late_word(play, near):
    # turn 2 is 7000-10000; speaks 12000-13000: + 1500 + 1500
    facts = schedule(play(ScriptedModel([(12_000, 13_000)])))
    assert facts.turn2_onset_ms == 7000
    near(facts.end_ms, 16_000)


def test_a_completion_event_delays_turn_2(play):
    class Announced(ScriptedModel):
        """Announces its reply at 2500 and completes it at 5000; speaks 3000-4000."""

        def step(self, frame):
            output = super().step(frame)
            now_ms = len(self.heard) * 20
            if now_ms in (2500, 5000):
                return Output(started=now_ms == 2500, done=now_ms == 5000, response="r1")
            return output

    facts = schedule(play(Announced([(3000, 4000)])))
    assert facts.turn2_onset_ms == 5600  # 5000 + 600, exact: an event is no tracker


# --- barge-in ---


@pytest.mark.parametrize("after", [3000, 2000])
def test_barge_in(play, near, after):
    facts = schedule(play(ScriptedModel([(4000, 8000)]), barge_in_after_ms=after))
    assert abs(facts.model_onset_ms - 4000) <= 64
    near(facts.turn2_onset_ms, 4000 + after)
    assert 0 <= facts.turn2_onset_ms - (facts.model_onset_ms + after) < 20
    assert facts.trigger_valid


def test_barge_in_into_a_model_already_speaking(play):
    facts = schedule(play(ScriptedModel([(500, 6000)]), barge_in_after_ms=3000))
    assert (facts.model_onset_ms, facts.turn2_onset_ms) == (2000, 5000)
    assert facts.trigger_valid


def test_barge_in_into_silence(play):
    facts = schedule(play(ScriptedModel(), barge_in_after_ms=3000))
    assert facts.turn2_onset_ms == 10_000  # 2000 + 8000
    assert facts.model_onset_ms is None
    assert not facts.trigger_valid


def test_barge_in_after_speech_that_ended_with_turn_1(play, near):
    # 1000-1900 is over before turn 1 is; the onset is at 5000: 5000 + 3000
    facts = schedule(play(ScriptedModel([(1000, 1900), (5000, 8500)]), barge_in_after_ms=3000))
    near(facts.turn2_onset_ms, 8000)
    assert abs(facts.model_onset_ms - 5000) <= 64


def test_the_user_stream_never_yields(play):
    # the model talks through all of turn 2
    stimulus = make_stimulus([2000], [3013], barge_in_after_ms=3000)
    recording = play(ScriptedModel([(2500, 10_000)]), [2000], [3013], barge_in_after_ms=3000)
    onset = schedule(recording).turn2_onset_ms * MS
    user = recording.stereo[:, 0]
    assert np.array_equal(user[onset : onset + 3013 * MS], stimulus.turn2)
    assert not user[2000 * MS : onset].any()
    assert not user[onset + 3013 * MS :].any()


# --- terminal probes ---


@pytest.mark.parametrize("spans", [[], [(15_500, 16_500)], [(15_100, 15_300)]])
def test_terminal_window_is_recorded_to_its_end(play, spans):
    # turn 2 of 8000 at 7000; w1 is 10 s after its last sample: 25000
    window = Interval(8000, 18_000)
    recording = play(ScriptedModel(spans), [2000], [8000], window=window)
    facts = schedule(recording)
    assert facts.turn2_onset_ms == 7000
    assert facts.end_ms == 25_000
    assert recording.record.samples == 25_000 * MS


# --- what a session is worth ---


def test_two_sessions_are_identical(play, tmp_path):
    model = ScriptedModel([(3000, 4500), (9000, 9500)], ["one", "two"], 16_000, 512, 22_050)
    for name in ("a", "b"):
        save(play(model), tmp_path / name)
    files = sorted(path.name for path in (tmp_path / "a").iterdir())
    assert files == ["R1-C1-i1-L2.rec.json", "R1-C1-i1-L2.stereo.flac"]
    for name in files:
        assert (tmp_path / "a" / name).read_bytes() == (tmp_path / "b" / name).read_bytes()


def test_a_recording_loads_as_it_was(play, tmp_path):
    recording = play(ScriptedModel([(3000, 4000)], ["fine"]))
    save(recording, tmp_path)
    loaded = load(tmp_path, "R1-C1-i1-L2")
    assert np.array_equal(loaded.stereo, recording.stereo)
    # the size of the file is known when it is written
    assert asdict(replace(loaded.record, flac_bytes=0)) == asdict(recording.record)
    assert is_done(tmp_path, "R1-C1-i1-L2")


def test_the_prompt_is_applied_once_per_case(play):
    model = ScriptedModel()
    play(model, prompt="You are a nurse.")
    play(model, prompt="")
    assert model.prompts == ["You are a nurse.", ""]


# --- models that break ---


def test_failure_in_reset(play, tmp_path):
    recording = play(ScriptedModel(fail_in_reset=True))
    record = recording.record
    assert (record.status, record.facts, record.samples) == ("failed", None, 0)
    assert record.reason.startswith("RuntimeError: scripted failure in reset (models.py:")
    save(recording, tmp_path)
    assert load_record(tmp_path, record.case_id).status == "failed"
    assert not is_done(tmp_path, record.case_id)


def test_failure_in_a_step_keeps_what_was_recorded(play, tmp_path):
    # fails in the frame that ends at 3500: ticks up to 3480 are over
    recording = play(ScriptedModel([(3000, 5000)], ["well"], fail_at_ms=3500))
    record = recording.record
    assert record.status == "failed"
    assert record.reason.startswith("RuntimeError: scripted failure at 3500 ms (models.py:")
    assert record.facts is None
    assert record.samples == 3480 * MS
    user, model = recording.stereo.T
    assert np.array_equal(user[: 2000 * MS], make_stimulus().turn1)
    assert np.array_equal(model[3000 * MS :], to_pcm16(speech(480)))
    assert record.text == "well"
    save(recording, tmp_path)
    assert replace(load_record(tmp_path, record.case_id), flac_bytes=0) == record


def test_failure_in_turn_2_keeps_the_part_that_was_sent(play):
    # turn 2 is 7000-10000; fails in the frame that ends at 8000
    recording = play(ScriptedModel(fail_at_ms=8000))
    user = recording.stereo[:, 0]
    assert recording.record.facts is None
    assert np.array_equal(user[7000 * MS :], make_stimulus().turn2[: 980 * MS])


def test_a_failure_leaves_the_next_case_alone(constants):
    class Flaky(ScriptedModel):
        """Breaks in its second case only."""

        def step(self, frame):
            if len(self.prompts) == 2 and len(self.heard) == 200:
                raise ZeroDivisionError
            return super().step(frame)

    model = Flaky([(3000, 4500)])
    first, second, third = (play_local(model, make_stimulus(), constants, "test") for _ in range(3))
    assert second.record.status == "failed"
    assert second.record.reason.startswith("ZeroDivisionError")
    assert third.record == first.record
    assert np.array_equal(third.stereo, first.stereo)


def test_a_fault_without_a_message(play):
    class Wordless(ScriptedModel):
        def step(self, frame):
            raise ValueError("\nsecond line")

    assert play(Wordless()).record.reason.startswith("ValueError")


def test_an_interrupt_of_the_user_is_not_swallowed(play):
    class Stopped(ScriptedModel):
        def step(self, frame):
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        play(Stopped())


def test_settings_are_recorded(play):
    model = ScriptedModel()
    model.settings = {"voice": "alto"}
    assert play(model).record.settings == {"voice": "alto"}


def test_settings_that_a_model_only_knows_after_its_reset(play):
    class Late(ScriptedModel):
        def reset(self, prompt):
            super().reset(prompt)
            self.settings = {"prompt_tokens": len(prompt)}

    assert play(Late(), prompt="Hello").record.settings == {"prompt_tokens": 5}
