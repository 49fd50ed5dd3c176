"""Links: carry user chunks to a local model and its replies back, on the frame clock.

A link owns rates, framing and placement, so that the session engine sees 20 ms ticks and a
model sees its own frames. User turns are resampled once, whole and without delay; silence
needs no resampling.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Protocol

import numpy as np

from dsb_ifeval.adapters.base import FrameModel, Reply, TurnModel, outputs_of
from dsb_ifeval.audio import Float32, Pcm16, resample, to_float, to_pcm16
from dsb_ifeval.errors import SessionFailed
from dsb_ifeval.events import Output
from dsb_ifeval.intervals import SESSION_RATE_HZ, ms_to_samples, samples_to_ms
from dsb_ifeval.resampling import RunResampler


@dataclass(frozen=True, slots=True)
class Part:
    """Which 20 ms the user side sends: chunk ``index`` of turn 1 or 2, or silence (turn 0).

    Attributes:
        last: this chunk is the last of its turn.
    """

    turn: int
    index: int
    last: bool = False


@dataclass(frozen=True, slots=True)
class Arrived:
    """An output with its arrival on the session clock.

    Attributes:
        due: sample at which its audio sounds when nothing is queued before it; by default
            that of the arrival. Earlier by a resampler's look-ahead inside a run.
    """

    t_ms: int
    output: Output
    due: int | None = None


class Link(Protocol):
    """One local model behind a 20 ms exchange."""

    def exchange(self, part: Part, end_ms: int) -> Iterator[Arrived]:
        """Deliver one user chunk that ends at ``end_ms``; yield what arrives, at 24 kHz."""


class UserAudio:
    """Both user turns of a case at a model's rate, cut into ticks on demand."""

    def __init__(self, turns: Sequence[Pcm16], rate_hz: int, chunk_ms: int) -> None:
        if (rate_hz * chunk_ms) % 1000:
            raise ValueError(f"{rate_hz} Hz does not divide into {chunk_ms} ms chunks")
        self.chunk = rate_hz * chunk_ms // 1000
        self._turns = [resample(to_float(turn), SESSION_RATE_HZ, rate_hz) for turn in turns]
        self._silence: Float32 = np.zeros(self.chunk, np.float32)

    def samples(self, part: Part) -> Float32:
        """One chunk, shape ``(chunk,)``; the last chunk of a turn is padded with zeros."""
        if part.turn == 0:
            return self._silence
        start = part.index * self.chunk
        piece = self._turns[part.turn - 1][start : start + self.chunk]
        if len(piece) < self.chunk:
            piece = np.concatenate([piece, self._silence[len(piece) :]])
        return piece

    def turn(self, number: int) -> Float32:
        """A whole turn at the model's rate."""
        return self._turns[number - 1]


class FrameLink:
    """Frame-synchronous exchange: the reply to a frame arrives when the frame is complete.

    Raises:
        ValueError: the model's frame is empty.
    """

    def __init__(self, model: FrameModel, turns: Sequence[Pcm16], chunk_ms: int) -> None:
        if model.frame_samples < 1:
            raise ValueError(f"frame_samples is {model.frame_samples}, expected at least 1")
        self._model = model
        self._user = UserAudio(turns, model.rate_hz, chunk_ms)
        self._rate_hz = _output_rate(model)
        self._pending: Float32 = np.zeros(0, np.float32)
        self._frames = 0
        self._run: RunResampler | None = None
        self._response = ""

    def exchange(self, part: Part, end_ms: int) -> Iterator[Arrived]:
        frame_samples = self._model.frame_samples
        chunk = self._user.samples(part)
        self._pending = np.concatenate([self._pending, chunk]) if len(self._pending) else chunk
        while len(self._pending) >= frame_samples:
            frame = self._pending[:frame_samples].copy()  # the model may write into it
            self._pending = self._pending[frame_samples:]
            self._frames += 1
            t_ms = samples_to_ms(self._frames * frame_samples, self._model.rate_hz)
            outputs = outputs_of(self._model.step(frame))
            if self._rate_hz == SESSION_RATE_HZ:
                yield from (Arrived(t_ms, output) for output in outputs)
            else:
                yield from self._resampled(outputs, t_ms)

    def _resampled(self, outputs: Sequence[Output], t_ms: int) -> Iterator[Arrived]:
        speaks = any(_has_audio(output) for output in outputs)
        fell_short = self._run is not None and self._run.end < ms_to_samples(t_ms - 1)
        if not speaks or fell_short:
            yield from self._end_run(t_ms)
        for output in outputs:
            if not _has_audio(output):
                yield Arrived(t_ms, output)
                continue
            self._run = self._run or RunResampler(self._rate_hz, ms_to_samples(t_ms))
            self._response = output.response
            due, audio = self._run.push(_samples(output, t_ms))
            if output.done:  # its last samples belong before the completion
                audio = np.concatenate([audio, self._run.finish()[1]])
                self._run = None
            yield Arrived(t_ms, replace(output, audio=audio), due)

    def _end_run(self, t_ms: int) -> Iterator[Arrived]:
        if self._run is not None:
            due, tail = self._run.finish()
            self._run = None
            yield Arrived(t_ms, Output(audio=tail, response=self._response), due)


class TurnLink:
    """Turn-based exchange: the whole reply arrives after the turn plus generation latency."""

    def __init__(self, model: TurnModel, turns: Sequence[Pcm16], chunk_ms: int) -> None:
        self._model = model
        self._user = UserAudio(turns, model.rate_hz, chunk_ms)
        self._rate_hz = _output_rate(model)

    def exchange(self, part: Part, end_ms: int) -> Iterator[Arrived]:
        if not part.last:
            return
        reply: Reply = self._model.respond(self._user.turn(part.turn).copy())
        t_ms = end_ms + int(getattr(self._model, "latency_ms", 0))
        for output in outputs_of(reply):
            yield Arrived(t_ms, self._whole(output, t_ms))

    def _whole(self, output: Output, t_ms: int) -> Output:
        if not _has_audio(output):
            return output
        audio = resample(_samples(output, t_ms), self._rate_hz, SESSION_RATE_HZ)
        return replace(output, audio=audio)


def _output_rate(model: FrameModel | TurnModel) -> int:
    rate_hz: int = getattr(model, "output_rate_hz", model.rate_hz)
    return rate_hz


def _has_audio(output: Output) -> bool:
    return output.audio is not None and np.size(output.audio) > 0


def _samples(output: Output, t_ms: int) -> Float32:
    assert output.audio is not None
    try:
        return to_float(to_pcm16(output.audio))
    except ValueError as error:
        raise SessionFailed(f"model output at {t_ms} ms: {error}") from error


def link_for(model: object, turns: Sequence[Pcm16], chunk_ms: int) -> Link:
    """The link a local model needs.

    Raises:
        TypeError: the model is neither frame-synchronous nor turn-based.
    """
    if isinstance(model, FrameModel):
        return FrameLink(model, turns, chunk_ms)
    if isinstance(model, TurnModel):
        return TurnLink(model, turns, chunk_ms)
    raise TypeError(f"{type(model).__name__} has neither step(frame) nor respond(turn)")
