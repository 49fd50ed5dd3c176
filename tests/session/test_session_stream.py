"""Streaming sessions on virtual time: exact stamps, no wall time, no task left behind.

Unless a test says otherwise the user speaks 0-2000 and then 3000 ms.
"""

from __future__ import annotations

import asyncio
import time

import numpy as np
import pytest

from dsb_ifeval.audio import to_pcm16
from dsb_ifeval.clock import WallClock
from dsb_ifeval.events import EventKind, Output
from dsb_ifeval.recorder import render_as_heard
from dsb_ifeval.session import play_local, play_stream
from dsb_ifeval.testing import (
    Arrival,
    Hang,
    ScriptedModel,
    ScriptedStream,
    VirtualLoop,
    assert_no_tasks,
    make_stimulus,
    reply,
    speech,
    virtual_run,
)

MS = 24


@pytest.fixture
def play(constants):
    def run(stream, *args, **kwargs):
        stimulus = make_stimulus(*args, **kwargs)
        return virtual_run(play_stream(stream, stimulus, constants, "test", WallClock()))

    return run


def schedule(recording):
    assert recording.record.status == "ok", recording.record.reason
    return recording.record.facts


# --- the kit itself ---


def test_waiting_takes_no_time():
    async def main():
        await asyncio.sleep(3600)
        return asyncio.get_running_loop().time()

    began = time.perf_counter()
    assert virtual_run(main()) == 3600
    assert time.perf_counter() - began < 1


def test_timers_fire_in_order_at_their_time():
    async def note(log, seconds):
        await asyncio.sleep(seconds)
        log.append((seconds, asyncio.get_running_loop().time()))

    async def main():
        log = []
        await asyncio.gather(*(note(log, seconds) for seconds in (0.3, 0.1, 0.2)))
        return log

    assert virtual_run(main()) == [(0.1, 0.1), (0.2, 0.2), (0.3, 0.3)]


def test_twenty_ms_steps_stay_on_the_grid():
    async def main():
        loop = asyncio.get_running_loop()
        for _ in range(5000):
            await asyncio.sleep(0.02)
        return loop.time()

    assert virtual_run(main()) == 100.0


def test_a_hang_is_an_error():
    async def main():
        await asyncio.Event().wait()

    with pytest.raises(Hang, match=r"no timer is scheduled and every task waits.*main"):
        virtual_run(main())


def test_a_task_left_running_is_an_error():
    async def forgotten():
        await asyncio.sleep(10)

    async def main():
        kept.append(asyncio.create_task(forgotten(), name="reader"))
        await asyncio.sleep(1)

    kept = []
    with pytest.raises(AssertionError, match=r"left running: reader \(.*forgotten"):
        virtual_run(main())
    assert kept[0].cancelled()


def test_assert_no_tasks_inside_a_session():
    async def main():
        assert_no_tasks()
        task = asyncio.create_task(asyncio.sleep(1))
        with pytest.raises(AssertionError, match="left running"):
            assert_no_tasks()
        await task

    virtual_run(main())


def test_an_error_is_raised_and_its_tasks_are_cancelled():
    async def main():
        kept.append(asyncio.create_task(asyncio.sleep(10)))
        await asyncio.sleep(0)
        raise LookupError("mine")

    kept = []
    with pytest.raises(LookupError, match="mine"):
        virtual_run(main())
    assert kept[0].cancelled()


def test_blocking_lets_time_pass():
    async def main():
        loop = asyncio.get_running_loop()
        assert isinstance(loop, VirtualLoop)
        loop.block(0.5)
        return loop.time()

    assert virtual_run(main()) == 0.5


def test_the_clock_reads_the_deadline_it_slept_until():
    async def main():
        clock = WallClock()
        clock.start()
        wrong = []
        for deadline in range(5000):
            await clock.sleep_until(deadline)
            if clock.now_ms() != deadline:
                wrong.append((deadline, clock.now_ms()))
        return wrong

    assert virtual_run(main()) == []


def test_the_clock_starts_anywhere_and_does_not_wait_for_the_past():
    async def main():
        clock = WallClock()
        await asyncio.sleep(12.34)
        clock.start()
        assert clock.now_ms() == 0
        await clock.sleep_until(500)
        assert clock.now_ms() == 500
        await clock.sleep_until(100)
        assert clock.now_ms() == 500

    virtual_run(main())


# --- the same session, local and streaming ---


def speaking(*spans):
    """A stream that says, chunk by chunk in real time, what a ScriptedModel says in a span."""
    return ScriptedStream([a for start, end in spans for a in reply(start, end - start)])


@pytest.mark.parametrize(
    ("spans", "barge_in"),
    [
        ([], None),
        ([(3000, 4000)], None),
        ([(3000, 4000), (8000, 9000), (12_000, 12_500)], None),
        ([(1500, 3000)], None),
        ([(4000, 8000)], 3000),
        ([(1000, 5000)], 2000),
        ([], 3000),
    ],
)
def test_a_stream_and_a_local_model_give_the_same_session(constants, play, spans, barge_in):
    stimulus = make_stimulus(barge_in_after_ms=barge_in)
    local = play_local(ScriptedModel(spans), stimulus, constants, "test")
    stream = play(speaking(*spans), barge_in_after_ms=barge_in)
    assert schedule(stream) == schedule(local)
    assert np.array_equal(stream.stereo, local.stereo)
    assert stream.record.clock == "wall"


def test_the_stream_is_sent_what_is_recorded(constants, play):
    stream = speaking((3000, 4000))
    recording = play(stream, [1013], [1507])
    assert {len(chunk) for chunk in stream.sent} == {480}
    assert {chunk.dtype for chunk in stream.sent} == {np.dtype(np.int16)}
    assert np.array_equal(np.concatenate(stream.sent), recording.stereo[:, 0])
    assert stream.prompts == ["Be brief."]
    assert stream.closed == 1


def test_an_hour_of_session_in_no_time(play):
    began = time.perf_counter()
    schedule(play(ScriptedStream()))
    assert time.perf_counter() - began < 5


# --- arrivals ---


def test_arrivals_are_stamped_to_the_ms(play):
    times = [2000, 2001, 2019, 2020, 2021, 3333, 4010, 4020]
    arrivals = [Arrival(t, Output(text=f"{t} ")) for t in times]
    record = play(ScriptedStream(arrivals)).record
    assert [event.t_ms for event in record.events] == times
    assert record.text == "2000 2001 2019 2020 2021 3333 4010 4020 "


def test_a_burst_plays_in_real_time(play, near):
    # 4 s sent in 400 ms from 3000 on: plays 3000-7000, + 600
    recording = play(ScriptedStream(reply(3000, 4000, speed=10)))
    near(schedule(recording).turn2_onset_ms, 7600)
    assert np.array_equal(recording.stereo[3000 * MS : 7000 * MS, 1], to_pcm16(speech(4000)))


def test_completion_before_the_end_of_playout(play):
    # announced 3000, completed 3398 (chunk 199 at 3000 + 199 * 2), plays until 7000: + 600
    recording = play(ScriptedStream(reply(3000, 4000, speed=10, events=True)))
    done = [event.t_ms for event in recording.record.events if event.kind is EventKind.DONE]
    assert done == [3398]
    # the placed end is exact; the tracker may hear the end up to two blocks later
    assert 7600 <= schedule(recording).turn2_onset_ms <= 7600 + 64 + 20


def test_completion_after_the_end_of_playout(play):
    arrivals = [*reply(3000, 1000, speed=10), Arrival(2900, Output(started=True))]
    recording = play(ScriptedStream([*arrivals, Arrival(6000, Output(done=True))]))
    # known in the tick that ends at 6020 or before: 6000 + 600
    assert schedule(recording).turn2_onset_ms == 6600


def test_an_announced_reply_is_waited_for(play, near):
    # announced 4.9 s after turn 1; its audio comes 7 s after it and ends at 10000
    arrivals = [Arrival(6900, Output(started=True)), Arrival(9900, Output(done=True))]
    recording = play(ScriptedStream([*arrivals, *reply(9000, 1000)]))
    near(schedule(recording).turn2_onset_ms, 10_600)


def test_as_heard_and_as_placed_from_one_session(play, near):
    # barge-in: 8 s at 3x from 3000 on; turn 2 at about 6000; 250 ms later the server stops
    # generating (7.75 s * 3 > 8 s: all of it was sent) and says so
    arrivals = [*reply(3000, 8000, speed=3, chunk_ms=200), Arrival(6250, Output(interrupted=True))]
    recording = play(ScriptedStream(arrivals), barge_in_after_ms=3000)
    near(schedule(recording).turn2_onset_ms, 6000)
    placed = recording.stereo[:, 1]
    heard = render_as_heard(placed, recording.record.events)
    voice = to_pcm16(speech(8000))
    assert np.array_equal(placed[3000 * MS : 11_000 * MS], voice)  # 5000 after turn 2
    assert np.array_equal(heard[3000 * MS : 6250 * MS], voice[: 3250 * MS])  # 250 after it
    assert not heard[6250 * MS :].any()


def test_a_slow_send_does_not_move_arrival_stamps(play):
    # every send takes 15 ms of the 20: messages in between are stamped when they arrive
    times = [2003, 2007, 2011, 2015, 2016, 3001]
    stream = ScriptedStream([Arrival(t, Output(text="x")) for t in times], send_ms=15)
    recording = play(stream)
    assert [event.t_ms for event in recording.record.events] == times
    assert schedule(recording).turn2_onset_ms == 7000


def test_a_stall_of_the_sender_is_caught_up(play):
    class Stalls(ScriptedStream):
        async def send(self, chunk):
            await super().send(chunk)
            if len(self.sent) == 150:  # 2980-3000: hangs for 150 ms
                await asyncio.sleep(0.15)

    times = [2990, 3050, 3100, 3200]
    stream = Stalls([Arrival(t, Output(text="x")) for t in times])
    recording = play(stream)
    assert [event.t_ms for event in recording.record.events] == times
    # deadlines are absolute: the schedule does not move
    assert schedule(recording).turn2_onset_ms == 7000
    assert len(stream.sent) * 20 == schedule(recording).end_ms


def test_a_slow_decoder_does_not_move_earlier_stamps(play):
    class Slow(ScriptedStream):
        def decode(self, message):
            asyncio.get_running_loop().block(0.005)
            return super().decode(message)

    # four messages in one tick, 20 ms of decoding after it: stamped before any of it
    times = [2001, 2005, 2009, 2013]
    record = play(Slow([Arrival(t, Output(text="x")) for t in times])).record
    assert [event.t_ms for event in record.events] == times


def test_a_session_that_falls_behind_is_not_scored(play):
    # each send takes 25 ms: after 20 s of session the user's audio is 5 s late
    record = play(ScriptedStream(send_ms=25)).record
    assert record.status == "failed"
    assert "late" in record.reason or "behind" in record.reason


# --- faults: the case fails with a reason, the connection is closed, nothing is left ---


def failed(recording, stream, *words):
    record = recording.record
    assert record.status == "failed"
    assert record.facts is None
    assert record.samples == len(recording.stereo)
    assert stream.closed == 1
    for word in words:
        assert word in record.reason
    return recording


def test_the_connection_ends_early(play):
    # at 3500, in the tick 3500-3520
    stream = ScriptedStream([*reply(3000, 400), Arrival(3500, EOFError("1006"))])
    recording = failed(play(stream), stream, "connection ended", "1006")
    assert 3480 <= recording.record.samples / MS <= 3500
    assert np.array_equal(recording.stereo[3000 * MS : 3400 * MS, 1], to_pcm16(speech(400)))
    assert np.array_equal(recording.stereo[: 2000 * MS, 0], make_stimulus().turn1)


def test_what_arrived_with_the_end_is_kept(play):
    # a burst at 3001, text at 3004, the end at 3005: all in one tick
    burst = Arrival(3001, Output(audio=to_pcm16(speech(10))))
    stream = ScriptedStream(
        [burst, Arrival(3004, Output(text="bye")), Arrival(3005, EOFError("1000"))]
    )
    record = failed(play(stream), stream, "connection ended").record
    assert [event.t_ms for event in record.events] == [3001, 3004]
    assert record.text == "bye"


def test_an_error_message_before_the_end_is_the_reason(play):
    # providers say why and hang up: the why must reach the record
    class Explains(ScriptedStream):
        def decode(self, message):
            if message.text == "error":
                raise RuntimeError("rate limit reached")
            return super().decode(message)

    stream = Explains([Arrival(3001, Output(text="error")), Arrival(3002, EOFError("1008"))])
    failed(play(stream), stream, "rate limit reached")


def test_receive_raises(play):
    stream = ScriptedStream([Arrival(3010, ConnectionResetError("peer"))])
    recording = failed(play(stream), stream, "ConnectionResetError", "peer")
    assert recording.record.samples == 3000 * MS


def test_the_reader_is_cancelled_from_outside(play):
    # an SDK may cancel what waits for it; that is a broken connection, not a cancelled run
    stream = ScriptedStream([Arrival(3010, asyncio.CancelledError())])
    failed(play(stream), stream)


@pytest.mark.parametrize("method", ["send", "decode"])
def test_send_or_decode_raises(play, method):
    faults = {method: ValueError("broken")}
    stream = ScriptedStream(reply(3000, 1000), faults, fault_ms=3500)
    recording = failed(play(stream), stream, "ValueError", "broken")
    assert recording.record.samples in (3480 * MS, 3500 * MS)
    assert recording.stereo[3000 * MS :, 1].any()


def test_open_raises(play):
    stream = ScriptedStream(faults={"open": PermissionError("401")})
    recording = failed(play(stream), stream, "PermissionError", "401")
    assert recording.record.samples == 0


def test_close_raises_after_a_session(play):
    stream = ScriptedStream(reply(3000, 1000), {"close": OSError("gone")})
    schedule(play(stream))
    assert stream.closed == 1


def test_close_raises_after_a_fault(play):
    stream = ScriptedStream([Arrival(3000, EOFError("first"))], {"close": OSError("second")})
    failed(play(stream), stream, "first")


def test_audio_that_is_none_names_its_time(play):
    bad = Output(audio=np.array([np.nan], np.float32))
    stream = ScriptedStream([Arrival(3007, bad)])
    failed(play(stream), stream, "3007 ms", "NaN")


@pytest.mark.parametrize("method", ["open", "send", "close"])
def test_a_provider_that_never_answers_does_not_hang_the_run(play, method):
    # no answer to the setup, a full socket, no closing handshake
    stream = ScriptedStream(reply(3000, 1000), {method: None}, fault_ms=4000)
    recording = play(stream)
    if method == "close":
        schedule(recording)
    else:
        failed(recording, stream)


def test_a_stall_is_silence(play):
    # two words, then nothing more comes: the schedule of a reply that ended
    stream = ScriptedStream(reply(3000, 500))
    recording = play(stream)
    assert not recording.stereo[3500 * MS :, 1].any()
    schedule(recording)


def test_a_cancelled_session_closes_its_connection(constants):
    async def main():
        stimulus = make_stimulus()
        session = play_stream(stream, stimulus, constants, "test", WallClock())
        task = asyncio.create_task(session)
        await asyncio.sleep(3)
        task.cancel()
        with pytest.raises(asyncio.CancelledError):
            await task
        assert_no_tasks()

    stream = ScriptedStream(reply(2500, 5000))
    virtual_run(main())
    assert stream.closed == 1


def test_two_sessions_in_one_loop(constants):
    # the second starts at another loop time and is the same
    async def main():
        recordings = []
        for _ in range(2):
            stream = speaking((3000, 4000))
            session = play_stream(stream, make_stimulus(), constants, "test", WallClock())
            recordings.append(await session)
            await asyncio.sleep(1.2345)
        return recordings

    first, second = virtual_run(main())
    assert first.record == second.record
    assert np.array_equal(first.stereo, second.stereo)


def test_settings_echoed_by_the_provider_are_recorded(play):
    class Echoing(ScriptedStream):
        async def open(self, prompt):
            await super().open(prompt)
            self.settings = {"voice": "alto"}

    assert play(Echoing()).record.settings == {"voice": "alto"}
