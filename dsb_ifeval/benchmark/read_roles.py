"""``spec/roles.yaml``, ``actions.yaml`` and ``instructions.yaml``."""

from __future__ import annotations

from dsb_ifeval.benchmark.checks import Reader
from dsb_ifeval.benchmark.model import ActionSpec, EntailedRules, Instructions, Params, Role
from dsb_ifeval.vocab import Action

CONTRADICTION_PREFIX = "Additionally: "
"""How every L4a and L4b line begins (B.4)."""

VARIANTS_PER_TARGET = 5
"""Surface variants of a contradiction (B.4)."""

_VERIFIERS = (
    "action_at_trigger",
    "bc_count",
    "silence_tolerance",
    "readback",
    "yield_latency",
    "overlap_duration",
)

_PARAMS: dict[Action, tuple[str, ...]] = {
    Action.LISTEN: (),
    Action.BACKCHANNEL: ("bc_ceiling_s", "bc_window_max"),
    Action.NO_BACKCHANNEL: ("bc_window_max",),
    Action.INTERRUPT: ("max_latency_ms",),
    Action.TAKE_TURN: ("max_wait_s",),
    Action.READBACK: ("min_coverage",),
    Action.YIELD: ("max_latency_ms",),
    Action.CONTINUE: ("max_latency_ms",),
    Action.ACCEPT_OVERLAP: (),
}


def read_roles(top: Reader) -> dict[str, Role]:
    """All roles by id, in file order (B.2)."""
    return {role_id: _read_role(role_id, reader) for role_id, reader in top.items()}


def read_actions(top: Reader) -> dict[Action, ActionSpec]:
    """The nine actions (Tables 13 and 18)."""
    specs = {action: _read_action(action, top.child(action.value)) for action in Action}
    top.done()
    return specs


def read_instructions(top: Reader) -> Instructions:
    """The L4a and L4b lines (B.4)."""
    contradictions = top.child("contradictions")
    lines = {target: _read_variants(contradictions, target) for target in contradictions}
    safety = {
        (role_id, short): _check_line(reader, short, reader.text(short))
        for role_id, reader in top.child("safety").items()
        for short in reader
    }
    top.done()
    return Instructions(contradictions=lines, safety=safety)


def _read_role(role_id: str, reader: Reader) -> Role:
    actions = reader.choices("actions", Action)
    if not actions and reader.has("actions"):
        reader.fail("actions", "got nothing, expected an action for each of the role's cells")
    role = Role(
        id=role_id,
        index=reader.integer("index", minimum=1),
        name=reader.text("name"),
        persona=reader.text("persona"),
        directive=reader.text("directive"),
        content_rule=reader.text("content_rule"),
        entailed_rules=_read_entailed(reader.child("entailed_rules")),
        actions=actions,
        thresholds={
            action: _read_overrides(action, child)
            for action, child in reader.optional_child("thresholds").members(Action)
        },
    )
    reader.done()
    return role


def _read_entailed(reader: Reader) -> EntailedRules:
    rules = EntailedRules(
        interrupt=reader.text("interrupt"),
        backchannel=reader.text("backchannel"),
        silence_tolerance=reader.text("silence_tolerance"),
        readback=reader.text("readback"),
        barge_in=reader.text("barge_in"),
    )
    reader.done()
    return rules


def _read_action(action: Action, reader: Reader) -> ActionSpec:
    params = reader.child("params")
    spec = ActionSpec(
        action=action,
        definition=reader.text("definition"),
        verifier=reader.one_of("verifier", _VERIFIERS),
        params={name: _read_param(params, name) for name in _PARAMS[action]},
        contradiction_target=reader.text("contradiction_target"),
        proactive=reader.flag("proactive"),
    )
    params.done()
    reader.done()
    return spec


def _read_overrides(action: Action, reader: Reader) -> Params:
    names = [name for name in _PARAMS[action] if reader.has(name)]
    overrides = {name: _read_param(reader, name) for name in names}
    reader.done()
    return overrides


def _read_param(reader: Reader, name: str) -> float:
    if name == "bc_window_max":
        return reader.integer(name, minimum=0)
    if name == "max_latency_ms":
        return reader.integer(name, minimum=1)
    if name == "min_coverage":
        return reader.number(name, minimum=0, maximum=1)
    return reader.number(name, above=0)


def _read_variants(reader: Reader, target: str) -> tuple[str, ...]:
    lines = reader.strings(target)
    for index, line in enumerate(lines):
        _check_line(reader, f"{target}[{index}]", line)
    if lines and len(lines) != VARIANTS_PER_TARGET:
        reader.fail(target, f"got {len(lines)} lines, expected {VARIANTS_PER_TARGET}")
    if len(set(lines)) != len(lines):
        reader.fail(target, "got the same line twice, expected different lines")
    return lines


def _check_line(reader: Reader, key: str, line: str) -> str:
    if line and not line.startswith(CONTRADICTION_PREFIX):
        found = f"got {line[:20]!r}..."
        reader.fail(key, f"{found}, expected a line that begins with {CONTRADICTION_PREFIX!r}")
    return line
