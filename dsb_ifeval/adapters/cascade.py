"""A half-duplex voice agent from parts: endpointing, recogniser, reply, voice.

It demonstrates the loop with a real voice and a real recogniser, on two cores and without a
network. It is not a baseline worth publishing: replies are rules, or a very small model.

Frame clock: ``step`` number ``k`` (from 0) hears the 32 ms that end at ``32 (k + 1)`` ms, and what
it returns sounds from that instant on. With the endpoint at 800 ms and 300 ms of generation::

    user      ####.#####|
    quiet               |<------- 25 frames ------->|<- 10 frames ->|
    model                                   endpoint^               |reply ...

The reply is computed at that last instant. If the user goes on before it, there is nothing to
cancel: the turn is simply longer, and is answered as a whole.

Speech is recognised once per process and distinct audio: a memo by sha256 of the samples, which
cannot change a result, serves the other prompts under which the same user audio is played.

While it speaks it only listens for a barge-in: the seventh voiced frame (224 ms) ends playback at
the end of that frame. Frames are handed over one at a time, so nothing that was cut has left the
agent, and the transcript names a sentence when its first frame does.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Protocol

import numpy as np

from dsb_ifeval.adapters.base import Capabilities, Mechanism, Reply
from dsb_ifeval.adapters.cascade_ears import FRAME, MIN_SPEECH_FRAMES, Ears, frames_for
from dsb_ifeval.adapters.cascade_manner import QUICK_MS, Manner, manner_of
from dsb_ifeval.adapters.cascade_rules import Exchange, Rules, sentences
from dsb_ifeval.adapters.cascade_speech import VOICE_RATE_HZ, Recogniser, Voice
from dsb_ifeval.audio import Float32
from dsb_ifeval.events import Output
from dsb_ifeval.vad.silero import RATE_HZ

SPLIT_MS = QUICK_MS
"""Pause that closes a stretch, whatever the endpoint: stretches are recognised one by one and
joined, so what is heard of the same user audio does not depend on the prompt."""
SENTENCE_GAP_FRAMES = 5

_OUT_FRAME = FRAME * VOICE_RATE_HZ // RATE_HZ


class Mind(Protocol):
    """What answers; it must not remember anything between calls."""

    @property
    def settings(self) -> Mapping[str, object]:
        """What determines its answers, for the record."""

    def answer(self, prompt: str, dialogue: Sequence[Exchange], heard: str) -> str:
        """The reply to a user turn; "" says nothing."""


class Cascade:
    """A frame model: 512 samples at 16 kHz in, 768 at 24 kHz out, every 32 ms.

    Args:
        endpoint_ms: silence that ends the user's turn, where the prompt does not say otherwise.
        latency_ms: generation time on the frame clock, from the endpoint to the reply's start.
    """

    rate_hz = RATE_HZ
    frame_samples = FRAME
    output_rate_hz = VOICE_RATE_HZ
    capabilities = Capabilities(Mechanism.FRAME, concurrent=False)

    def __init__(self, endpoint_ms: int = 800, latency_ms: int = 300) -> None:
        if endpoint_ms <= 0 or latency_ms < 0:
            raise ValueError("endpoint_ms must be positive and latency_ms not negative")
        self._endpoint_ms = endpoint_ms
        self._latency_ms = latency_ms
        self._load()
        self.settings: dict[str, object] = {
            "endpoint_ms": endpoint_ms,
            "latency_ms": latency_ms,
            "timing": "the prompt may change the endpoint (cascade_manner)",
            "recogniser": self._recogniser.settings,
            "voice": self._voice.settings,
            "mind": self._mind.settings,
        }
        self.reset("")

    def reset(self, prompt: str) -> None:
        """Forget the case before; what stays is memos that do not change results."""
        self._prompt = prompt
        self._manner: Manner = manner_of(prompt, self._endpoint_ms, self._latency_ms)
        endpoint_ms = self._manner.endpoint_ms
        self._wait_frames = frames_for(endpoint_ms) + frames_for(self._latency_ms)
        self._ears = Ears(frames_for(min(endpoint_ms, SPLIT_MS)))
        self._dialogue: list[Exchange] = []
        self._heard = ""
        self._said: list[str] = []
        self._speech: Iterator[Reply] | None = None

    def step(self, frame: Float32) -> Reply:
        """Hear 32 ms; return the next 32 ms of the reply, or nothing."""
        ears = self._ears
        ears.hear(frame)
        if self._speech is None and ears.stretches and ears.quiet_frames >= self._wait_frames:
            self._begin()
        elif self._speech is not None and ears.speech_frames >= MIN_SPEECH_FRAMES:
            self._end()
        if self._speech is None:
            return None
        try:
            return next(self._speech)
        except StopIteration:
            self._end()
            return None

    def _load(self) -> None:
        self._recogniser = Recogniser()
        self._voice = Voice()
        self._mind: Mind = Rules()

    def _begin(self) -> None:
        heard = " ".join(filter(None, map(self._recogniser.text, self._ears.take())))
        if heard:
            answer = self._mind.answer(self._prompt, self._dialogue, heard)
            self._heard, self._said = heard, []
            self._speech = self._speak(sentences(answer))

    def _end(self) -> None:
        self._dialogue.append((self._heard, " ".join(self._said)))
        self._speech = None

    def _speak(self, texts: Sequence[str]) -> Iterator[Reply]:
        for text in texts:
            audio = self._voice.say(text, self._manner.speed)
            if not len(audio):
                continue
            if self._said:
                yield from [None] * SENTENCE_GAP_FRAMES
            # Deltas are joined as they are: a space before all but the session's first.
            delta = f" {text}" if self._said or self._dialogue else text
            self._said.append(text)
            for start in range(0, len(audio), _OUT_FRAME):
                piece = np.zeros(_OUT_FRAME, np.float32)
                rest = audio[start : start + _OUT_FRAME]
                piece[: len(rest)] = rest
                yield Output(audio=piece, text=delta if start == 0 else "")


class CascadeLlm(Cascade):
    """The same agent with SmolLM2 for words; the prompt's timing rules stay.

    When to speak is settled before a model is asked what to say, so it cannot choose it.
    """

    def _load(self) -> None:
        from dsb_ifeval.adapters.cascade_llm import SmallModel

        super()._load()
        self._mind = SmallModel()
