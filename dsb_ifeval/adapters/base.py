"""What a system must offer to be benchmarked: one of three small interfaces.

A class needs no base class and no import from here; the engine looks at its methods.

* :class:`FrameModel` (``step``): a local model that hears and speaks frame by frame.
* :class:`TurnModel` (``respond``): a local model that answers a whole user turn.
* :class:`StreamingModel` (``send``/``receive``): a hosted system over a connection.

All audio is mono, float32 in [-1, 1) or int16, shape ``(samples,)``. A system is built once
per process and reset for every case (Appendix E.3).
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from enum import Enum
from typing import Any, Protocol, TypeAlias, runtime_checkable

import numpy as np

from dsb_ifeval.audio import Float32, Pcm16
from dsb_ifeval.cases import Case
from dsb_ifeval.events import Output
from dsb_ifeval.vocab import Transcript

Reply: TypeAlias = "Float32 | Pcm16 | Output | Sequence[Output] | None"
"""What ``step`` and ``respond`` may return: audio, one or several outputs, or nothing."""


@runtime_checkable
class FrameModel(Protocol):
    """A frame-synchronous model on the frame clock.

    The reply to a frame is audible no earlier than the frame's end. The clock is the number
    of frames exchanged, so a session runs as fast as the model computes.

    Attributes:
        rate_hz: sample rate of the frames it wants.
        frame_samples: samples per frame at ``rate_hz``.
        output_rate_hz: optional; sample rate of its audio, ``rate_hz`` by default.
    """

    rate_hz: int
    frame_samples: int

    def reset(self, prompt: str) -> None:
        """Forget everything and apply the case's system prompt ("" at L0)."""

    def step(self, frame: Float32) -> Reply:
        """Hear one frame, shape ``(frame_samples,)``; return what is said next."""


@runtime_checkable
class TurnModel(Protocol):
    """A turn-based model: it answers after a complete user turn (Table 19).

    Attributes:
        rate_hz: sample rate of the turns it wants.
        output_rate_hz: optional; sample rate of its audio, ``rate_hz`` by default.
        latency_ms: optional; generation time added after the end of the turn, 0 by default.
    """

    rate_hz: int

    def reset(self, prompt: str) -> None:
        """Forget everything and apply the case's system prompt."""

    def respond(self, turn: Float32) -> Reply:
        """Hear a whole user turn, shape ``(samples,)``; return the whole reply."""


@runtime_checkable
class StreamingModel(Protocol):
    """A full-duplex connection in real time, 24 kHz PCM16 in 20 ms chunks both ways.

    ``receive`` returns one raw message as soon as it is there and does nothing else, so that
    the engine can stamp its arrival; ``decode`` turns it into outputs afterwards.
    """

    async def open(self, prompt: str) -> None:
        """Open a fresh session and apply the prompt; return when audio may be sent."""

    async def send(self, chunk: Pcm16) -> None:
        """Send 20 ms of user audio, shape ``(480,)`` at 24 kHz."""

    async def receive(self) -> Any:
        """The next raw message; raises ``EOFError`` when the connection has ended."""

    def decode(self, message: Any) -> Sequence[Output]:
        """Outputs of one raw message, audio at 24 kHz."""

    async def close(self) -> None:
        """End the session; called once, also after a fault."""


@runtime_checkable
class Briefed(Protocol):
    """A calibration agent that is told the case before it is reset. No real system is."""

    def brief(self, case: Case) -> None:
        """Learn the case that is about to be played."""


class Mechanism(str, Enum):
    """How a system controls the floor (Table 19)."""

    FRAME = "frame-synchronous"
    TURN = "turn-based"
    STREAM = "streaming"


@dataclass(frozen=True, slots=True)
class Capabilities:
    """What the reader of a score must know about a system (Appendix C.6).

    Attributes:
        concurrent: hears and speaks at the same time.
        persona: the system prompt reaches the model.
        transcript: what it tells about the text of its own speech.
    """

    mechanism: Mechanism
    concurrent: bool = True
    persona: bool = True
    transcript: Transcript = Transcript.TIMED


def capabilities_of(model: object) -> Capabilities:
    """A model's own ``capabilities``, or what its methods imply.

    Raises:
        TypeError: the object implements none of the three interfaces; says what is missing.
    """
    stated = getattr(model, "capabilities", None)
    if stated is not None:
        if not isinstance(stated, Capabilities):
            raise TypeError(f"capabilities is {stated!r}, expected dsb_ifeval Capabilities")
        return stated
    if isinstance(model, FrameModel):
        return Capabilities(Mechanism.FRAME)
    if isinstance(model, TurnModel):
        return Capabilities(Mechanism.TURN, concurrent=False)
    if isinstance(model, StreamingModel):
        return Capabilities(Mechanism.STREAM)
    raise TypeError(
        f"{type(model).__name__} is not a system: it needs rate_hz, frame_samples, reset(prompt) "
        "and step(frame); or rate_hz, reset(prompt) and respond(turn); or open, send, receive, "
        "decode and close"
    )


RATES_HZ = (8_000, 192_000)
LONGEST_FRAME_S = 10
LONGEST_LATENCY_MS = 600_000


def check_contract(model: object, chunk_ms: int) -> None:
    """Refuse a local model whose rates or frame cannot be played, before any case is.

    Raises:
        TypeError: an attribute is missing, of another type or out of range; says which.
    """
    capabilities_of(model)
    if isinstance(model, FrameModel | TurnModel):
        rate_hz = _whole(model, "rate_hz", *RATES_HZ)
        _whole(model, "output_rate_hz", *RATES_HZ, default=rate_hz)
        if (rate_hz * chunk_ms) % 1000:
            raise TypeError(f"rate_hz {rate_hz} does not divide into {chunk_ms} ms chunks")
    if isinstance(model, FrameModel):
        _whole(model, "frame_samples", 1, LONGEST_FRAME_S * rate_hz)
    elif isinstance(model, TurnModel):
        _whole(model, "latency_ms", 0, LONGEST_LATENCY_MS, default=0)


def _whole(model: object, name: str, low: int, high: int, default: int | None = None) -> int:
    value = getattr(model, name, default)
    if isinstance(value, bool) or not isinstance(value, int | np.integer):
        raise TypeError(f"{name} is {value!r}, expected a whole number")
    if not low <= value <= high:
        raise TypeError(f"{name} is {value}, expected {low} to {high}")
    return int(value)


def outputs_of(reply: Reply) -> Sequence[Output]:
    """Normalise what ``step`` or ``respond`` returned.

    Raises:
        TypeError: it is none of the forms of :data:`Reply`.
    """
    if reply is None:
        return ()
    if isinstance(reply, Output):
        return (reply,)
    if isinstance(reply, np.ndarray) and reply.ndim:
        return (Output(audio=reply),)
    if isinstance(reply, list | tuple) and all(isinstance(item, Output) for item in reply):
        return reply
    raise TypeError(
        f"the model returned {type(reply).__name__}; expected a float32 or int16 array (convert "
        "with np.asarray(x, np.float32)), an Output, a sequence of Outputs, or None"
    )
