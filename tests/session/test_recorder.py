"""Placement at max(arrival, cursor) and the as-heard rendering, to the sample.

24 samples are 1 ms. Model audio here is a constant, so that every sample tells its reply.
"""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from dsb_ifeval.events import Event, EventKind, Output
from dsb_ifeval.recorder import Recorder, render_as_heard

MS = 24


def tone(ms, value=1000):
    return np.full(ms * MS, value, np.int16)


def channel_of(*pieces, total_ms):
    """A channel from (at ms, audio)."""
    channel = np.zeros(total_ms * MS, np.int16)
    for at_ms, audio in pieces:
        channel[at_ms * MS : at_ms * MS + len(audio)] = audio
    return channel


def burst(recorder, at_ms, audio_ms, speed, until_ms, chunk_ms=200, value=1000, response=""):
    """Chunks generated at ``speed`` times real time; the server stops at ``until_ms``."""
    for k in range(-(-audio_ms // chunk_ms)):
        arrival = at_ms + int(k * chunk_ms / speed)
        if arrival > until_ms:
            break
        piece = min(chunk_ms, audio_ms - k * chunk_ms)
        recorder.add(Output(audio=tone(piece, value), response=response), arrival)


# --- as placed ---


def test_placement_at_arrival_then_at_the_cursor_then_after_a_gap():
    recorder = Recorder()
    recorder.add(Output(audio=tone(1000, 1)), 1000)  # 1000-2000
    recorder.add(Output(audio=tone(1000, 2)), 1500)  # queued: 2000-3000
    recorder.add(Output(audio=tone(500, 3)), 5000)  # after a gap: 5000-5500
    assert [(e.t_ms, e.at, e.samples) for e in recorder.events] == [
        (1000, 1000 * MS, 1000 * MS),
        (1500, 2000 * MS, 1000 * MS),
        (5000, 5000 * MS, 500 * MS),
    ]
    expected = channel_of(
        (1000, tone(1000, 1)), (2000, tone(1000, 2)), (5000, tone(500, 3)), total_ms=6000
    )
    assert np.array_equal(recorder.channel(6000 * MS), expected)


def test_audio_that_arrives_exactly_at_the_cursor_follows_on():
    recorder = Recorder()
    recorder.add(Output(audio=tone(100, 1)), 0)
    recorder.add(Output(audio=tone(100, 2)), 100)
    assert [e.at for e in recorder.events] == [0, 100 * MS]


@given(st.lists(st.integers(0, 2000), max_size=20), st.integers(0, 3000))
def test_chunked_equals_unchunked(sizes, arrival):
    # a burst that arrives at one instant is one stretch, however it is cut
    audio = np.arange(sum(sizes), dtype=np.int64).astype(np.int16)
    whole, cut = Recorder(), Recorder()
    whole.add(Output(audio=audio), arrival)
    for piece in np.split(audio, np.cumsum(sizes)[:-1]) if sizes else []:
        cut.add(Output(audio=piece), arrival)
    assert np.array_equal(whole.channel(200_000), cut.channel(200_000))
    assert cut.queued_samples == sum(sizes) + (arrival * MS if sizes and sum(sizes) else 0)


def test_what_was_heard_tick_by_tick_is_the_channel():
    recorder, heard = Recorder(), []
    recorder.add(Output(audio=tone(333, 7)), 50)
    for end_ms in range(20, 620, 20):
        if end_ms == 400:
            recorder.add(Output(audio=tone(35, 9)), 391)
        heard.append(recorder.heard_until(end_ms))
    heard = np.concatenate(heard)
    assert heard.dtype == np.float32
    placed = channel_of((50, tone(333, 7)), (391, tone(35, 9)), total_ms=600)
    assert np.array_equal(heard, placed.astype(np.float32) / 32768)
    assert np.array_equal(recorder.channel(600 * MS), placed)


def test_queue():
    recorder = Recorder()
    assert recorder.queued_samples == 0
    recorder.add(Output(audio=tone(1000)), 0)
    recorder.heard_until(400)
    assert recorder.queued_samples == 600 * MS
    recorder.heard_until(1500)
    assert recorder.queued_samples == 0


def test_longer_than_a_minute():
    recorder = Recorder()
    recorder.add(Output(audio=tone(70_000, 5)), 59_000)  # 59 s - 129 s
    recorder.add(Output(audio=tone(20, 6)), 300_000)
    channel = recorder.channel(301_000 * MS)
    assert len(channel) == 301_000 * MS
    expected = channel_of((59_000, tone(70_000, 5)), (300_000, tone(20, 6)), total_ms=301_000)
    assert np.array_equal(channel, expected)


def test_channel_is_cut_and_padded_and_a_copy():
    recorder = Recorder()
    recorder.add(Output(audio=tone(1000)), 0)
    assert len(recorder.channel(10)) == 10
    assert len(recorder.channel(90_000 * MS)) == 90_000 * MS
    recorder.channel(100)[:] = 0
    assert recorder.channel(100).all()


def test_float_and_int16_are_the_same_audio():
    pcm = np.array([-32768, -1, 0, 1, 32767], np.int16)
    one, other = Recorder(), Recorder()
    one.add(Output(audio=pcm), 0)
    other.add(Output(audio=pcm.astype(np.float64) / 32768), 0)
    assert np.array_equal(one.channel(5), other.channel(5))
    other.add(Output(audio=np.array([-1.5, 1.0, 1.5], np.float32)), 0)
    assert other.channel(8)[5:].tolist() == [-32768, 32767, 32767]  # clipped, not wrapped


@pytest.mark.parametrize(
    ("audio", "message"),
    [
        (np.array([0.0, np.nan], np.float32), "NaN"),
        (np.array([np.inf], np.float32), "NaN or infinity"),
        (np.zeros((1, 480), np.float32), r"shape \(1, 480\)"),
        (np.zeros(480, np.int32), "int32"),
        (np.zeros(480, np.uint8), "uint8"),
        (np.zeros(480, np.complex64), "complex64"),
    ],
)
def test_audio_that_is_none(audio, message):
    recorder = Recorder()
    with pytest.raises(ValueError, match=message):
        recorder.add(Output(audio=audio), 0)
    assert recorder.events == []
    assert not recorder.channel(480).any()


def test_none_and_empty_audio_leave_no_trace():
    recorder = Recorder()
    recorder.add(Output(), 100)
    recorder.add(Output(audio=np.zeros(0, np.float32)), 100)
    assert recorder.events == []
    assert recorder.queued_samples == 0


def test_busy_and_done():
    recorder = Recorder()
    assert (recorder.busy, recorder.done_ms) == (False, None)
    recorder.add(Output(started=True, response="a"), 100)
    assert (recorder.busy, recorder.done_ms) == (True, None)
    recorder.add(Output(audio=tone(5000), response="a"), 200)  # plays 200-5200
    recorder.add(Output(done=True, response="a"), 300)
    assert (recorder.busy, recorder.done_ms) == (False, 5200)  # end of the placed audio
    recorder.add(Output(started=True, response="b"), 6000)
    recorder.add(Output(done=True, response="b"), 7000)
    assert (recorder.busy, recorder.done_ms) == (False, 7000)  # the event is later


def test_one_of_two_replies_completes():
    recorder = Recorder()
    recorder.add(Output(started=True, response="a"), 0)
    recorder.add(Output(started=True, response="b"), 0)
    recorder.add(Output(done=True, response="a"), 10)
    assert recorder.busy
    recorder.add(Output(done=True, response="b"), 20)
    recorder.add(Output(done=True, response="b"), 30)  # sent twice
    assert not recorder.busy


def test_one_output_with_everything_is_logged_in_order():
    recorder = Recorder()
    recorder.add(Output(tone(20), "hi", "a", started=True, done=True, interrupted=True), 40)
    assert [event.kind.value for event in recorder.events] == [
        "started",
        "text",
        "audio",
        "interrupted",
        "done",
    ]
    assert {event.response for event in recorder.events} == {"a"}
    assert recorder.done_ms == 60


def test_events_survive_json():
    recorder = Recorder()
    recorder.add(Output(tone(20), "hi", "a", started=True, done=True, interrupted=True), 40)
    recorder.add(Output(text="there"), 60)
    rows = [event.to_json() for event in recorder.events]
    assert [Event.from_json(row) for row in rows] == recorder.events


# --- as heard ---

BARGE_MS, SIGNAL_MS = 3000, 3250


@pytest.mark.parametrize(
    ("seconds", "speed", "placed_ms", "flushed_ms"),
    [  # hosted.md 5.3: chunks of 200 ms, the first at 0
        (4, 1.0, 400, 250),  # chunk 16 arrives at 3200: ends 3400
        (4, 1.5, 1000, 250),  # all of it: 4000
        (4, 10, 1000, 250),
        (8, 1.5, 2000, 250),  # chunk 24 arrives at 3200: ends 5000
        (8, 3, 5000, 250),  # all of it: 8000
        (8, 10, 5000, 250),
        (15, 3, 6800, 250),  # chunk 48 arrives at 3200: ends 9800
        (15, 10, 12_000, 250),  # all of it: 15000
    ],
)
@pytest.mark.parametrize("response", ["", "r1"])
def test_yield_latency_of_a_burst(seconds, speed, placed_ms, flushed_ms, response):
    recorder = Recorder()
    burst(recorder, 0, seconds * 1000, speed, SIGNAL_MS, response=response)
    recorder.add(Output(interrupted=True, response=response), SIGNAL_MS)
    placed = recorder.channel(30_000 * MS)
    heard = render_as_heard(placed, recorder.events)
    assert np.array_equal(placed, channel_of((0, tone(BARGE_MS + placed_ms)), total_ms=30_000))
    assert np.array_equal(heard, channel_of((0, tone(BARGE_MS + flushed_ms)), total_ms=30_000))


def test_without_an_interruption_both_are_the_same():
    recorder = Recorder()
    burst(recorder, 1000, 5000, 4, 99_999)
    burst(recorder, 9000, 1000, 1, 99_999)
    placed = recorder.channel(12_000 * MS)
    assert np.array_equal(render_as_heard(placed, recorder.events), placed)


def test_trailing_deltas_of_an_interrupted_reply_are_dropped():
    recorder = Recorder()
    recorder.add(Output(audio=tone(2000, 1), response="r1"), 0)  # 0-2000
    recorder.add(Output(interrupted=True, response="r1"), 500)
    recorder.add(Output(audio=tone(400, 2), response="r1"), 520)  # in flight: placed 2000-2400
    recorder.add(Output(audio=tone(300, 3), response="r2"), 1000)  # placed 2400-2700
    placed = recorder.channel(3000 * MS)
    assert np.array_equal(
        placed,
        channel_of((0, tone(2000, 1)), (2000, tone(400, 2)), (2400, tone(300, 3)), total_ms=3000),
    )
    # a listener: r1 until 500, nothing queued any more, r2 at its arrival
    assert np.array_equal(
        render_as_heard(placed, recorder.events),
        channel_of((0, tone(500, 1)), (1000, tone(300, 3)), total_ms=3000),
    )


def test_a_signal_without_an_id_drops_the_reply_that_plays():
    # Realtime's speech_started names no response
    recorder = Recorder()
    recorder.add(Output(audio=tone(2000, 1), response="r1"), 0)
    recorder.add(Output(interrupted=True), 500)
    recorder.add(Output(audio=tone(400, 2), response="r1"), 520)
    recorder.add(Output(audio=tone(300, 3), response="r2"), 1000)
    heard = render_as_heard(recorder.channel(3000 * MS), recorder.events)
    expected = channel_of((0, tone(500, 1)), (1000, tone(300, 3)), total_ms=3000)
    assert np.array_equal(heard, expected)


def test_without_any_ids_later_audio_is_the_next_reply():
    recorder = Recorder()
    recorder.add(Output(audio=tone(2000, 1)), 0)
    recorder.add(Output(interrupted=True), 500)
    recorder.add(Output(audio=tone(400, 2)), 800)  # placed 2000-2400, heard 800-1200
    recorder.add(Output(audio=tone(400, 3)), 900)  # queued behind it: 1200-1600
    heard = render_as_heard(recorder.channel(3000 * MS), recorder.events)
    expected = channel_of(
        (0, tone(500, 1)), (800, tone(400, 2)), (1200, tone(400, 3)), total_ms=3000
    )
    assert np.array_equal(heard, expected)


def test_an_interruption_with_nothing_queued_cuts_nothing():
    recorder = Recorder()
    recorder.add(Output(audio=tone(400, 1), response="r1"), 0)
    recorder.add(Output(interrupted=True), 1000)
    recorder.add(Output(audio=tone(400, 2), response="r2"), 1500)
    placed = recorder.channel(3000 * MS)
    assert np.array_equal(render_as_heard(placed, recorder.events), placed)


def test_a_second_interruption():
    recorder = Recorder()
    recorder.add(Output(audio=tone(2000, 1), response="r1"), 0)
    recorder.add(Output(interrupted=True), 500)
    recorder.add(Output(audio=tone(2000, 2), response="r2"), 1000)  # placed 2000-4000
    recorder.add(Output(interrupted=True), 1700)
    recorder.add(Output(audio=tone(100, 3), response="r3"), 1700)  # placed 4000-4100
    heard = render_as_heard(recorder.channel(5000 * MS), recorder.events)
    expected = channel_of(
        (0, tone(500, 1)), (1000, tone(700, 2)), (1700, tone(100, 3)), total_ms=5000
    )
    assert np.array_equal(heard, expected)


def test_two_queued_replies_are_both_interrupted():
    # r1 plays 0-1000, r2 is queued 1000-2000; at 500 a client flushes both
    recorder = Recorder()
    recorder.add(Output(audio=tone(1000, 1), response="r1"), 0)
    recorder.add(Output(audio=tone(1000, 2), response="r2"), 100)
    recorder.add(Output(interrupted=True), 500)
    recorder.add(Output(audio=tone(200, 3), response="r2"), 520)  # in flight
    heard = render_as_heard(recorder.channel(3000 * MS), recorder.events)
    assert np.array_equal(heard, channel_of((0, tone(500, 1)), total_ms=3000))


def test_a_reply_interrupted_before_its_first_delta():
    # r1 is over; r2 is announced and interrupted before its audio, which is already in flight
    recorder = Recorder()
    recorder.add(Output(audio=tone(400, 1), response="r1"), 0)
    recorder.add(Output(started=True, response="r2"), 900)
    recorder.add(Output(interrupted=True), 1000)
    recorder.add(Output(audio=tone(400, 2), response="r2"), 1010)
    heard = render_as_heard(recorder.channel(3000 * MS), recorder.events)
    assert np.array_equal(heard, channel_of((0, tone(400, 1)), total_ms=3000))


def test_a_reply_that_was_queued_beyond_the_end_of_the_recording():
    # placed 0-15000 and 15000-17000 in a recording of 12 s; a listener hears r2 at 6000-8000
    recorder = Recorder()
    recorder.add(Output(audio=tone(15_000, 1), response="r1"), 0)
    recorder.add(Output(interrupted=True), 3250)
    recorder.add(Output(audio=tone(2000, 2), response="r2"), 6000)
    heard = recorder.heard(12_000 * MS)
    expected = channel_of((0, tone(3250, 1)), (6000, tone(2000, 2)), total_ms=12_000)
    assert np.array_equal(heard, expected)


def test_rendering_leaves_its_input_alone():
    recorder = Recorder()
    recorder.add(Output(audio=tone(1000)), 0)
    recorder.add(Output(interrupted=True), 100)
    placed = recorder.channel(2000 * MS)
    before = placed.copy()
    assert len(render_as_heard(placed, recorder.events)) == len(placed)
    assert np.array_equal(placed, before)
    assert recorder.events[-1].kind is EventKind.INTERRUPTED
