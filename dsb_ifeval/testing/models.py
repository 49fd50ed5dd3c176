"""Scripted systems: a frame-synchronous one and a streaming one, both to the millisecond."""

from __future__ import annotations

import asyncio
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from dsb_ifeval.audio import Float32, Pcm16, resample, to_pcm16
from dsb_ifeval.events import Output
from dsb_ifeval.intervals import SESSION_RATE_HZ, ms_to_samples
from dsb_ifeval.testing.cases import speech


class ScriptedModel:
    """A frame-synchronous model that speaks at given times, to the sample.

    Args:
        spans: (start ms, end ms) on the session clock; nothing can sound in the first frame.
        texts: what is said in each span, reported with the first audio of it.
        rate_hz, frame_samples, output_rate_hz: as in ``FrameModel``.
        fail_at_ms: raise in the step whose frame reaches this instant.
        fail_in_reset: raise in ``reset``.

    Attributes:
        prompts: the prompt of every reset.
        heard: frames since the last reset.
    """

    def __init__(
        self,
        spans: Sequence[tuple[int, int]] = (),
        texts: Sequence[str] = (),
        rate_hz: int = SESSION_RATE_HZ,
        frame_samples: int = 480,
        output_rate_hz: int | None = None,
        fail_at_ms: int | None = None,
        fail_in_reset: bool = False,
    ) -> None:
        self.rate_hz = rate_hz
        self.frame_samples = frame_samples
        self.output_rate_hz = output_rate_hz or rate_hz
        self.prompts: list[str] = []
        self.heard: list[Float32] = []
        self._texts = dict(enumerate(texts))
        self._unsaid = dict(self._texts)
        self._fail_at_ms = fail_at_ms
        self._fail_in_reset = fail_in_reset
        out = self.output_rate_hz
        self._spans = [(ms_to_samples(a, out), ms_to_samples(b, out)) for a, b in spans]
        self._track = np.zeros(max((end for _, end in self._spans), default=0), np.float32)
        for (first, end), (a, b) in zip(self._spans, spans, strict=True):
            voice = resample(speech(b - a), SESSION_RATE_HZ, out)[: end - first]
            self._track[first : first + len(voice)] = voice

    def reset(self, prompt: str) -> None:
        self.prompts.append(prompt)
        self.heard.clear()
        self._unsaid = dict(self._texts)
        if self._fail_in_reset:
            raise RuntimeError("scripted failure in reset")

    def step(self, frame: Float32) -> Output | None:
        self.heard.append(frame.copy())
        heard = len(self.heard) * self.frame_samples
        if self._fail_at_ms is not None and heard * 1000 >= self._fail_at_ms * self.rate_hz:
            raise RuntimeError(f"scripted failure at {self._fail_at_ms} ms")
        first = heard * self.output_rate_hz // self.rate_hz
        end = (heard + self.frame_samples) * self.output_rate_hz // self.rate_hz
        said = [i for i, span in enumerate(self._spans) if span[0] < end and span[1] > first]
        if not said:
            return None
        text = "".join(self._unsaid.pop(i, "") for i in said)
        return Output(audio=self._track[first:end], text=text)


@dataclass(frozen=True, slots=True)
class Arrival:
    """A message that arrives at an instant of the session, or what ``receive`` raises then."""

    at_ms: int
    message: Output | BaseException


def reply(
    at_ms: int,
    audio_ms: int,
    speed: float = 1.0,
    chunk_ms: int = 20,
    text: str = "",
    response: str = "",
    events: bool = False,
) -> list[Arrival]:
    """A spoken reply sent in chunks at ``speed`` times real time; the first at ``at_ms``.

    Args:
        text: arrives with the first chunk.
        events: announce the reply at ``at_ms`` and complete it right after the last chunk.
    """
    voice, size = to_pcm16(speech(audio_ms)), ms_to_samples(chunk_ms)
    row = [Arrival(at_ms, Output(started=True, response=response))] if events else []
    for k in range(-(-len(voice) // size)):
        output = Output(voice[k * size : (k + 1) * size], "" if k else text, response)
        row.append(Arrival(at_ms + round(k * chunk_ms / speed), output))
    if events:
        row.append(Arrival(row[-1].at_ms, Output(done=True, response=response)))
    return row


class ScriptedStream:
    """A streaming model whose messages arrive at given times; then it stays connected.

    Args:
        arrivals: in any order; see :func:`reply`.
        faults: method name (``open``, ``send``, ``decode``, ``close``) to the exception it
            raises, or None to never return. ``send`` and ``decode`` work until ``fault_ms``.
        send_ms: how long each ``send`` takes.

    Attributes:
        prompts, sent, closed: prompts of ``open``, chunks sent, calls of ``close``.
    """

    def __init__(
        self,
        arrivals: Iterable[Arrival] = (),
        faults: Mapping[str, BaseException | None] | None = None,
        fault_ms: int = 0,
        send_ms: int = 0,
    ) -> None:
        self._arrivals = sorted(arrivals, key=lambda arrival: arrival.at_ms)
        self._faults = dict(faults or {})
        self._fault_ms, self._send_ms, self._zero_s = fault_ms, send_ms, 0.0
        self.prompts: list[str] = []
        self.sent: list[Pcm16] = []
        self.closed = 0

    async def open(self, prompt: str) -> None:
        self.prompts.append(prompt)
        await self._fail("open")
        self._zero_s = asyncio.get_running_loop().time()

    async def send(self, chunk: Pcm16) -> None:
        if self._failing():
            await self._fail("send")
        self.sent.append(chunk)
        if self._send_ms:
            await asyncio.sleep(self._send_ms / 1000)

    async def receive(self) -> Output:
        if not self._arrivals:
            await asyncio.Event().wait()
        arrival = self._arrivals.pop(0)
        loop = asyncio.get_running_loop()
        delay_s = self._zero_s + arrival.at_ms / 1000 - loop.time()
        if delay_s > 0:
            await asyncio.sleep(delay_s)
        if isinstance(arrival.message, BaseException):
            raise arrival.message
        return arrival.message

    def decode(self, message: Output) -> Sequence[Output]:
        error = self._faults.get("decode")
        if error is not None and self._failing():
            raise error
        return (message,)

    async def close(self) -> None:
        self.closed += 1
        await self._fail("close")

    def _failing(self) -> bool:
        return asyncio.get_running_loop().time() - self._zero_s >= self._fault_ms / 1000

    async def _fail(self, method: str) -> None:
        if method in self._faults:
            error = self._faults[method]
            if error is None:
                await asyncio.Event().wait()
            else:
                raise error
