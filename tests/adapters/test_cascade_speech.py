"""The cascade with its real recogniser and voice: what it hears, says and repeats exactly."""

import json
import multiprocessing
from concurrent.futures import ProcessPoolExecutor
from functools import cache

import numpy as np
import pytest

from dsb_ifeval.adapters import SYSTEMS, missing_packages
from dsb_ifeval.adapters.cascade import Cascade
from dsb_ifeval.adapters.cascade_features import log_mel
from dsb_ifeval.adapters.cascade_speech import Recogniser, Voice, without_silence
from dsb_ifeval.audio import resample, sample_hash, to_pcm16
from dsb_ifeval.benchmark import load_benchmark
from dsb_ifeval.cases import Case, Stimulus, Verifier
from dsb_ifeval.conversation import Segment, Turn
from dsb_ifeval.intervals import Interval, samples_to_ms
from dsb_ifeval.session import play_local
from dsb_ifeval.vocab import Action, Level, SegmentKind, TurnMode

pytestmark = [
    pytest.mark.speech,
    pytest.mark.skipif(bool(missing_packages(SYSTEMS["cascade"])), reason="needs cascade extra"),
]

ORDER = "Can I get two burgers and a large iced tea?"
ADDRESS = "I live at four four seven one Maple Street."
STOP = "Wait, stop, that is not what I meant to say."
READ_BACK = "State any address back to the user before moving on."


@cache
def agent():
    return Cascade()


@cache
def spoken(text):
    return to_pcm16(Voice().say(text, 1.0))


def turn(text, mode=TurnMode.TAKE_TURN, after_ms=None):
    pcm = spoken(text)
    segment = Segment("s1", SegmentKind.SPEECH, text, Interval(0, samples_to_ms(len(pcm))))
    return Turn(mode, (segment,), len(pcm), sample_hash(pcm), after_ms)


def stimulus(prompt, first, second, barge_in_ms=None):
    mode = TurnMode.TAKE_TURN if barge_in_ms is None else TurnMode.BARGE_IN
    turn1, turn2 = turn(first), turn(second, mode, barge_in_ms)
    verifier, window = Verifier("listen", {}), Interval(0, turn2.duration_ms)
    case = Case(
        *("A-B-i1-L1", "A-B-i1", "A-B-i1", "A", "B", "B", 1, Level.L1),
        *(Action.LISTEN, Action.LISTEN, prompt, verifier, window, "", None, turn1, turn2, {}),
    )
    return Stimulus(case, spoken(first), spoken(second))


def play(model, prompt, first, second, barge_in_ms=None):
    constants = load_benchmark().session
    recording = play_local(
        model, stimulus(prompt, first, second, barge_in_ms), constants, "cascade"
    )
    assert recording.record.status == "ok", recording.record.reason
    return recording


def fingerprint(recording):
    return recording.record.pcm_sha256, recording.record.text


SESSIONS = (
    ("", ORDER, ADDRESS, None),
    (READ_BACK, ADDRESS, STOP, 1000),
    ("Remain silent, hold off.", ORDER, STOP, None),
)


def play_in_order(order):
    """Fingerprints by session, of a fresh agent; also run in other processes."""
    model = Cascade()
    return {index: fingerprint(play(model, *SESSIONS[index])) for index in order}


def test_reply_uses_the_words_and_the_prompt():
    text = play(agent(), READ_BACK, ADDRESS, ORDER).record.text
    assert "I have, I live at" in text
    assert "Maple Street" in text
    plain = play(agent(), "", ORDER, ADDRESS).record.text
    assert plain.startswith("You asked, Can I get two burgers and a large iced tea")


def test_barge_in_stops_the_recorded_voice():
    recording = play(agent(), READ_BACK, ADDRESS, STOP, 1000)
    onset_ms = recording.record.facts.turn2_onset_ms
    # 224 ms of voiced frames + 32 ms grid + up to 96 ms until the VAD is sure
    silent = slice(24 * (onset_ms + 352), 24 * (onset_ms + 352 + 2000))
    before = slice(24 * (onset_ms - 400), 24 * onset_ms)
    assert np.abs(recording.stereo[before, 1]).max() > 1000
    assert not recording.stereo[silent, 1].any()
    first = [e.text for e in recording.record.events if e.text and e.t_ms < onset_ms + 400]
    assert "Is that right?" not in "".join(first)


def test_recordings_do_not_depend_on_order_process_or_thread_settings(monkeypatch):
    here = play_in_order((0, 1, 2))
    context = multiprocessing.get_context("spawn")
    # Launchers of several processes set these; BLAS reads them when numpy is imported.
    for threads, order in (("1", (2, 1, 0)), ("4", (1, 1, 0, 2))):
        monkeypatch.setenv("OMP_NUM_THREADS", threads)
        monkeypatch.setenv("OPENBLAS_NUM_THREADS", threads)
        with ProcessPoolExecutor(1, mp_context=context) as pool:
            assert pool.submit(play_in_order, order).result() == here


def features_of_noise():
    model = Recogniser()
    noise = np.random.default_rng(0).normal(0, 0.1, 16_000 * 10).astype(np.float32)
    return log_mel(model._model.feature_extractor, noise, 1500).tobytes()


def test_features_do_not_depend_on_thread_settings(monkeypatch):
    context = multiprocessing.get_context("spawn")
    found = set()
    for threads in ("1", "2", "4"):
        monkeypatch.setenv("OMP_NUM_THREADS", threads)
        monkeypatch.setenv("OPENBLAS_NUM_THREADS", threads)
        with ProcessPoolExecutor(1, mp_context=context) as pool:
            found.add(pool.submit(features_of_noise).result())
    assert len(found) == 1


def test_features_are_those_of_faster_whisper():
    extractor = agent()._recogniser._model.feature_extractor
    audio = resample(spoken(ADDRESS).astype(np.float32) / 32768, 24_000, 16_000)
    theirs = extractor(audio)
    ours = log_mel(extractor, audio, theirs.shape[1])
    np.testing.assert_allclose(ours, theirs, atol=1e-4)


def test_memo_gives_what_a_fresh_recogniser_gives():
    audio = resample(spoken(ADDRESS).astype(np.float32) / 32768, 24_000, 16_000)
    once = agent()._recogniser.text(audio)
    assert "Maple Street" in once
    assert agent()._recogniser.text(audio) == once == Recogniser().text(audio)


@pytest.mark.parametrize("seconds", [0.0, 0.01, 0.2, 20.0])
def test_audio_without_words_gives_no_long_text(seconds):
    count = int(16_000 * seconds)
    noise = np.random.default_rng(0).normal(0, 0.01, count).astype(np.float32)
    assert len(agent()._recogniser.text(noise).split()) <= 3
    assert len(agent()._recogniser.text(np.zeros(count, np.float32)).split()) <= 3


@pytest.mark.parametrize("text", ["Mm-hmm.", "Yes.", "Oh."])
def test_short_sounds_give_a_few_words_at_most(text):
    audio = resample(spoken(text).astype(np.float32) / 32768, 24_000, 16_000)
    assert len(agent()._recogniser.text(audio).split()) <= 3


def test_voice_is_repeatable_below_full_scale_and_trimmed():
    voice = Voice()
    first = voice.say(ADDRESS, 1.0)
    voice.say(ORDER, 1.0)
    assert first.tobytes() == Voice().say(ADDRESS, 1.0).tobytes()
    assert 0.05 < np.abs(first).max() < 1
    assert len(voice.say(ADDRESS, 0.9)) > len(first)
    assert len(voice.say("", 1.0)) == len(voice.say("...", 1.0)) == 0
    assert len(without_silence(np.zeros(24_000, np.float32))) == 0


def test_settings_say_what_was_run():
    settings = json.loads(json.dumps(agent().settings))
    assert settings["recogniser"]["model_sha256"].startswith("1a5afae0")
    assert {"endpoint_ms", "latency_ms", "voice", "mind"} <= settings.keys()
