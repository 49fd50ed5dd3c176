"""From scripts to built conversations: which segments are needed, and what they become."""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property

from dsb_ifeval.benchmark.model import Benchmark, Probe, Slot, Variant
from dsb_ifeval.conversation import Conversation
from dsb_ifeval.vocab import Action, Level, SegmentKind

from .assemble import BuiltTurn, Silence, Speech, assemble
from .cache import Request
from .clips import Clip, Pcm
from .engines import Engine
from .scripts import Script
from .verbalise import Spoken, verbalise

TURN1_SLOT = "t1"

GetClip = Callable[[Request], Clip]


@dataclass(frozen=True)
class Plan:
    """A script together with the probe it fills and the voice that speaks it."""

    script: Script
    probe: Probe
    voice: str

    @cached_property
    def words(self) -> Mapping[str, tuple[Spoken, ...]]:
        """Display words with their spoken form, by speech slot (turn 1 is ``t1``)."""
        script = self.script
        texts = {TURN1_SLOT: script.turn1, **script.turn2, **script.appended}
        return {slot: verbalise(text) for slot, text in texts.items()}

    @property
    def requests(self) -> Iterator[Request]:
        """The segments to speak."""
        return (self.request(slot) for slot in self.words)

    def request(self, slot: str) -> Request:
        """The segment of one speech slot."""
        return Request(" ".join(word.spoken for word in self.words[slot]), self.voice)


@dataclass(frozen=True, slots=True)
class BuiltConversation:
    """A conversation and the waveforms of its turns.

    Attributes:
        level: the only level that uses it, for a variant with its own audio; else None.
    """

    conversation: Conversation
    turn1: Pcm
    turn2: Pcm
    level: Level | None = None


def plan(benchmark: Benchmark, engine: Engine, scripts: Sequence[Script]) -> tuple[Plan, ...]:
    """Plans of scripts, in order."""
    return tuple(
        Plan(script, benchmark.probes[script.probe], voice_for(script.audio_key, engine.voices))
        for script in scripts
    )


def voice_for(audio_key: str, voices: Sequence[str]) -> str:
    """One voice per conversation: ``sha1(audio_key) % N`` over the sorted voices (Table 29)."""
    digest = hashlib.sha1(audio_key.encode(), usedforsecurity=False).hexdigest()
    return voices[int(digest, 16) % len(voices)]


def build_conversations(
    benchmark: Benchmark, engine: Engine, item: Plan, get_clip: GetClip
) -> Iterator[BuiltConversation]:
    """The conversation of a plan, then its variants with their own audio."""
    script, probe = item.script, item.probe
    turn1 = assemble([_speech(item, TURN1_SLOT, get_clip)])
    turn2 = _turn2(item, probe.slots, get_clip)
    conversation = Conversation(
        id=script.id,
        role=script.role,
        probe=script.probe,
        instance=script.instance,
        audio_key=script.audio_key,
        turn1=turn1.turn,
        turn2=turn2.turn,
        readback=readback_target(benchmark, script),
        provenance=_provenance(script, engine, item.voice),
    )
    yield BuiltConversation(conversation, turn1.pcm, turn2.pcm)
    for variant in probe.variants:
        longer = _appended(item, variant, get_clip)
        own = replace(
            conversation,
            audio_key=f"{script.audio_key}-{variant.level.value}",
            turn2=longer.turn,
        )
        yield BuiltConversation(own, turn1.pcm, longer.pcm, variant.level)


def readback_target(benchmark: Benchmark, script: Script) -> str:
    """What a correct readback repeats, in cells that ask for one; else empty."""
    probe = benchmark.probes[script.probe]
    if benchmark.roles[script.role].actions[script.probe] is not Action.READBACK:
        return ""
    return script.readback or " ".join(script.turn2[slot] for slot in probe.readback)


def _appended(item: Plan, variant: Variant, get_clip: GetClip) -> BuiltTurn:
    """The base turn's samples followed by the variant's segments."""
    return _turn2(item, (*item.probe.slots, *variant.extra_slots), get_clip)


def _turn2(item: Plan, slots: Sequence[Slot], get_clip: GetClip) -> BuiltTurn:
    parts = [
        _speech(item, slot.name, get_clip)
        if slot.kind is SegmentKind.SPEECH
        else Silence(slot.name, slot.duration_ms)
        for slot in slots
    ]
    return assemble(parts, item.probe.mode, item.probe.barge_in_after_ms)


def _speech(item: Plan, slot: str, get_clip: GetClip) -> Speech:
    return Speech(slot, item.words[slot], get_clip(item.request(slot)))


def _provenance(script: Script, engine: Engine, voice: str) -> dict[str, str]:
    origin = {
        "generator": script.generator,
        "situation": script.situation,
        "speaker": script.speaker,
        "engine": engine.name,
        "voice": voice,
        "model_sha256": engine.model_sha256,
        **{f"version_{package}": version for package, version in engine.versions.items()},
    }
    return {**origin, "error": script.error} if script.error else origin
