"""The session engine: one case played against one model (Section 3.3, Appendix F).

:class:`Session` is sans-I/O: it says which 20 ms the user sends, takes the model's stamped
outputs, and closes each tick. Two thin shells drive it: :func:`play_local` exchanges frames
with a local model as fast as it computes, :func:`play_stream` paces a connection in real
time. Both give the same recording for the same outputs at the same times.
"""

from __future__ import annotations

import asyncio
import contextlib
import json
import traceback
from collections.abc import Coroutine, Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np

from dsb_ifeval.adapters.base import StreamingModel, capabilities_of, outputs_of
from dsb_ifeval.audio import Pcm16, sample_hash
from dsb_ifeval.benchmark.model import SessionConstants
from dsb_ifeval.cases import Case, Stimulus
from dsb_ifeval.clock import Clock
from dsb_ifeval.errors import SessionFailed
from dsb_ifeval.events import Event, Output
from dsb_ifeval.intervals import SESSION_RATE_HZ, ms_to_samples
from dsb_ifeval.links import Part, link_for
from dsb_ifeval.recorder import Recorder
from dsb_ifeval.recording import FAILED, OK, Record, Recording, stereo_hash, user_channel
from dsb_ifeval.turns import ModelState, Play, TurnManager, TurnPlan
from dsb_ifeval.vad.activity import SpeechTracker
from dsb_ifeval.vocab import Transcript

OPEN_LIMIT_S = 30.0
SEND_LIMIT_S = 5.0
CLOSE_LIMIT_S = 10.0
"""How long a provider may take before its case is given up; none may hold up a run."""

LATE_LIMIT_MS = 200
"""A session whose user audio runs later than this is not the stimulus any more."""


class Session:
    """One session, sans-I/O. Time is the number of ticks closed so far."""

    def __init__(self, stimulus: Stimulus, constants: SessionConstants) -> None:
        self.stimulus = stimulus
        self._chunk_ms = constants.chunk_ms
        self._chunk = ms_to_samples(constants.chunk_ms)
        self._turns = TurnManager(_plan(stimulus.case), constants)
        self._recorder = Recorder()
        self._tracker = SpeechTracker()
        self._turn2_from: int | None = None
        self.now_ms = 0
        self.ended = False

    def next_part(self) -> Part | None:
        """What the user sends for the coming tick; None once the session is over."""
        play = self._turns.step(self.now_ms, self._model_state())
        if play is Play.END:
            self.ended = True
            return None
        if play is Play.TURN1:
            return self._part(1, 0, self.stimulus.turn1)
        if play is Play.TURN2:
            if self._turn2_from is None:
                self._turn2_from = self.now_ms
            return self._part(2, self._turn2_from, self.stimulus.turn2)
        return Part(0, 0)

    def receive(self, output: Output, arrival_ms: int, due: int | None = None) -> None:
        """Take one output of the model, stamped on the session clock."""
        try:
            self._recorder.add(output, arrival_ms, due)
        except ValueError as error:
            raise SessionFailed(f"model output at {arrival_ms} ms: {error}") from error

    def close_tick(self) -> None:
        """Let 20 ms pass: what was placed in them has now been heard."""
        self.now_ms += self._chunk_ms
        self._tracker.push(self._recorder.heard_until(self.now_ms))

    def recording(
        self, system: str, clock: str, transcript: Transcript, settings: Mapping[str, Any]
    ) -> Recording:
        """The finished session; the caller has seen ``next_part`` return None."""
        return self._recording(system, clock, transcript, settings, OK, "")

    def broken(
        self, system: str, clock: str, settings: Mapping[str, Any], error: BaseException
    ) -> Recording:
        """What there is of a session that failed; kept for diagnosis, never scored."""
        recording = self._recording(
            system, clock, Transcript.NONE, settings, FAILED, describe(error)
        )
        return replace(recording, traceback=_trace(error))

    def _recording(
        self,
        system: str,
        clock: str,
        transcript: Transcript,
        settings: Mapping[str, Any],
        status: str,
        reason: str,
    ) -> Recording:
        samples = ms_to_samples(self.now_ms)
        turn1, turn2 = self.stimulus.turn1, self.stimulus.turn2
        user = user_channel(turn1, turn2, self._turn2_from, samples)
        stereo: Pcm16 = np.stack([user, self._recorder.channel(samples)], axis=1)
        heard = self._recorder.heard(samples)
        case, facts = self.stimulus.case, self._turns.facts() if self.ended else None
        record = Record(
            case_id=case.case_id,
            system=system,
            status=status,
            reason=reason,
            clock=clock,
            samples=samples,
            pcm_sha256=stereo_hash(stereo),
            heard_sha256="" if heard is None else sample_hash(heard),
            stimulus=(case.turn1.sha256, case.turn2.sha256),
            facts=facts,
            window=case.window.shift(facts.turn2_onset_ms) if facts else None,
            events=tuple(self._events(keep_all=status != OK)),
            transcript=transcript,
            settings=settings,
        )
        return Recording(record, stereo, heard)

    def _events(self, keep_all: bool) -> list[Event]:
        """The log up to the session's end: what arrives later was neither heard nor said."""
        return [e for e in self._recorder.events if keep_all or e.t_ms <= self.now_ms]

    def _part(self, turn: int, onset_ms: int, audio: Pcm16) -> Part:
        index = (self.now_ms - onset_ms) // self._chunk_ms
        return Part(turn, index, last=(index + 1) * self._chunk >= len(audio))

    def _model_state(self) -> ModelState:
        return ModelState(
            active=self._tracker.active,
            last_onset_ms=self._tracker.last_onset_ms,
            last_offset_ms=self._tracker.last_offset_ms,
            busy=self._recorder.busy,
            done_ms=self._recorder.done_ms,
        )


def play_local(
    model: Any, stimulus: Stimulus, constants: SessionConstants, system: str
) -> Recording:
    """Play a case against a frame-synchronous or turn-based model on the frame clock.

    The model's exceptions become a failed recording that keeps what was recorded.

    Args:
        model: a :class:`~dsb_ifeval.adapters.base.FrameModel` or ``TurnModel``.
        system: name written into the record.
    """
    session = Session(stimulus, constants)
    settings: dict[str, Any] = {}
    try:
        link = link_for(model, (stimulus.turn1, stimulus.turn2), constants.chunk_ms)
        model.reset(stimulus.case.system_prompt)
        settings = settings_of(model)
        while (part := session.next_part()) is not None:
            end_ms = session.now_ms + constants.chunk_ms
            for arrived in link.exchange(part, end_ms):
                session.receive(arrived.output, arrived.t_ms, arrived.due)
            session.close_tick()
        transcript = capabilities_of(model).transcript
        return session.recording(system, "frame", transcript, settings)
    except KeyboardInterrupt:
        raise
    except BaseException as error:  # a model's fault, sys.exit() too, costs its own case only
        return session.broken(system, "frame", settings, error)


async def play_stream(
    model: StreamingModel,
    stimulus: Stimulus,
    constants: SessionConstants,
    system: str,
    clock: Clock,
) -> Recording:
    """Play a case over a connection, paced by absolute deadlines.

    A dedicated reader stamps every message before any other work; messages are decoded in
    the pacing loop. The session's zero is the first chunk's deadline.
    """
    session = Session(stimulus, constants)
    arrived: list[tuple[int, Any]] = []
    settings: dict[str, Any] = {}
    reader: asyncio.Task[None] | None = None
    try:
        await _within(OPEN_LIMIT_S, "open", model.open(stimulus.case.system_prompt))
        settings = settings_of(model)
        clock.start()
        reader = asyncio.create_task(_read(model, clock, arrived))
        audio = _Chunks(stimulus, ms_to_samples(constants.chunk_ms))
        while (part := session.next_part()) is not None:
            await _within(SEND_LIMIT_S, "send", model.send(audio.chunk(part)))
            await clock.sleep_until(session.now_ms + constants.chunk_ms)
            _check_pace(clock.now_ms(), session.now_ms + constants.chunk_ms)
            for t_ms, message in _take(arrived):
                for output in outputs_of(model.decode(message)):
                    session.receive(output, t_ms)
            _raise_if_ended(reader)
            session.close_tick()
        transcript = capabilities_of(model).transcript
        return session.recording(system, "wall", transcript, settings)
    except (KeyboardInterrupt, asyncio.CancelledError) as error:
        if not _cancelled_by_the_model(error):
            raise
        return session.broken(system, "wall", settings, error)
    except BaseException as error:  # a provider's fault costs its own case only
        return session.broken(system, "wall", settings, error)
    finally:
        if reader is not None:
            reader.cancel()
            with contextlib.suppress(asyncio.CancelledError, Exception):
                await reader
        with contextlib.suppress(Exception):
            await _within(CLOSE_LIMIT_S, "close", model.close())


def settings_of(model: object) -> dict[str, Any]:
    """What a model says about itself, as JSON can hold it.

    Raises:
        SessionFailed: ``settings`` is not a dict of JSON values; says what is in the way.
    """
    settings = getattr(model, "settings", {})
    try:
        return dict(json.loads(json.dumps(dict(settings), allow_nan=False)))
    except (TypeError, ValueError) as error:
        raise SessionFailed(f"settings of the model are not plain JSON: {error}") from error


def describe(error: BaseException) -> str:
    """A fault as one line for the record, with the place in the code that raised it."""
    if isinstance(error, SessionFailed):
        return str(error)
    try:
        text = " ".join(str(error).split())
    except Exception:  # even an exception's text may be faulty
        text = "(its text cannot be shown)"
    frames = traceback.extract_tb(error.__traceback__)
    where = f" ({Path(frames[-1].filename).name}:{frames[-1].lineno})" if frames else ""
    return f"{type(error).__name__}: {text}{where}"


def _cancelled_by_the_model(error: BaseException) -> bool:
    """A CancelledError nobody asked this task for comes out of the model's own code."""
    task = asyncio.current_task()
    asked = getattr(task, "cancelling", lambda: 0)()
    return isinstance(error, asyncio.CancelledError) and not asked


class _Chunks:
    """User audio in 20 ms chunks, int16 at 24 kHz."""

    def __init__(self, stimulus: Stimulus, chunk: int) -> None:
        self._turns = (stimulus.turn1, stimulus.turn2)
        self._chunk = chunk

    def chunk(self, part: Part) -> Pcm16:
        samples: Pcm16 = np.zeros(self._chunk, np.int16)
        if part.turn:
            start = part.index * self._chunk
            piece = self._turns[part.turn - 1][start : start + self._chunk]
            samples[: len(piece)] = piece
        return samples


def _trace(error: BaseException) -> str:
    try:
        return "".join(traceback.format_exception(error))
    except Exception:  # an exception that cannot be printed
        return ""


async def _within(limit_s: float, what: str, work: Coroutine[Any, Any, None]) -> None:
    try:
        await asyncio.wait_for(work, limit_s)
    except (asyncio.TimeoutError, TimeoutError) as error:
        raise SessionFailed(f"{what} took longer than {limit_s:g} s") from error


def _check_pace(now_ms: int, planned_ms: int) -> None:
    late_ms = now_ms - planned_ms
    if late_ms > LATE_LIMIT_MS:
        raise SessionFailed(
            f"fell {late_ms} ms behind real time at {planned_ms} ms, limit {LATE_LIMIT_MS} ms"
        )


async def _read(model: StreamingModel, clock: Clock, arrived: list[tuple[int, Any]]) -> None:
    while True:
        message = await model.receive()
        arrived.append((clock.now_ms(), message))
        await asyncio.sleep(0)  # a receive that never waits must not starve the session


def _take(arrived: list[tuple[int, Any]]) -> list[tuple[int, Any]]:
    taken = arrived[:]
    arrived.clear()
    return taken


def _raise_if_ended(reader: asyncio.Task[None]) -> None:
    if not reader.done():
        return
    if reader.cancelled():
        raise SessionFailed("receiving was cancelled by the provider's client")
    error = reader.exception()
    if isinstance(error, EOFError):
        raise SessionFailed(f"the connection ended before the session did{_colon(error)}")
    if error is not None:
        raise SessionFailed(f"receiving failed: {type(error).__name__}: {error}") from error


def _colon(error: BaseException) -> str:
    return f": {error}" if str(error) else ""


def _plan(case: Case) -> TurnPlan:
    return TurnPlan(
        mode=case.turn2.mode,
        turn1_ms=_whole_ms(case.turn1.samples),
        turn2_ms=_whole_ms(case.turn2.samples),
        window_end_ms=case.window.end_ms,
        barge_in_after_ms=case.turn2.barge_in_after_ms or 0,
    )


def _whole_ms(samples: int) -> int:
    """Milliseconds that hold all samples, so that no turn loses its last ones to rounding."""
    return -(-samples * 1000 // SESSION_RATE_HZ)
