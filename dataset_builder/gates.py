"""Structural gates: what a conversation must be before and after it is spoken (G.1).

A rejection names the conversation, the slot and the rule, for whoever wrote the script. The
gates look at structure only: whether a red flag is really urgent is for a reader to judge.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass

from dsb_ifeval.benchmark.model import Benchmark, Probe, Slot
from dsb_ifeval.readback import normalize
from dsb_ifeval.vocab import SegmentKind

from .floor_words import given_away
from .numerals import ONES, TENS
from .scripts import Script
from .turns import TURN1_SLOT, readback_target
from .verbalise import verbalise

MIN_TURN1_WORDS = 15
WORDS_PER_SECOND = 5.0
"""Nobody speaks faster: a trigger or check slot with more words per second of its target
holds more than its phrase."""

_PHRASES = ("trigger", "check")
_MARKUP = re.compile(r"[\[\]<>{}()*_#|]")
_TEENS = frozenset((*ONES[10:], *TENS[2:]))

GetDuration = Callable[[Script, str], int]
"""(script, slot) to the length of its synthesised segment in milliseconds."""


@dataclass(frozen=True, slots=True)
class Rejection:
    """One broken rule.

    Attributes:
        conversation: the audio key; the cells of the matched set share one text.
        slot: ``t1`` for turn 1, else a turn-2 slot.
    """

    conversation: str
    slot: str
    rule: str

    def __str__(self) -> str:
        return f"{self.conversation} {self.slot}: {self.rule}"


def check_scripts(benchmark: Benchmark, scripts: Iterable[Script]) -> list[Rejection]:
    """Rejections by every gate that needs no audio, without repetition."""
    found: dict[Rejection, None] = {}
    for script in scripts:
        probe = benchmark.probes[script.probe]
        for slot, rule in _broken_rules(benchmark, script, probe):
            found.setdefault(Rejection(script.audio_key, slot, rule))
    return list(found)


def _broken_rules(benchmark: Benchmark, script: Script, probe: Probe) -> Iterator[tuple[str, str]]:
    missing = list(_missing_slots(script, probe))
    yield from missing
    yield from _writing(script)
    yield from _turn1(script)
    yield from _giveaways(script, probe)
    yield from _phrases(script, probe)
    if not missing:
        yield from _readback(benchmark, script, probe)


def _missing_slots(script: Script, probe: Probe) -> Iterator[tuple[str, str]]:
    slots = _all_slots(probe)
    texts = {**script.turn2, **script.appended}
    for before, slot in zip([None, *slots], slots, strict=False):
        if slot.kind is SegmentKind.SILENCE or slot.name in texts:
            continue
        if before and before.kind is SegmentKind.SILENCE:
            pause = f"{before.duration_ms / 1000:g} s {before.purpose}"
            if probe.short_id == "C4":
                yield slot.name, f"the turn ends at the {pause} of the check, nothing resumes it"
            else:
                yield slot.name, f"the {pause} before it has no resumption"
        else:
            yield slot.name, f"the {slot.purpose} is missing"
    if slots[-1].kind is SegmentKind.SILENCE:
        yield slots[-1].name, "the probe ends in a pause with no resumption"


def _writing(script: Script) -> Iterator[tuple[str, str]]:
    for slot, text in _texts(script):
        if not verbalise(text):
            yield slot, f"no word to pronounce in {text!r:.60}: write what is said"
        numerals = re.findall(r"\S*\d\S*", text)
        if numerals:
            yield slot, f"numerals {', '.join(numerals)}: write numbers as they are spoken"
        if _MARKUP.search(text):
            yield slot, f"markup {_MARKUP.search(text)!r:.60}: only what is said is written"


def _turn1(script: Script) -> Iterator[tuple[str, str]]:
    count = len(script.turn1.split())
    if not re.search(r"[.!?][\"']?\Z", script.turn1):
        ending = script.turn1.split()[-1]
        yield TURN1_SLOT, f"turn 1 is not self-contained: it ends in {ending!r}, not a sentence"
    if count < MIN_TURN1_WORDS:
        yield (
            TURN1_SLOT,
            f"turn 1 is not self-contained: {count} words, at least {MIN_TURN1_WORDS}",
        )


def _giveaways(script: Script, probe: Probe) -> Iterator[tuple[str, str]]:
    checks = {slot.name for slot in _all_slots(probe) if slot.purpose == "check"}
    for slot, text in _texts(script):
        if slot not in checks:
            for what in given_away(text, script.role):
                yield slot, f"the user names {what}; role {script.role} must stay implied"


def _phrases(script: Script, probe: Probe) -> Iterator[tuple[str, str]]:
    """A trigger or check phrase stands alone: short, and not also said next to itself."""
    speech = [slot for slot in _all_slots(probe) if slot.kind is SegmentKind.SPEECH]
    texts = {**script.turn2, **script.appended}
    for index, slot in enumerate(speech):
        if slot.purpose not in _PHRASES or slot.name not in texts:
            continue
        phrase = normalize(texts[slot.name])
        limit = round(slot.duration_ms / 1000 * WORDS_PER_SECOND)
        if len(texts[slot.name].split()) > limit:
            count = len(texts[slot.name].split())
            yield (
                slot.name,
                f"{count} words, at most {limit}: the {slot.purpose} phrase is merged with more",
            )
        for neighbour in speech[max(0, index - 1) : index + 2]:
            said = normalize(texts.get(neighbour.name, ""))
            if neighbour is not slot and _contains(said, phrase):
                yield neighbour.name, f"repeats the {slot.purpose} phrase of {slot.name}"


def _readback(benchmark: Benchmark, script: Script, probe: Probe) -> Iterator[tuple[str, str]]:
    """What is to be read back was really said, digit by digit."""
    for slot in probe.readback:
        teens = sorted(_TEENS.intersection(normalize(script.turn2[slot])))
        if teens:
            yield slot, f"dictated numbers are spelled digit by digit, found {', '.join(teens)}"
    target = readback_target(benchmark, script)
    if not target:
        return
    slots = probe.readback or tuple(script.turn2)
    where = probe.readback_field or "+".join(slots)
    spoken = {token for slot in slots for token in _spoken_tokens(script.turn2[slot])}
    absent = [token for token in normalize(target) if token not in spoken]
    if absent:
        yield where, f"readback target has words that are not spoken: {', '.join(absent)}"


def check_durations(
    benchmark: Benchmark, scripts: Iterable[Script], duration_ms: GetDuration
) -> list[Rejection]:
    """Speech segments that miss their target duration by more than the tolerance."""
    tolerance = benchmark.audio.segment_tolerance
    found: dict[Rejection, None] = {}
    for script in scripts:
        for slot, target in speech_targets(benchmark, script):
            actual = duration_ms(script, slot)
            if abs(actual - target) > tolerance * target:
                rule = (
                    f"{actual / 1000:.2f} s of speech, target {target / 1000:g} s "
                    f"({actual / target - 1:+.0%}, tolerance {tolerance:.0%})"
                )
                found.setdefault(Rejection(script.audio_key, slot, rule))
    return list(found)


def speech_targets(benchmark: Benchmark, script: Script) -> Iterator[tuple[str, int]]:
    """Every speech slot of a script with its target in milliseconds."""
    yield TURN1_SLOT, benchmark.audio.turn1_target_ms
    for slot in _all_slots(benchmark.probes[script.probe]):
        if slot.kind is SegmentKind.SPEECH:
            yield slot.name, slot.duration_ms


def _all_slots(probe: Probe) -> Sequence[Slot]:
    extra = [slot for variant in probe.variants for slot in variant.extra_slots]
    return [*probe.slots, *extra]


def _texts(script: Script) -> Iterator[tuple[str, str]]:
    yield TURN1_SLOT, script.turn1
    yield from script.turn2.items()
    yield from script.appended.items()
    if script.readback:
        yield "readback", script.readback


def _spoken_tokens(text: str) -> list[str]:
    return normalize(" ".join(word.spoken for word in verbalise(text)))


def _contains(tokens: list[str], phrase: list[str]) -> bool:
    size = len(phrase)
    return bool(phrase) and any(
        tokens[start : start + size] == phrase for start in range(len(tokens) - size + 1)
    )
