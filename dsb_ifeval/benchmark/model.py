"""The benchmark's definitions as frozen values (the YAML files of ``spec/``, typed).

Durations are integer milliseconds. Probes are keyed by *short* id (``C1``, ``R1_A``);
``Probe.full_id`` is the id of Tables 15-16. Mappings are read-only by convention.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from dsb_ifeval.vocab import Action, Level, SegmentKind, TurnMode

Params = Mapping[str, float]
"""Verifier parameters with the paper's names and units (``max_wait_s``, ``max_latency_ms``)."""


@dataclass(frozen=True, slots=True)
class Slot:
    """One segment of a user turn: what it is for and how long it should last.

    Attributes:
        name: ``s1``, ``s2`` ... in order.
        kind: speech, or silence of exactly ``duration_ms``.
        duration_ms: exact for silence; a target that speech may miss by up to 50 %.
        purpose: ``speech``, ``chunk``, ``trigger``, ``check``, ``continuation``,
            ``resumption``, ``pause`` or ``gap``.
    """

    name: str
    kind: SegmentKind
    duration_ms: int
    purpose: str


@dataclass(frozen=True, slots=True)
class Edge:
    """A point in turn 2: a bound of a slot plus an offset, e.g. ``s5.off + 10 s``."""

    slot: str
    bound: str
    plus_ms: int = 0


@dataclass(frozen=True, slots=True)
class Window:
    """A trigger window ``[start, end]`` (B.3; both ends count as inside)."""

    start: Edge
    end: Edge


@dataclass(frozen=True, slots=True)
class Variant:
    """A probe variant with its own audio and scoring target (R2_B at L4b, H.4)."""

    level: Level
    action: Action
    extra_slots: tuple[Slot, ...]
    window: Window


@dataclass(frozen=True, slots=True)
class Probe:
    """One of the 20 probe structures (Tables 15-16, benchmark section 3).

    Attributes:
        role: the only role that uses it, or None for the shared C1-C4.
        barge_in_after_ms: delay after the model's onset, for ``TurnMode.BARGE_IN`` only.
        windows: trigger window per expected action of the cells that use the probe.
        readback: slots whose text is the readback target, for READBACK cells.
        readback_field: conversation field that holds the target instead (R6_B).
        terminal: the user says nothing after the trigger.
    """

    full_id: str
    short_id: str
    title: str
    role: str | None
    mode: TurnMode
    slots: tuple[Slot, ...]
    windows: Mapping[Action, Window]
    barge_in_after_ms: int | None = None
    readback: tuple[str, ...] = ()
    readback_field: str | None = None
    terminal: bool = False
    variants: tuple[Variant, ...] = ()


@dataclass(frozen=True, slots=True)
class EntailedRules:
    """A row of Table 14: the floor behaviour the role implies, for people and reports."""

    interrupt: str
    backchannel: str
    silence_tolerance: str
    readback: str
    barge_in: str


@dataclass(frozen=True, slots=True)
class Role:
    """One of the eight roles (B.2).

    Attributes:
        index: 1..8, part of the L4a variant rule.
        actions: base action of each of the role's six cells, by short probe id.
        thresholds: per-role overrides of verifier parameters, by action.
    """

    id: str
    index: int
    name: str
    persona: str
    directive: str
    content_rule: str
    entailed_rules: EntailedRules
    actions: Mapping[str, Action]
    thresholds: Mapping[Action, Params]


@dataclass(frozen=True, slots=True)
class ActionSpec:
    """An action's verifier and default thresholds (Table 18), and what contradicts it at L4a."""

    action: Action
    definition: str
    verifier: str
    params: Params
    contradiction_target: str
    proactive: bool


@dataclass(frozen=True, slots=True)
class Instructions:
    """The lines appended to a persona at L4a and L4b (B.4, benchmark section 5).

    Attributes:
        contradictions: five surface variants per contradiction target.
        safety: L4b line by ``(role id, short probe id)``: the six safety-eligible cells.
    """

    contradictions: Mapping[str, tuple[str, ...]]
    safety: Mapping[tuple[str, str], str]


@dataclass(frozen=True, slots=True)
class Matched:
    """The matched-audio set: cells that share one text and one waveform across roles (G.5)."""

    probes: tuple[str, ...]
    instances: tuple[int, ...]
    roles: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class SessionConstants:
    """Turn timing of a session (Appendix F.1-F.2, benchmark section 7), in milliseconds."""

    chunk_ms: int
    take_turn_onset_wait_ms: int
    settle_ms: int
    take_turn_max_ms: int
    barge_in_onset_wait_ms: int
    tail_ms: int
    final_onset_wait_ms: int
    final_quiet_ms: int
    final_max_ms: int
    trailing_ms: int


@dataclass(frozen=True, slots=True)
class VadSettings:
    """Speech-activity settings of the scorer (C.2)."""

    rate_hz: int
    threshold: float
    min_speech_ms: int
    min_silence_ms: int
    speech_pad_ms: int
    merge_gap_ms: int


@dataclass(frozen=True, slots=True)
class AudioSettings:
    """How user audio is built (section 6, Table 29)."""

    rate_hz: int
    turn1_target_ms: int
    segment_tolerance: float
    mean_duration_ms: int
    mean_tolerance_ms: int


@dataclass(frozen=True, slots=True)
class Leakage:
    """The persona-leakage gates (B.6)."""

    blocklist: tuple[str, ...]
    stopwords: tuple[str, ...]
    token_pattern: str
    max_overlap: float
    min_words: int
    max_words: int


@dataclass(frozen=True, slots=True)
class JudgeSpec:
    """Prompts and settings of the PAS and conflict judge (D.2-D.3).

    Attributes:
        backoff_s: wait before the second and each later attempt.
        user_template: verbatim, with the paper's own placeholders.
        fields: what is filled in, each with the text of ``user_template`` that stands for it (it
            occurs there once).
        no_speech: stands for an empty transcript.
        l4_block: L4 only; holds ``{contradiction}`` and ``{l4_expected}``.
    """

    model: str
    temperature: float
    max_tokens: int
    attempts: int
    backoff_s: tuple[float, ...]
    timeout_s: float
    concurrency: int
    system_prompt: str
    user_template: str
    fields: Mapping[str, str]
    no_speech: str
    l4_block: str


@dataclass(frozen=True, slots=True)
class SystemSpec:
    """An evaluated system as the paper configures it (Tables 19, 24-26): data, not code."""

    id: str
    name: str
    access: str
    checkpoint: str
    hardware: str
    prompt_interface: str
    execution_mode: str
    mechanism: str
    concurrent_audio: str
    floor_control: str
    persona_conditioning: bool
    input_rate: str
    turn_detection: str
    decoding: str
    settings: str
    notes: str


@dataclass(frozen=True, slots=True)
class Benchmark:
    """Everything in ``spec/``, cross-checked.

    Attributes:
        grid: instances that each level uses; L4b only in cells with a safety line.
    """

    version: str
    roles: Mapping[str, Role]
    probes: Mapping[str, Probe]
    actions: Mapping[Action, ActionSpec]
    instructions: Instructions
    matched: Matched
    instances: tuple[int, ...]
    grid: Mapping[Level, tuple[int, ...]]
    session: SessionConstants
    vad: VadSettings
    audio: AudioSettings
    leakage: Leakage
    judge: JudgeSpec
    systems: Mapping[str, SystemSpec]
