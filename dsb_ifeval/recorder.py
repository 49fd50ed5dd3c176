"""The recorder: places model audio on the session clock and keeps the event log.

*As placed* is the paper's rule (F.3): every delta goes to ``max(arrival, cursor)``, so a
burst plays back in real time and nothing is dropped. *As heard* is what a person at a real
client hears: when the provider signals an interruption, queued audio of that reply is
discarded. One session gives both, because the log and the placed channel hold everything.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from dsb_ifeval.audio import Float32, Pcm16, to_float, to_pcm16
from dsb_ifeval.events import Event, EventKind, Output
from dsb_ifeval.intervals import SESSION_RATE_HZ, ms_to_samples, samples_to_ms

QUEUE_LIMIT_S = 600
"""A model that is so far ahead of its listener is broken; sessions last a minute or two."""

_QUEUE_LIMIT = QUEUE_LIMIT_S * SESSION_RATE_HZ


class Recorder:
    """Model channel of one session, int16 at 24 kHz, plus the event log."""

    def __init__(self) -> None:
        self._channel: Pcm16 = np.zeros(60 * SESSION_RATE_HZ, np.int16)
        self._cursor = 0
        self._read = 0
        self._busy: set[str] = set()
        self._done_ms: int | None = None
        self.events: list[Event] = []

    def add(self, output: Output, arrival_ms: int, due: int | None = None) -> None:
        """Log one output and place its audio (24 kHz) at ``max(arrival, cursor)``.

        Args:
            due: sample to use in place of the arrival (see ``links.Arrived``).

        Raises:
            ValueError: the audio is not finite mono float or int16.
        """
        text = _checked_text(output)
        if output.started:
            self._busy.add(output.response)
            self._log(arrival_ms, EventKind.STARTED, output)
        if text:
            self.events.append(
                Event(arrival_ms, EventKind.TEXT, text=text, response=output.response)
            )
        if output.audio is not None:
            self._place(to_pcm16(output.audio), arrival_ms, output.response, due)
        if output.interrupted:
            self._log(arrival_ms, EventKind.INTERRUPTED, output)
        if output.done:
            self._busy.discard(output.response)
            self._done_ms = max(arrival_ms, samples_to_ms(self._cursor))
            self._log(arrival_ms, EventKind.DONE, output)

    def heard_until(self, now_ms: int) -> Float32:
        """Model-channel samples between the previous call and ``now_ms``, as placed."""
        end = ms_to_samples(now_ms)
        self._reserve(end)
        heard = self._channel[self._read : end]
        self._read = end
        return to_float(heard)

    @property
    def busy(self) -> bool:
        """A provider announced a reply that it has not completed."""
        return bool(self._busy)

    @property
    def done_ms(self) -> int | None:
        """The later of the last completion event and the end of its placed audio."""
        return self._done_ms

    @property
    def queued_samples(self) -> int:
        """Audio placed after the last sample that was read: what a player still holds."""
        return max(0, self._cursor - self._read)

    def channel(self, samples: int) -> Pcm16:
        """The model channel as placed, cut or padded to the session's length."""
        self._reserve(samples)
        placed: Pcm16 = self._channel[:samples].copy()
        return placed

    def heard(self, samples: int) -> Pcm16 | None:
        """The model channel as heard, of the session's length; None when it is as placed.

        Rendered here because it needs what was placed beyond the session's end.
        """
        if all(event.kind is not EventKind.INTERRUPTED for event in self.events):
            return None
        self._reserve(max(samples, self._cursor))
        return render_as_heard(self._channel, self.events)[:samples]

    def _log(self, arrival_ms: int, kind: EventKind, output: Output) -> None:
        self.events.append(Event(arrival_ms, kind, response=output.response))

    def _place(self, pcm: Pcm16, arrival_ms: int, response: str, due: int | None) -> None:
        at = max(ms_to_samples(arrival_ms) if due is None else due, self._cursor)
        if not len(pcm):
            return
        end = at + len(pcm)
        if end - self._read > _QUEUE_LIMIT:
            raise ValueError(f"more than {QUEUE_LIMIT_S} s of audio is waiting to be played")
        self._reserve(end)
        self._channel[at:end] = pcm
        self._cursor = end
        self.events.append(
            Event(arrival_ms, EventKind.AUDIO, samples=len(pcm), at=at, response=response)
        )

    def _reserve(self, samples: int) -> None:
        if samples > len(self._channel):
            grown: Pcm16 = np.zeros(max(samples, 2 * len(self._channel)), np.int16)
            grown[: len(self._channel)] = self._channel
            self._channel = grown


def _checked_text(output: Output) -> str:
    if not isinstance(output.text, str) or not isinstance(output.response, str):
        raise ValueError(f"text {output.text!r} or response {output.response!r} is not a string")
    return output.text.encode("utf-8", "replace").decode()  # lone surrogates cannot be stored


def render_as_heard(placed: Pcm16, events: Sequence[Event]) -> Pcm16:
    """The model channel a real client would have played, same length as ``placed``.

    At an interruption the sample due at that instant is the last one heard: queued audio and
    any later delta of the interrupted replies is dropped; the next reply starts at
    ``max(arrival, cursor)`` with nothing queued before it.

    Args:
        placed: model channel as placed, int16 ``(n,)`` at 24 kHz.
        events: the event log, in arrival order.
    """
    heard = np.zeros_like(placed)
    cursor = 0
    begun: set[str] = set()
    dropped: set[str] = set()
    for event in events:
        if event.kind is EventKind.AUDIO:
            if event.response and event.response in dropped:
                continue
            begun.add(event.response)
            at = max(min(ms_to_samples(event.t_ms), event.at), cursor)
            piece = placed[event.at : event.at + event.samples]
            piece = piece[: max(0, len(heard) - at)]
            heard[at : at + len(piece)] = piece
            cursor = at + event.samples
        elif event.kind is EventKind.INTERRUPTED:
            cut = ms_to_samples(event.t_ms)
            heard[cut:] = 0
            cursor = min(cursor, cut)
            dropped |= {event.response} if event.response else begun
        elif event.kind is EventKind.STARTED:
            begun.add(event.response)
    return heard
