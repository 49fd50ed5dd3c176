"""The system prompt of each level (Appendix B.4, benchmark section 5)."""

from __future__ import annotations

from dsb_ifeval.benchmark.model import Benchmark, Role
from dsb_ifeval.benchmark.read_roles import VARIANTS_PER_TARGET
from dsb_ifeval.benchmark.rules import did_you_mean
from dsb_ifeval.errors import DsbError
from dsb_ifeval.vocab import Action, Level


def system_prompt(
    benchmark: Benchmark, role_id: str, short_probe: str, instance: int, level: Level
) -> str:
    """What the model is told before the session.

    Args:
        benchmark: the definitions.
        role_id: ``R1`` to ``R8``.
        short_probe: ``C1`` to ``C4``, or one of the role's own probes such as ``R1_A``.
        instance: 1 to 5; matters at L4a only.
        level: the conditioning.

    Returns:
        The prompt; empty at L0.

    Raises:
        DsbError: there is no such cell, or the level is L4b and the cell has no safety line.
    """
    role = _role(benchmark, role_id)
    _base_action(role, short_probe)
    if level is Level.L0:
        return ""
    if level is Level.L1:
        return role.directive
    if level is Level.L2:
        return role.persona
    if level is Level.L3:
        return _joined(role.persona, role.directive)
    if level is Level.L4a:
        return _joined(role.persona, contradiction(benchmark, role_id, short_probe, instance))
    return _joined(role.persona, safety_line(benchmark, role_id, short_probe))


def contradiction(benchmark: Benchmark, role_id: str, short_probe: str, instance: int) -> str:
    """The L4a line of a case: the variant of its action's contradiction target (B.4).

    Raises:
        DsbError: there is no such cell.
    """
    role = _role(benchmark, role_id)
    target = benchmark.actions[_base_action(role, short_probe)].contradiction_target
    variant = variant_index(role.index, short_probe, instance)
    return benchmark.instructions.contradictions[target][variant]


def safety_line(benchmark: Benchmark, role_id: str, short_probe: str) -> str:
    """The L4b line of a cell (B.4).

    Raises:
        DsbError: the cell has none.
    """
    lines = benchmark.instructions.safety
    if (role_id, short_probe) not in lines:
        cells = ", ".join(f"{role}/{probe}" for role, probe in lines)
        raise DsbError(f"{role_id}/{short_probe} has no L4b; the safety-eligible cells are {cells}")
    return lines[role_id, short_probe]


def variant_index(role_index: int, short_probe: str, instance: int) -> int:
    """Which of the five surface variants a case gets (B.4; no randomness).

    >>> variant_index(1, "C1", 1)  # 1 + (67 + 49) + 1 = 118
    3
    """
    return (role_index + sum(map(ord, short_probe)) + instance) % VARIANTS_PER_TARGET


def _joined(persona: str, addition: str) -> str:
    return f"{persona}\n\n{addition}"


def _role(benchmark: Benchmark, role_id: str) -> Role:
    if role_id not in benchmark.roles:
        raise DsbError(f"no role {role_id!r}{did_you_mean(role_id, benchmark.roles)}")
    return benchmark.roles[role_id]


def _base_action(role: Role, short_probe: str) -> Action:
    if short_probe not in role.actions:
        hint = did_you_mean(short_probe, role.actions)
        raise DsbError(f"role {role.id} has no probe {short_probe!r}{hint}")
    return role.actions[short_probe]
