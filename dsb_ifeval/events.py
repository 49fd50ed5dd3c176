"""What a model side says, and the log entry it becomes once it has an arrival time."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from enum import Enum
from typing import Any

from dsb_ifeval.audio import Float32, Pcm16


@dataclass(frozen=True, slots=True)
class Output:
    """One thing an adapter reports, not yet stamped with a time.

    Attributes:
        audio: samples ``(n,)`` at the adapter's output rate, or None.
        text: transcript delta of the model's own speech.
        response: provider's id of the reply the audio belongs to, where there is one.
        started: a reply was announced (before its audio).
        done: the reply is complete; no more audio of it follows.
        interrupted: the provider says a listener would stop playback now.
    """

    audio: Float32 | Pcm16 | None = None
    text: str = ""
    response: str = ""
    started: bool = False
    done: bool = False
    interrupted: bool = False


class EventKind(str, Enum):
    """Kinds of entries in a recording's event log."""

    AUDIO = "audio"
    TEXT = "text"
    STARTED = "started"
    DONE = "done"
    INTERRUPTED = "interrupted"


@dataclass(frozen=True, slots=True)
class Event:
    """An entry of the event log, in arrival order.

    Attributes:
        t_ms: arrival on the session clock.
        samples: length of an audio delta at 24 kHz.
        at: sample at which the delta was placed on the model channel.
        text: transcript delta.
        response: provider's reply id, empty where there is none.
    """

    t_ms: int
    kind: EventKind
    samples: int = 0
    at: int = 0
    text: str = ""
    response: str = ""

    def to_json(self) -> dict[str, Any]:
        """Compact form: only the fields the kind uses."""
        row: dict[str, Any] = {"t_ms": self.t_ms, "kind": self.kind.value}
        if self.kind is EventKind.AUDIO:
            row.update(samples=self.samples, at=self.at)
        if self.kind is EventKind.TEXT:
            row.update(text=self.text)
        if self.response:
            row.update(response=self.response)
        return row

    @classmethod
    def from_json(cls, row: Mapping[str, Any]) -> Event:
        """The inverse of :meth:`to_json`; raises KeyError, TypeError or ValueError."""
        return cls(
            t_ms=int(row["t_ms"]),
            kind=EventKind(row["kind"]),
            samples=int(row.get("samples", 0)),
            at=int(row.get("at", 0)),
            text=str(row.get("text", "")),
            response=str(row.get("response", "")),
        )
