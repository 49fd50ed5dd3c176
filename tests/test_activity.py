"""The run-time speech tracker: its rules on scripted probabilities, then on real speech."""

from __future__ import annotations

import time
from pathlib import Path

import numpy as np
import pytest
import soundfile
from hypothesis import given, settings
from hypothesis import strategies as st

from dsb_ifeval.intervals import Interval
from dsb_ifeval.vad import PAPER_SETTINGS, SileroVad, SpeechTracker, activity, speech_spans
from dsb_ifeval.vad.resample import BLOCK, HISTORY, REACH, frames_of_24k, frames_view

GOLDEN = Path(__file__).parent / "golden"
LOUD = np.full(BLOCK, 0.1, np.float32)
QUIET = np.zeros(BLOCK, np.float32)
PAD_MS = PAPER_SETTINGS.speech_pad_ms


@pytest.fixture(scope="module")
def speech():
    return soundfile.read(GOLDEN / "vad_speech.flac", dtype="float32")[0]


class ScriptedVad:
    """Stands in for the network: the next probability per frame, and how many frames it ran."""

    def __init__(self, script: str) -> None:
        self.script = [{"#": 0.9, "-": 0.4, ".": 0.1}[mark] for mark in script]
        self.ran: list[int] = []

    def advance(self, frames, state):
        self.ran.append(len(frames))
        return np.array([0.0] * (len(frames) - 1) + [self.script.pop(0)], np.float32), state


def scripted(monkeypatch, script):
    vad = ScriptedVad(script)
    monkeypatch.setattr(activity, "SileroVad", lambda: vad)
    tracker = SpeechTracker()
    tracker.push(np.zeros(REACH, np.float32))  # from here on each block pushed is judged at once
    return tracker, vad


def push_all(tracker, audio, size):
    for first in range(0, len(audio), size):
        tracker.push(audio[first : first + size])


def onsets(tracker):
    return [span.start_ms for span in tracker.spans_so_far]


def test_before_any_speech():
    tracker = SpeechTracker()
    tracker.push(np.zeros(480, np.float32))
    assert not tracker.active
    assert tracker.last_onset_ms is None
    assert tracker.last_offset_ms is None
    assert tracker.first_onset_at_or_after(0) is None
    assert tracker.spans_so_far == ()
    assert tracker.now_ms == 20
    assert tracker.quiet_for_ms(20) == 20


def test_onset_and_offset_rule(monkeypatch):
    #      block  0 1 2 3 4 5 6 7 8 9   (32 ms each)
    tracker, _ = scripted(monkeypatch, ".##.-#....")
    seen = []
    for _ in range(10):
        tracker.push(LOUD)
        seen.append((tracker.active, tracker.last_onset_ms, tracker.last_offset_ms))
    assert seen[0] == (False, None, None)
    assert seen[1] == (True, 32, None)
    assert seen[8] == (True, 32, None)  # silence since block 6, 64 ms: not yet an end
    assert seen[9] == (False, 32, 192)  # block 9 starts 96 ms after it
    assert tracker.spans_so_far == (Interval(32, 192),)
    assert tracker.quiet_for_ms(320) == 128


def test_onsets_can_be_looked_up(monkeypatch):
    tracker, _ = scripted(monkeypatch, "#....##....##")
    for _ in range(13):
        tracker.push(LOUD)
    assert tracker.spans_so_far == (Interval(0, 32), Interval(160, 224), Interval(352, 417))
    assert tracker.active
    assert tracker.last_onset_ms == 352
    assert tracker.last_offset_ms == 224
    assert tracker.quiet_for_ms(416) == 0
    found = [tracker.first_onset_at_or_after(ms) for ms in (0, 1, 160, 161, 352, 353)]
    assert found == [0, 160, 160, 352, 352, None]


def test_incomplete_block_is_not_judged(monkeypatch):
    tracker, _ = scripted(monkeypatch, "##")
    tracker.push(LOUD[:-1])
    assert (tracker.active, tracker.now_ms) == (False, 33)
    tracker.push(LOUD[:1])
    assert tracker.active
    tracker.push(LOUD[:240])
    assert tracker.spans_so_far == (Interval(0, 43),)


def test_idle_does_not_run_the_network(monkeypatch):
    tracker, vad = scripted(monkeypatch, "")
    noise = np.random.default_rng(0).standard_normal(24_000).astype(np.float32)
    tracker.push(np.zeros(24_000, np.float32))
    tracker.push(noise * np.float32(10 ** (-62 / 20)))
    assert vad.ran == []


def test_skipped_blocks_are_run_before_the_next_sound(monkeypatch):
    tracker, vad = scripted(monkeypatch, "......")
    for block in [QUIET, LOUD, LOUD, *[QUIET] * 9, LOUD, LOUD]:
        tracker.push(block)
    assert vad.ran == [2, 1, 5, 1]  # at most four skipped blocks


def test_quiet_blocks_inside_speech_are_run(monkeypatch):
    tracker, vad = scripted(monkeypatch, "##....")
    for block in [LOUD, LOUD, *[QUIET] * 6]:
        tracker.push(block)
    assert tracker.spans_so_far == (Interval(0, 64),)
    assert vad.ran == [1] * 6  # idle again once the end is confirmed


def test_network_cannot_hold_speech_in_silence(monkeypatch):
    tracker, _ = scripted(monkeypatch, "#" * 10)
    for block in [LOUD, LOUD, *[QUIET] * 12]:
        tracker.push(block)
    assert tracker.spans_so_far == (Interval(0, 320),)  # eight quiet blocks at most


@settings(max_examples=30, deadline=None)
@given(st.lists(st.integers(0, 3000), min_size=1, max_size=20))
def test_push_sizes_do_not_matter(sizes):
    speech = soundfile.read(GOLDEN / "vad_speech.flac", dtype="float32")[0][: 6 * 24_000]
    whole, cut = SpeechTracker(), SpeechTracker()
    whole.push(speech)
    position = 0
    while position < len(speech):
        size = sizes[position % len(sizes)] + 1
        cut.push(speech[position : position + size])
        position += size
    assert cut.spans_so_far == whole.spans_so_far
    assert (cut.now_ms, cut.last_offset_ms) == (whole.now_ms, whole.last_offset_ms)


def test_answers_are_causal(speech):
    tracker, at_tick = SpeechTracker(), []
    for first in range(0, len(speech), 480):
        tracker.push(speech[first : first + 480])
        at_tick.append((tracker.active, tracker.last_onset_ms))
    for ticks in (100, 130, 333):
        other = SpeechTracker()
        push_all(other, speech[: ticks * 480], 7919)
        assert (other.active, other.last_onset_ms) == at_tick[ticks - 1]


def test_agrees_with_the_scorer(speech):
    tracker = SpeechTracker()
    push_all(tracker, speech, 480)
    scored = speech_spans(speech, 24_000, PAPER_SETTINGS)
    assert len(tracker.spans_so_far) == len(scored)
    for ours, theirs in zip(tracker.spans_so_far, scored, strict=True):
        assert abs(ours.start_ms - theirs.start_ms) <= 64
        assert abs(ours.end_ms - theirs.end_ms) <= 64


def test_broken_samples_count_as_silence(speech):
    tracker, broken = SpeechTracker(), speech.copy()
    broken[[3, 1000]], broken[20_000] = np.nan, np.inf  # in the silence before the first word
    tracker.push(broken)
    clean = SpeechTracker()
    clean.push(speech)
    assert onsets(tracker) == onsets(clean)


def test_shape_is_checked():
    with pytest.raises(ValueError, match=r"samples of shape \(m,\), got \(2, 480\)"):
        SpeechTracker().push(np.zeros((2, 480), np.float32))


def test_silence_costs_little():
    tracker, tick = SpeechTracker(), np.zeros(480, np.float32)
    begin = time.process_time()
    for now_ms in range(0, 60_000, 20):
        tracker.push(tick)
        assert not tracker.active
        tracker.quiet_for_ms(now_ms)
    assert 60 / (time.process_time() - begin) > 1000  # x real time; about 4000 measured


@pytest.mark.parametrize(
    ("hertz", "gain"), [(100, 1), (1000, 1), (6500, 1), (8200, 0), (11_000, 0)]
)
def test_resampler_passes_speech_and_stops_aliases(hertz, gain):
    count = 3
    samples = np.arange(HISTORY + count * BLOCK)
    tone = np.sin(2 * np.pi * hertz * samples / 24_000).astype(np.float32)
    frames = frames_of_24k(frames_view(tone))
    assert frames.shape == (count, 576)
    for index, frame in enumerate(frames):
        at = index * BLOCK + REACH + 1.5 * np.arange(576)
        expected = gain * np.sin(2 * np.pi * hertz * at / 24_000)
        np.testing.assert_allclose(frame, expected, atol=0.01)


def test_same_frames_one_by_one(speech):
    window = np.ascontiguousarray(speech[48_000 : 48_000 + HISTORY + 5 * BLOCK])
    together = frames_of_24k(frames_view(window))
    for index in range(5):
        alone = frames_of_24k(frames_view(window)[index : index + 1])
        np.testing.assert_array_equal(alone[0], together[index])


@pytest.mark.speech
def test_onsets_on_synthesized_speech():
    hibari = pytest.importorskip("hibari")
    voice, draw = hibari.Hibari(threads=1), np.random.default_rng(1)
    text = ["Is it the left one?", "Okay.", "I took two aspirin at noon."]
    parts = []
    for index in range(12):
        parts.append(np.zeros(int(draw.integers(8_000, 40_000)), np.float32))
        parts.append(0.7 * np.asarray(voice(text[index % 3], seed=index), np.float32))
    audio = np.concatenate([*parts, np.zeros(12_000, np.float32)])
    tracker = SpeechTracker()
    push_all(tracker, audio, 480)
    scored = speech_spans(audio, 24_000, PAPER_SETTINGS)
    assert len(scored) >= 12
    assert len(tracker.spans_so_far) == len(scored)
    late = [
        ours.start_ms - theirs.start_ms - PAD_MS
        for ours, theirs in zip(tracker.spans_so_far, scored, strict=True)
    ]
    assert all(-64 <= value + PAD_MS <= 64 for value in late)
    assert np.median(late) == 0


def test_tracker_uses_the_fast_graph():
    assert not SileroVad().reference
