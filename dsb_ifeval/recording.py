"""A finished session on disk: ``{case}.stereo.flac`` and ``{case}.rec.json`` (F.2, F.3).

Where a provider signalled an interruption, ``{case}.heard.flac`` holds the model channel as a
person would have heard it; otherwise both renderings are the same.

The record is written after the audio and is what makes a case *done*: a folder that was
killed at any moment holds complete cases and nothing else that counts. It holds nothing
that differs between two runs of a deterministic system.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict, dataclass, field, replace
from pathlib import Path
from typing import Any

import numpy as np

from dsb_ifeval.audio import Pcm16, encode_flac, read_stereo, sample_hash
from dsb_ifeval.cases import Case
from dsb_ifeval.errors import FileError, RecordingError
from dsb_ifeval.events import Event, EventKind
from dsb_ifeval.files import read_json, write_bytes, write_json
from dsb_ifeval.intervals import SESSION_RATE_HZ, Interval, ms_to_samples
from dsb_ifeval.turns import TurnFacts
from dsb_ifeval.vocab import Transcript

FORMAT = 1
OK = "ok"
FAILED = "failed"


@dataclass(frozen=True, slots=True)
class Record:
    """Everything about a session but its samples.

    Attributes:
        status: ``ok``, or ``failed`` with a ``reason``; a failed case is never scored.
        turn1_onset_ms: always 0; kept so that readers need no convention.
        samples: length of both channels at 24 kHz.
        pcm_sha256: hash of the interleaved stereo samples.
        heard_sha256: hash of the model channel as heard, empty when it is as placed.
        flac_bytes: size of the audio file, so that a resume sees a damaged one at once.
        stimulus: sha256 of both user turns as played.
        events: the event log, in arrival order.
        transcript: what the adapter tells about the text of its own speech.
        settings: what the adapter says about itself (model, voice, provider's echo).
        facts: the schedule as played; None when the session broke before its end.
        window: trigger window on the session clock; None when the session broke.
    """

    case_id: str
    system: str
    status: str
    reason: str
    clock: str
    samples: int
    pcm_sha256: str
    stimulus: tuple[str, str]
    facts: TurnFacts | None
    window: Interval | None = None
    events: tuple[Event, ...] = ()
    transcript: Transcript = Transcript.TIMED
    settings: Mapping[str, Any] = field(default_factory=dict)
    heard_sha256: str = ""
    flac_bytes: int = 0
    turn1_onset_ms: int = 0

    @property
    def text(self) -> str:
        """The whole native transcript of the model's speech."""
        return "".join(event.text for event in self.events if event.kind is EventKind.TEXT)

    def text_from(self, onset_ms: int) -> str:
        """Transcript deltas that arrived at or after an instant of the session clock."""
        return "".join(
            event.text
            for event in self.events
            if event.kind is EventKind.TEXT and event.t_ms >= onset_ms
        )


@dataclass(frozen=True, slots=True)
class Recording:
    """A record with its channels at 24 kHz.

    Attributes:
        stereo: int16 ``(n, 2)``: user, model as placed.
        heard: int16 ``(n,)``: model as heard, None when nothing was interrupted.
        traceback: of a failed session, for the run's log; not part of the record.
    """

    record: Record
    stereo: Pcm16
    heard: Pcm16 | None = None
    traceback: str = ""


def unplayed(case: Case, system: str, reason: str) -> Recording:
    """The failed recording of a case that could not even be started."""
    record = Record(
        case_id=case.case_id,
        system=system,
        status=FAILED,
        reason=reason,
        clock="none",
        samples=0,
        pcm_sha256="",
        stimulus=(case.turn1.sha256, case.turn2.sha256),
        facts=None,
    )
    return Recording(record, np.zeros((0, 2), np.int16))


def audio_path(folder: Path, case_id: str) -> Path:
    """Where a case's two channels are."""
    return folder / f"{case_id}.stereo.flac"


def heard_path(folder: Path, case_id: str) -> Path:
    """Where a case's model channel as heard is, if it differs."""
    return folder / f"{case_id}.heard.flac"


def record_path(folder: Path, case_id: str) -> Path:
    """Where a case's record is."""
    return folder / f"{case_id}.rec.json"


def stereo_hash(stereo: Pcm16) -> str:
    """Hash of interleaved samples, shape ``(n, 2)``."""
    return sample_hash(stereo.reshape(-1))


def save(recording: Recording, folder: Path) -> None:
    """Write audio, then the record that makes the case done.

    Raises:
        FileError: the folder cannot be written or the disk is full.
    """
    record = recording.record
    if len(recording.stereo):
        flac = encode_flac(recording.stereo, SESSION_RATE_HZ)
        write_bytes(audio_path(folder, record.case_id), flac)
        record = replace(record, flac_bytes=len(flac))
    if recording.heard is not None:
        flac = encode_flac(recording.heard, SESSION_RATE_HZ)
        write_bytes(heard_path(folder, record.case_id), flac)
    write_json(record_path(folder, record.case_id), _to_json(record))


def load_record(folder: Path, case_id: str) -> Record:
    """Read a record.

    Raises:
        RecordingError: missing or malformed; names the file.
    """
    path = record_path(folder, case_id)
    if not path.is_file():
        raise RecordingError(f"{path}: no record; the case was not run")
    try:
        record = _from_json(read_json(path))
    except FileError as error:
        raise RecordingError(f"not a session record: {error}") from error
    except (KeyError, TypeError, ValueError, AttributeError) as error:
        raise RecordingError(f"{path}: not a session record: {error!r}") from error
    if record.case_id != case_id:
        raise RecordingError(f"{path}: is the record of case {record.case_id!r}")
    return record


def load(folder: Path, case_id: str) -> Recording:
    """Read and check a recording against its record.

    Raises:
        RecordingError: failed session, missing or damaged audio, wrong format, length or hash.
    """
    record = load_record(folder, case_id)
    if record.status != OK:
        raise RecordingError(f"session failed: {record.reason}")
    path = audio_path(folder, case_id)
    stereo = read_stereo(path, SESSION_RATE_HZ)
    if len(stereo) != record.samples:
        raise RecordingError(
            f"{path}: {len(stereo)} samples, its record says {record.samples}; "
            "truncated or exchanged"
        )
    if stereo_hash(stereo) != record.pcm_sha256:
        raise RecordingError(f"{path}: samples are not those of its record (sha256 differs)")
    return Recording(record, stereo)


def is_done(folder: Path, case_id: str) -> bool:
    """Whether a run may skip the case: an ok record whose audio file is there, whole."""
    path = audio_path(folder, case_id)
    try:
        record = load_record(folder, case_id)
        return record.status == OK and path.stat().st_size == record.flac_bytes
    except (RecordingError, OSError):
        return False


def user_channel(turn1: Pcm16, turn2: Pcm16, turn2_onset_ms: int | None, samples: int) -> Pcm16:
    """What the user side sent: both turns at their onsets, exact zeros elsewhere."""
    channel: Pcm16 = np.zeros(samples, np.int16)
    _paste(channel, turn1, 0)
    if turn2_onset_ms is not None:
        _paste(channel, turn2, ms_to_samples(turn2_onset_ms))
    return channel


def _paste(channel: Pcm16, audio: Pcm16, at: int) -> None:
    room = max(0, len(channel) - at)
    channel[at : at + min(room, len(audio))] = audio[:room]


def _to_json(record: Record) -> dict[str, Any]:
    facts = record.facts
    return {
        "format": FORMAT,
        "case_id": record.case_id,
        "system": record.system,
        "status": record.status,
        "reason": record.reason,
        "clock": record.clock,
        "rate_hz": SESSION_RATE_HZ,
        "samples": record.samples,
        "pcm_sha256": record.pcm_sha256,
        "heard_sha256": record.heard_sha256,
        "flac_bytes": record.flac_bytes,
        "turn1_onset_ms": record.turn1_onset_ms,
        "schedule": None if facts is None else asdict(facts),
        "trigger_window": None if record.window is None else asdict(record.window),
        "stimulus": {"turn1_sha256": record.stimulus[0], "turn2_sha256": record.stimulus[1]},
        "transcript": record.transcript.value,
        "text": record.text,
        "settings": dict(record.settings),
        "events": [event.to_json() for event in record.events],
    }


def _from_json(row: Mapping[str, Any]) -> Record:
    if row["format"] != FORMAT:
        raise ValueError(f"format {row['format']!r}, expected {FORMAT}")
    facts, window = row["schedule"], row["trigger_window"]
    stimulus = row["stimulus"]
    return Record(
        case_id=row["case_id"],
        system=row["system"],
        status=row["status"],
        reason=row["reason"],
        clock=row["clock"],
        samples=_count(row, "samples"),
        pcm_sha256=row["pcm_sha256"],
        heard_sha256=row["heard_sha256"],
        flac_bytes=_count(row, "flac_bytes"),
        stimulus=(stimulus["turn1_sha256"], stimulus["turn2_sha256"]),
        facts=None if facts is None else _facts(facts),
        window=None if window is None else _interval(window),
        events=tuple(Event.from_json(event) for event in row["events"]),
        transcript=Transcript(row["transcript"]),
        settings=row["settings"],
        turn1_onset_ms=_count(row, "turn1_onset_ms"),
    )


def _facts(row: Mapping[str, Any]) -> TurnFacts:
    onset = row["model_onset_ms"]
    return TurnFacts(
        turn2_onset_ms=_count(row, "turn2_onset_ms"),
        end_ms=_count(row, "end_ms"),
        model_onset_ms=None if onset is None else _count(row, "model_onset_ms"),
        trigger_valid=_flag(row, "trigger_valid"),
        turn1_yielded=_flag(row, "turn1_yielded"),
    )


def _interval(row: Mapping[str, Any]) -> Interval:
    return Interval(_count(row, "start_ms"), _count(row, "end_ms"))


def _count(row: Mapping[str, Any], name: str) -> int:
    """Ticks, samples and bytes are whole and not negative; anything else is damage."""
    value = row[name]
    if isinstance(value, bool) or not isinstance(value, int) or value < 0:
        raise ValueError(f"{name}: got {value!r}, expected a whole number >= 0")
    return value


def _flag(row: Mapping[str, Any], name: str) -> bool:
    value = row[name]
    if not isinstance(value, bool):
        raise ValueError(f"{name}: got {value!r}, expected true or false")
    return value
