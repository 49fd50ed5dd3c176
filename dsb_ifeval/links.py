"""Links: carry user chunks to a local model and its replies back, on the frame clock.

A link owns rates, framing and placement, so that the session engine sees 20 ms ticks and a
model sees its own frames. User turns are resampled once, whole and without delay; silence
needs no resampling. Replies at another rate go through a soxr stream whose start-up delay
does not move them.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Protocol

import numpy as np

from dsb_ifeval.adapters.base import FrameModel, Reply, TurnModel, outputs_of
from dsb_ifeval.audio import Float32, Pcm16, resample, to_float, to_pcm16
from dsb_ifeval.events import Output
from dsb_ifeval.intervals import SESSION_RATE_HZ, ms_to_samples, samples_to_ms


@dataclass(frozen=True, slots=True)
class Part:
    """Which 20 ms the user side sends: chunk ``index`` of turn 1 or 2, or silence (turn 0).

    Attributes:
        last: this chunk is the last of its turn.
    """

    turn: int
    index: int
    last: bool = False


class Link(Protocol):
    """One local model behind a 20 ms exchange."""

    def exchange(self, part: Part, end_ms: int) -> Iterator[tuple[int, Output]]:
        """Deliver one user chunk that ends at ``end_ms``; yield (arrival ms, output at 24 kHz)."""


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


class _Run:
    """One unbroken run of replies at a model's rate, brought to 24 kHz without moving it.

    A streaming resampler gives its first samples late. The run is anchored at its first
    arrival and continued by sample count, so the delay shifts nothing and opens no gap.
    """

    def __init__(self, rate_hz: int, anchor_ms: int) -> None:
        import soxr

        self._stream = soxr.ResampleStream(
            rate_hz, SESSION_RATE_HZ, 1, dtype="float32", quality="HQ"
        )
        self._anchor = ms_to_samples(anchor_ms)
        self._made = 0

    def convert(self, audio: Float32, last: bool = False) -> tuple[int, Float32]:
        """Samples ready so far and the instant (ms, rounded down) at which they are due."""
        ready: Float32 = self._stream.resample_chunk(audio, last=last)
        due_ms = (self._anchor + self._made) * 1000 // SESSION_RATE_HZ
        self._made += len(ready)
        return due_ms, ready


class FrameLink:
    """Frame-synchronous exchange: the reply to a frame arrives when the frame is complete."""

    def __init__(self, model: FrameModel, turns: Sequence[Pcm16], chunk_ms: int) -> None:
        self._model = model
        self._user = UserAudio(turns, model.rate_hz, chunk_ms)
        self._rate_hz: int = getattr(model, "output_rate_hz", model.rate_hz)
        self._pending: Float32 = np.zeros(0, np.float32)
        self._frames = 0
        self._run: _Run | None = None

    def exchange(self, part: Part, end_ms: int) -> Iterator[tuple[int, Output]]:
        frame_samples = self._model.frame_samples
        chunk = self._user.samples(part)
        self._pending = np.concatenate([self._pending, chunk]) if len(self._pending) else chunk
        while len(self._pending) >= frame_samples:
            frame = self._pending[:frame_samples]
            self._pending = self._pending[frame_samples:]
            self._frames += 1
            arrival = samples_to_ms(self._frames * frame_samples, self._model.rate_hz)
            yield from self._placed(outputs_of(self._model.step(frame)), arrival)

    def _placed(self, outputs: Sequence[Output], arrival: int) -> Iterator[tuple[int, Output]]:
        if self._rate_hz == SESSION_RATE_HZ:
            yield from ((arrival, output) for output in outputs)
            return
        spoke = False
        for output in outputs:
            if output.audio is None or not len(output.audio):
                yield arrival, output
                continue
            spoke = True
            self._run = self._run or _Run(self._rate_hz, arrival)
            due, audio = self._run.convert(to_float(to_pcm16(output.audio)))
            yield due, replace(output, audio=audio)
        if not spoke and self._run is not None:
            due, tail = self._run.convert(np.zeros(0, np.float32), last=True)
            self._run = None
            yield due, Output(audio=tail)


class TurnLink:
    """Turn-based exchange: the whole reply arrives after the turn plus generation latency."""

    def __init__(self, model: TurnModel, turns: Sequence[Pcm16], chunk_ms: int) -> None:
        self._model = model
        self._user = UserAudio(turns, model.rate_hz, chunk_ms)
        self._rate_hz = getattr(model, "output_rate_hz", model.rate_hz)

    def exchange(self, part: Part, end_ms: int) -> Iterator[tuple[int, Output]]:
        if not part.last:
            return
        reply: Reply = self._model.respond(self._user.turn(part.turn))
        arrival = end_ms + int(getattr(self._model, "latency_ms", 0))
        for output in outputs_of(reply):
            yield arrival, self._whole(output)

    def _whole(self, output: Output) -> Output:
        if output.audio is None:
            return output
        audio = to_float(to_pcm16(output.audio))
        return replace(output, audio=resample(audio, self._rate_hz, SESSION_RATE_HZ))


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
