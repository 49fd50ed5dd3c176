"""Calibration agents: floors, a ceiling and chance, played through the real engine.

They make a score readable: ``silent`` and ``talker`` show what doing one thing always is
worth, ``random`` what chance is worth, ``oracle`` that every case can be passed. They need
no key, no GPU and no speech package.
"""

from __future__ import annotations

import hashlib
from functools import cache
from pathlib import Path

import numpy as np

from dsb_ifeval.adapters.base import Capabilities, Mechanism
from dsb_ifeval.audio import Float32, decode, to_float
from dsb_ifeval.cases import Case
from dsb_ifeval.events import Output
from dsb_ifeval.intervals import SESSION_RATE_HZ, Interval, samples_to_ms
from dsb_ifeval.vocab import Action, TurnMode

FRAME_MS = 20
_FRAME = SESSION_RATE_HZ * FRAME_MS // 1000


@cache
def _clip(name: str) -> Float32:
    path = Path(__file__).parent / "voice" / f"{name}.flac"
    samples, _ = decode(path.read_bytes())
    return to_float(samples[:, 0])


class _Agent:
    """20 ms frames at 24 kHz; ``_now_ms`` is when the reply to the current frame sounds."""

    rate_hz = SESSION_RATE_HZ
    frame_samples = _FRAME
    capabilities = Capabilities(Mechanism.FRAME, persona=False)

    def __init__(self) -> None:
        self._now_ms = 0
        self._position = 0

    def reset(self, prompt: str) -> None:
        self._now_ms = 0
        self._position = 0

    def step(self, frame: Float32) -> Float32 | Output | None:
        self._now_ms += FRAME_MS
        return self.say(frame)

    def say(self, frame: Float32) -> Float32 | Output | None:
        """The reply to one frame; subclasses decide."""
        raise NotImplementedError

    def _talk(self) -> Float32:
        """The next 20 ms of the looping voice."""
        talk = _clip("talk")
        index = np.arange(self._position, self._position + _FRAME) % len(talk)
        self._position += _FRAME
        piece: Float32 = talk[index]
        return piece


class Silent(_Agent):
    """Never speaks: the floor of every action that asks for speech."""

    def say(self, frame: Float32) -> None:
        return None


class Talker(_Agent):
    """Speaks from the first frame and never stops."""

    def say(self, frame: Float32) -> Float32:
        return self._talk()


class Random(_Agent):
    """Talks and pauses by chance, seeded by the case, so that its schedule is public.

    Pauses last 0.2 s plus an exponential of mean 3 s, talk 0.2 s plus an exponential of
    mean 1.5 s, drawn from numpy's PCG64 seeded with sha256 of ``seed/case id``.
    """

    HORIZON_MS = 180_000

    def __init__(self, seed: int = 0) -> None:
        super().__init__()
        self.settings = {"seed": seed}
        self._seed = seed
        self._bursts: list[Interval] = []

    def brief(self, case: Case) -> None:
        digest = hashlib.sha256(f"{self._seed}/{case.case_id}".encode()).digest()
        rng = np.random.Generator(np.random.PCG64(int.from_bytes(digest[:8], "big")))
        self._bursts, at_ms = [], 0
        while at_ms < self.HORIZON_MS:
            at_ms += 200 + int(rng.exponential(3000))
            end_ms = at_ms + 200 + int(rng.exponential(1500))
            self._bursts.append(Interval(at_ms, end_ms))
            at_ms = end_ms

    def say(self, frame: Float32) -> Float32 | None:
        while self._bursts and self._now_ms >= self._bursts[0].end_ms:
            self._bursts.pop(0)
        talking = self._bursts and self._now_ms in self._bursts[0]
        return self._talk() if talking else None


class Oracle(_Agent):
    """Is told the case and does what is expected: the ceiling of every action.

    It learns where turn 2 begins by hearing it, like any other system; only the target
    action and the window's place inside the turn are told.
    """

    START_MS = 200
    """How long after the window opens it speaks; well inside every limit."""
    TALK_MS = 1500
    HOLD_MS = 2500

    def __init__(self) -> None:
        super().__init__()
        self._case: Case | None = None
        self._turn2_ms: int | None = None
        self._hummed = 0
        self._text = ""

    def brief(self, case: Case) -> None:
        self._case = case

    def reset(self, prompt: str) -> None:
        super().reset(prompt)
        self._turn2_ms = None
        self._hummed = 0
        self._text = self._case.readback if self._case else ""

    def say(self, frame: Float32) -> Float32 | Output | None:
        case = self._case
        if case is None:
            raise RuntimeError("the oracle was not briefed")
        turn1_end = samples_to_ms(case.turn1.samples) + FRAME_MS
        if self._turn2_ms is None and self._now_ms > turn1_end + FRAME_MS and frame.any():
            self._turn2_ms = self._now_ms - FRAME_MS
        if case.turn2.mode is TurnMode.BARGE_IN:
            return self._hold_floor(case, turn1_end)
        return None if self._turn2_ms is None else self._answer(case, self._turn2_ms)

    def _hold_floor(self, case: Case, turn1_end: int) -> Float32 | None:
        if self._now_ms < turn1_end + self.START_MS:
            return None
        if self._turn2_ms is None:
            return self._talk()
        if case.expected_action is Action.YIELD:
            return None
        return self._talk() if self._now_ms < self._turn2_ms + self.HOLD_MS else None

    def _answer(self, case: Case, turn2_ms: int) -> Float32 | Output | None:
        since = self._now_ms - (turn2_ms + case.window.start_ms + self.START_MS)
        if since < 0:
            return None
        if case.expected_action is Action.BACKCHANNEL:
            return self._hum()
        speaks = case.expected_action in (Action.TAKE_TURN, Action.INTERRUPT, Action.READBACK)
        if not speaks or since >= self.TALK_MS:
            return None
        text, self._text = self._text, ""
        return Output(audio=self._talk(), text=text)

    def _hum(self) -> Float32 | None:
        clip = _clip("mmhm")
        piece = clip[self._hummed : self._hummed + _FRAME]
        self._hummed += _FRAME
        return piece if len(piece) else None
