"""The cascade's ears: stretches of speech and where they are cut, with the real VAD.

The user is the calibration voice (``talk.flac``: speech from end to end, 3.2 s).
"""

import numpy as np
import pytest

from dsb_ifeval.adapters.calibration import _clip
from dsb_ifeval.adapters.cascade_ears import FRAME, Ears, trimmed
from dsb_ifeval.audio import resample

TALK = np.tile(resample(_clip("talk"), 24_000, 16_000), 14)


def silence(seconds):
    return np.zeros(int(16_000 * seconds), np.float32)


def talk(seconds):
    return TALK[: int(16_000 * seconds)]


def stretches(split_frames, *pieces):
    ears = Ears(split_frames)
    audio = np.concatenate(pieces)
    for frame in audio[: len(audio) // FRAME * FRAME].reshape(-1, FRAME):
        ears.hear(frame)
    return ears.take()


def test_silence_and_nothing_have_no_stretches():
    assert stretches(16, silence(3)) == []
    assert stretches(16, silence(0)) == []
    assert len(trimmed(silence(0))) == len(trimmed(silence(1))) == 0


def test_a_stretch_is_the_user_audio_wherever_the_frame_grid_falls():
    for offset_ms in range(0, 160, 20):  # user chunks are 20 ms, frames 32 ms
        (heard,) = stretches(16, silence(1 + offset_ms / 1000), talk(1.5), silence(1))
        assert heard.tobytes() == trimmed(talk(1.5)).tobytes()


def test_a_pause_of_the_split_length_closes_a_stretch_and_a_shorter_one_does_not():
    # 16 frames are 512 ms; the VAD takes up to 128 ms of a pause for speech
    assert len(stretches(16, talk(1), silence(0.7), talk(1), silence(1))) == 2
    assert len(stretches(16, talk(1), silence(0.4), talk(1), silence(1))) == 1


def test_short_sounds_are_dropped():
    assert stretches(16, silence(1), talk(0.12), silence(1)) == []
    assert len(stretches(16, silence(1), talk(0.5), silence(1))) == 1


def test_speech_without_pauses_is_cut_below_thirty_seconds_and_nothing_is_heard_twice():
    lengths = [len(heard) / 16_000 for heard in stretches(16, talk(40), silence(1))]
    assert len(lengths) == 2
    assert max(lengths) <= 28
    assert sum(lengths) == pytest.approx(40, abs=0.3)


def test_other_sounds_before_do_not_change_a_stretch():
    noise = np.random.default_rng(0).normal(0, 0.002, 16_000).astype(np.float32)
    with_noise = stretches(16, noise, silence(1), talk(1.5), silence(1))[-1]
    assert with_noise.tobytes() == trimmed(talk(1.5)).tobytes()
