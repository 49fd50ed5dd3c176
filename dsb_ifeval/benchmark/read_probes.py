"""``spec/probes.yaml``: turn-2 segments and trigger windows."""

from __future__ import annotations

import itertools
import re
from collections.abc import Sequence
from enum import Enum

from dsb_ifeval.benchmark.checks import Reader
from dsb_ifeval.benchmark.model import Edge, Probe, Slot, Variant, Window
from dsb_ifeval.benchmark.rules import describe
from dsb_ifeval.intervals import seconds_to_ms
from dsb_ifeval.vocab import Action, Level, SegmentKind, TurnMode

MAX_DURATION_S = 600

_EDGE = re.compile(r"(s[1-9][0-9]*)\.(on|off)(?: \+ ([0-9]+(?:\.[0-9]+)?))?")
_NO_WINDOW = Window(Edge("", "on"), Edge("", "on"))


class _Purpose(str, Enum):
    SPEECH = "speech"
    CHUNK = "chunk"
    TRIGGER = "trigger"
    CHECK = "check"
    CONTINUATION = "continuation"
    RESUMPTION = "resumption"
    PAUSE = "pause"
    GAP = "gap"


def read_probes(top: Reader) -> dict[str, Probe]:
    """All probes by short id, in file order (Tables 15-16)."""
    return {short: _read_probe(short, reader) for short, reader in top.items()}


def _read_probe(short: str, reader: Reader) -> Probe:
    mode = reader.choice("mode", TurnMode)
    delay = _read_delay(reader, mode)
    slots = _read_slots(reader.children("slots"), after=0)
    windows = _read_windows(reader, slots)
    readback = reader.optional_strings("readback")
    for name in readback:
        if not any(slot.name == name and slot.kind is SegmentKind.SPEECH for slot in slots):
            reader.fail("readback", f"got {name!r}, expected a speech slot{_known(slots)}")
    field = reader.optional_text("readback_field")
    if Action.READBACK in windows and not reader.has("readback") and field is None:
        reader.fail("readback", "missing, expected slots to read back (or readback_field)")
    probe = Probe(
        full_id=reader.text("id"),
        short_id=short,
        title=reader.text("title"),
        role=reader.optional_text("role"),
        mode=mode,
        slots=slots,
        windows=windows,
        barge_in_after_ms=delay,
        readback=readback,
        readback_field=field,
        terminal=reader.optional_flag("terminal"),
        variants=tuple(
            _read_variant(child, slots) for child in reader.optional_children("variants")
        ),
    )
    reader.done()
    return probe


def _read_windows(reader: Reader, slots: tuple[Slot, ...]) -> dict[Action, Window]:
    written = reader.child("windows")
    if not written.quiet and not list(written):
        reader.fail("windows", "got none, expected one for each action that a cell expects here")
    return {action: _read_window(child, slots) for action, child in written.members(Action)}


def _read_delay(reader: Reader, mode: TurnMode) -> int | None:
    if mode is TurnMode.BARGE_IN:
        return _read_duration_ms(reader, "barge_in_after_s")
    if reader.has("barge_in_after_s"):
        reader.fail("barge_in_after_s", f"not for mode {mode.value}, expected it to be absent")
    return None


def _read_slots(readers: Sequence[Reader], after: int) -> tuple[Slot, ...]:
    names = (f"s{number}" for number in itertools.count(after + 1))
    return tuple(_read_slot(reader, name) for reader, name in zip(readers, names, strict=False))


def _read_slot(reader: Reader, name: str) -> Slot:
    written = reader.text("name")
    if written and written != name:
        reader.fail("name", f"got {written!r}, expected {name!r} (slots in order)")
    kind = reader.choice("kind", SegmentKind)
    key = "duration_s" if kind is SegmentKind.SILENCE else "target_s"
    duration_ms = _read_duration_ms(reader, key)
    slot = Slot(name, kind, duration_ms, reader.choice("purpose", _Purpose).value)
    reader.done()
    return slot


def _read_duration_ms(reader: Reader, key: str) -> int:
    """A duration in seconds; one that no probe can mean (a forgotten point) is a mistake."""
    seconds = reader.number(key, above=0)
    if seconds <= MAX_DURATION_S:
        return seconds_to_ms(seconds)
    reader.fail(key, f"got {describe(seconds)}, expected at most {MAX_DURATION_S} seconds")
    return 0


def _read_variant(reader: Reader, base: tuple[Slot, ...]) -> Variant:
    extra = _read_slots(reader.children("extra_slots"), after=len(base))
    variant = Variant(
        level=reader.choice("level", Level),
        action=reader.choice("action", Action),
        extra_slots=extra,
        window=_read_window(reader.child("window"), base + extra),
    )
    reader.done()
    return variant


def _read_window(reader: Reader, slots: tuple[Slot, ...]) -> Window:
    start, end = _read_edge(reader, "start", slots), _read_edge(reader, "end", slots)
    reader.done()
    if start is None or end is None:
        return _NO_WINDOW
    known = all(slot.duration_ms for slot in slots)  # 0 stands for a wrong duration
    if known and _nominal_ms(start, slots) >= _nominal_ms(end, slots):
        reader.fail("end", f"got {reader.text('end')!r}, expected a point after start")
    return Window(start, end)


def _read_edge(reader: Reader, key: str, slots: tuple[Slot, ...]) -> Edge | None:
    """Parse ``s5.off + 10``; None after a mistake, and when there are no slots to compare with."""
    written = reader.text(key)
    found = _EDGE.fullmatch(written)
    if found is None:
        if written:
            reader.fail(key, f"got {written!r}, expected like 's2.on', 's5.off' or 's5.off + 10'")
        return None
    name, bound, plus_s = found.groups()
    if float(plus_s or 0) > MAX_DURATION_S:
        reader.fail(key, f"got {describe(written)}, expected at most {MAX_DURATION_S} seconds")
        return None
    if name not in (slot.name for slot in slots):
        if slots:
            reader.fail(key, f"got {written!r}, expected a slot of this probe{_known(slots)}")
        return None
    return Edge(name, bound, seconds_to_ms(float(plus_s or 0)))


def _nominal_ms(edge: Edge, slots: tuple[Slot, ...]) -> int:
    """Where the edge would be, in ms from turn-2 onset, if every segment lasted its target."""
    index = next(i for i, slot in enumerate(slots) if slot.name == edge.slot)
    whole = slots[: index + 1] if edge.bound == "off" else slots[:index]
    return sum(slot.duration_ms for slot in whole) + edge.plus_ms


def _known(slots: tuple[Slot, ...]) -> str:
    return f": {', '.join(slot.name for slot in slots)}"
