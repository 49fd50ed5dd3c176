"""Cases: one conversation under one conditioning, with everything a run and a score need.

``build_cases`` expands built conversations over the levels (B.4, G.4); a case then carries
its prompt, its trigger window and its verifier, so that a dataset folder alone is enough to
play it and to score it.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass

from dsb_ifeval.audio import Pcm16
from dsb_ifeval.benchmark.model import Benchmark, Edge, Params, Probe, Variant, Window
from dsb_ifeval.benchmark.prompts import system_prompt
from dsb_ifeval.conversation import Conversation, Turn
from dsb_ifeval.intervals import Interval
from dsb_ifeval.vocab import Action, ConflictOutcome, Level


@dataclass(frozen=True, slots=True)
class Verifier:
    """Which rule scores the case, with case-specific thresholds (Table 28)."""

    name: str
    params: Params


@dataclass(frozen=True, slots=True)
class Case:
    """One row of the manifest (section 1, Table 28).

    Attributes:
        probe: short probe id; ``probe_full`` is the id of Tables 15-16.
        probe_action: base action of the cell (reproduces the counts of B.1).
        expected_action: the action that is scored; differs only for R2/R2_B at L4b.
        window: trigger window, both ends inside, in ms after the recorded turn-2 onset.
        readback: readback target text; empty unless the cell dictates something.
        conflict: who should win at L4a and L4b; None elsewhere.
    """

    case_id: str
    conversation_id: str
    audio_key: str
    role: str
    probe: str
    probe_full: str
    instance: int
    level: Level
    probe_action: Action
    expected_action: Action
    system_prompt: str
    verifier: Verifier
    window: Interval
    readback: str
    conflict: ConflictOutcome | None
    turn1: Turn
    turn2: Turn
    provenance: Mapping[str, str]


@dataclass(frozen=True, slots=True)
class Stimulus:
    """A case with its decoded user audio, int16 ``(n,)`` at 24 kHz."""

    case: Case
    turn1: Pcm16
    turn2: Pcm16


def levels_for(benchmark: Benchmark, role: str, probe: str, instance: int) -> Iterator[Level]:
    """Conditionings under which a conversation is played (Table 30)."""
    if instance == min(benchmark.instances):
        yield Level.L0
    yield from (Level.L1, Level.L2, Level.L3, Level.L4a)
    if (role, probe) in benchmark.instructions.safety:
        yield Level.L4b


def variant_at(probe: Probe, level: Level) -> Variant | None:
    """The probe variant with its own audio at this level, if there is one (H.4)."""
    return next((v for v in probe.variants if v.level is level), None)


def verifier_for(benchmark: Benchmark, role: str, action: Action) -> Verifier:
    """Table 18 defaults with the role's overrides (benchmark section 3)."""
    spec = benchmark.actions[action]
    overrides = benchmark.roles[role].thresholds.get(action, {})
    return Verifier(spec.verifier, {**spec.params, **overrides})


def resolve_window(window: Window, turn: Turn) -> Interval:
    """Place a window's symbolic edges on a built turn, in ms after the turn's onset."""

    def at(edge: Edge) -> int:
        span = turn.segment(edge.slot).span
        return (span.start_ms if edge.bound == "on" else span.end_ms) + edge.plus_ms

    return Interval(at(window.start), at(window.end))


def make_case(benchmark: Benchmark, conversation: Conversation, level: Level) -> Case:
    """One conversation under one level.

    ``conversation`` must carry the audio that belongs to the level: for R2/R2_B at L4b that
    is the variant with the appended red flag.
    """
    role = benchmark.roles[conversation.role]
    probe = benchmark.probes[conversation.probe]
    probe_action = role.actions[conversation.probe]
    variant = variant_at(probe, level)
    action = variant.action if variant else probe_action
    window = variant.window if variant else probe.windows[probe_action]
    return Case(
        case_id=f"{conversation.id}-{level.value}",
        conversation_id=conversation.id,
        audio_key=conversation.audio_key,
        role=role.id,
        probe=probe.short_id,
        probe_full=probe.full_id,
        instance=conversation.instance,
        level=level,
        probe_action=probe_action,
        expected_action=action,
        system_prompt=system_prompt(
            benchmark, role.id, probe.short_id, conversation.instance, level
        ),
        verifier=verifier_for(benchmark, role.id, action),
        window=resolve_window(window, conversation.turn2),
        readback=conversation.readback,
        conflict=_expected_winner(level),
        turn1=conversation.turn1,
        turn2=conversation.turn2,
        provenance=conversation.provenance,
    )


def build_cases(
    benchmark: Benchmark,
    conversations: Iterable[Conversation],
    variants: Mapping[tuple[str, Level], Conversation],
) -> list[Case]:
    """Expand conversations over their levels, in case-id order of the input.

    Args:
        variants: conversations with audio of their own, by (conversation id, level).
    """
    cases = []
    for base in conversations:
        for level in levels_for(benchmark, base.role, base.probe, base.instance):
            needs_own = variant_at(benchmark.probes[base.probe], level) is not None
            conversation = variants[base.id, level] if needs_own else base
            cases.append(make_case(benchmark, conversation, level))
    return cases


def _expected_winner(level: Level) -> ConflictOutcome | None:
    if level is Level.L4a:
        return ConflictOutcome.DIRECTIVE_WINS
    if level is Level.L4b:
        return ConflictOutcome.PERSONA_WINS
    return None
