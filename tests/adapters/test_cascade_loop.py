"""The cascade's loop on the frame clock, with a real VAD and stand-ins for all other models.

The user is the calibration voice (``talk.flac``: speech from end to end). Steps are numbered from
0; step k hears the 32 ms that end at 32 (k + 1) ms.
"""

import hashlib

import numpy as np
import pytest

from dsb_ifeval.adapters.base import FrameModel, outputs_of
from dsb_ifeval.adapters.calibration import _clip
from dsb_ifeval.adapters.cascade import Cascade
from dsb_ifeval.adapters.cascade_ears import FRAME, FRAME_MS, MIN_SPEECH_FRAMES, Ears
from dsb_ifeval.audio import resample

TALK = resample(_clip("talk"), 24_000, 16_000)
WAIT_FRAMES = 25 + 10  # 800 ms are 25 frames, 300 ms of latency round up to 10


class FakeRecogniser:
    def __init__(self):
        self.settings = {}
        self.heard = []

    def text(self, samples):
        self.heard.append(hashlib.sha256(samples.tobytes()).hexdigest())
        return "words"


class FakeVoice:
    def __init__(self):
        self.settings = {}

    def say(self, sentence, speed):
        return np.full(24_000, 0.1, np.float32)  # 1 s: 31.25 frames, so 32


class FakeMind:
    def __init__(self):
        self.settings = {}
        self.calls = []

    def answer(self, prompt, dialogue, heard):
        self.calls.append((list(dialogue), heard))
        return "One. Two. Three."


class Agent(Cascade):
    def _load(self):
        self._recogniser, self._voice, self._mind = FakeRecogniser(), FakeVoice(), FakeMind()


def silence(seconds):
    return np.zeros(int(16_000 * seconds), np.float32)


def talk(seconds):
    return np.tile(TALK, 12)[: int(16_000 * seconds)]


def frames(*pieces):
    audio = np.concatenate(pieces)
    return audio[: len(audio) // FRAME * FRAME].reshape(-1, FRAME)


def run(agent, *pieces):
    """Outputs per step."""
    return [outputs_of(agent.step(frame)) for frame in frames(*pieces)]


def sounding(outputs):
    return [step for step, made in enumerate(outputs) if made]


def texts(outputs):
    return "".join(output.text for made in outputs for output in made)


def voiced(*pieces):
    ears, found = Ears(16), []
    for step, frame in enumerate(frames(*pieces)):
        ears.hear(frame)
        if ears.voiced:
            found.append(step)
    return found


def test_is_a_frame_model_with_settings():
    agent = Agent()
    assert isinstance(agent, FrameModel)
    assert agent.settings["endpoint_ms"] == 800


def test_reply_starts_endpoint_and_latency_after_the_last_voiced_frame():
    user = silence(0.5), talk(1.5), silence(6)
    last = voiced(*user)[-1]
    outputs = run(Agent(), *user)
    # 35 quiet frames follow frame `last`; the step that hears the last of them speaks.
    assert sounding(outputs)[0] == last + WAIT_FRAMES
    # Speech ends at 2000 ms; the VAD lets go of it at most four frames later.
    assert 2000 <= (last + 1) * FRAME_MS <= 2000 + 4 * FRAME_MS
    assert outputs[last + WAIT_FRAMES][0].audio.shape == (768,)


def test_reply_is_played_frame_by_frame_with_text_at_each_sentence():
    outputs = run(Agent(), talk(1.5), silence(6))
    speaking = sounding(outputs)
    # three sentences of 32 frames, 5 frames between them
    assert len(speaking) == 3 * 32
    assert speaking[-1] - speaking[0] + 1 == 3 * 32 + 2 * 5
    assert texts(outputs) == "One. Two. Three."
    starts = [step for step in speaking if outputs[step][0].text]
    assert np.diff(starts).tolist() == [37, 37]


def test_barge_in_ends_playback_with_the_seventh_voiced_frame():
    agent = Agent()
    # 1500 ms of talk, the reply from about 2650 ms on, barge-in at 4100 ms
    user = talk(1.5), silence(2.6), talk(1.2), silence(4)
    onset = 4100 // FRAME_MS
    barge = [step for step in voiced(*user) if step >= onset]
    outputs = run(agent, *user)
    first_reply = [step for step in sounding(outputs) if step < barge[-1]]
    # The seventh voiced frame is heard in step barge[6], which returns nothing; what the step
    # before it returned ends when that frame does: 224 ms after the VAD's onset.
    assert first_reply[-1] == barge[MIN_SPEECH_FRAMES - 1] - 1
    # With the frame grid (32 ms) and the VAD's own delay (up to 96 ms) that is within 352 ms.
    assert (first_reply[-1] + 2) * FRAME_MS - 4100 <= 224 + 32 + 96
    # Only "One." and "Two." had begun; then the interruption is answered as a turn.
    assert texts(outputs).startswith("One. Two. One.")
    assert agent._mind.calls[1] == ([("words", "One. Two.")], "words")


def test_short_sounds_are_ignored_while_listening_and_while_speaking():
    blip = talk(0.12)
    assert not sounding(run(Agent(), silence(1), blip, silence(3)))
    outputs = run(Agent(), talk(1.5), silence(1.7), blip, silence(4))
    assert len(sounding(outputs)) == 3 * 32


def test_a_turn_that_goes_on_before_the_reply_is_answered_once_as_a_whole():
    agent = Agent()
    # 1.0 s of silence is past the endpoint (0.8 s) but not past the latency (1.12 s)
    outputs = run(agent, talk(1.5), silence(1.0), talk(1.5), silence(6))
    assert agent._mind.calls == [([], "words words")]
    assert len(sounding(outputs)) == 3 * 32


def test_silence_and_empty_recognition_get_no_reply():
    agent = Agent()
    assert not sounding(run(agent, silence(12)))
    assert not agent._recogniser.heard
    agent._recogniser.text = lambda samples: ""
    assert not sounding(run(agent, talk(1.5), silence(4)))
    assert not agent._mind.calls


@pytest.mark.parametrize(
    ("prompt", "wait"),
    [
        ("Do not leave gaps longer than a second.", 16 + 10),  # 500 ms
        ("Hold off.", 94 + 10),  # 3000 ms
        ("Remain silent through gaps of ten seconds.", 313 + 10),
    ],
)
def test_prompt_moves_the_reply(prompt, wait):
    agent = Agent()
    agent.reset(prompt)
    user = talk(1.5), silence(12)
    assert sounding(run(agent, *user))[0] == voiced(*user)[-1] + wait


def test_reset_in_the_middle_of_a_reply_forgets_everything():
    def bytes_of(outputs):
        return [(step, o.text, o.audio.tobytes()) for step, m in enumerate(outputs) for o in m]

    user = silence(0.3), talk(1.1), silence(4)
    fresh, used = Agent(), Agent()
    run(used, talk(2.0), silence(1.5))
    used.reset("")
    assert bytes_of(run(used, *user)) == bytes_of(run(fresh, *user))
    assert used._recogniser.heard[-1] == fresh._recogniser.heard[-1]


def test_what_is_recognised_does_not_depend_on_the_prompt():
    heard = set()
    for prompt in ("", "Hold off.", "Answer at once."):
        agent = Agent()
        agent.reset(prompt)
        run(agent, talk(1.5), silence(0.7), talk(1), silence(5))
        heard.add(tuple(agent._recogniser.heard))
    assert len(heard) == 1
    assert len(heard.pop()) == 2


def test_impossible_settings_are_refused():
    with pytest.raises(ValueError, match="positive"):
        Agent(endpoint_ms=0)
