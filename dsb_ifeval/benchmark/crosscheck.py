"""What the files of ``spec/`` say about one another.

A file that could not be read at all is left out of every comparison: it has been reported, and
nothing else about it is known.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Hashable, Iterable, Mapping

from dsb_ifeval.benchmark.checks import Reader
from dsb_ifeval.benchmark.model import Benchmark, Probe, Role
from dsb_ifeval.benchmark.rules import did_you_mean
from dsb_ifeval.vocab import Action


def cross_check(benchmark: Benchmark, tops: Mapping[str, Reader]) -> None:
    """Report every contradiction between files.

    Args:
        benchmark: what was read; values that were wrong are stand-ins or left out.
        tops: the top level of each file, by its name without ending.
    """
    _check_unique(benchmark, tops)
    if not tops["roles"].quiet and not tops["probes"].quiet:
        _check_cells(benchmark, tops)
        _check_safety(benchmark, tops["instructions"])
        _check_matched(benchmark, tops["benchmark"])
    if not tops["actions"].quiet and benchmark.instructions.contradictions:
        _check_targets(benchmark, tops)
    _check_instances(benchmark, tops["benchmark"])


def _check_unique(benchmark: Benchmark, tops: Mapping[str, Reader]) -> None:
    indexes = {role.id: role.index for role in benchmark.roles.values() if role.index}
    ids = {probe.short_id: probe.full_id for probe in benchmark.probes.values() if probe.full_id}
    for key in _repeated(indexes):
        found = f"got {indexes[key]}, used by several roles"
        tops["roles"].fail(f"{key}.index", f"{found}, expected a different one for each")
    for key in _repeated(ids):
        found = f"got {ids[key]!r}, used by several probes"
        tops["probes"].fail(f"{key}.id", f"{found}, expected a different one for each")


def _check_cells(benchmark: Benchmark, tops: Mapping[str, Reader]) -> None:
    lonely = _check_probe_roles(benchmark, tops["probes"])
    for role in benchmark.roles.values():
        if role.actions:
            _check_role_cells(tops["roles"], role, benchmark.probes, lonely)


def _check_probe_roles(benchmark: Benchmark, top: Reader) -> set[str]:
    """Also returns the probes that name no role although a single role uses them."""
    users = Counter(short for role in benchmark.roles.values() for short in role.actions)
    lonely = set()
    for short, probe in benchmark.probes.items():
        if probe.role is not None:
            _check_known(top, f"{short}.role", probe.role, benchmark.roles)
        elif probe.windows and users[short] == 1 and len(benchmark.roles) > 1:
            (user,) = (role.id for role in benchmark.roles.values() if short in role.actions)
            top.fail(f"{short}.role", f"missing, expected {user!r}, the only role that uses it")
            lonely.add(short)
    return lonely


def _check_role_cells(
    top: Reader, role: Role, probes: Mapping[str, Probe], lonely: Collection[str]
) -> None:
    own = {short for short, probe in probes.items() if probe.role in (None, role.id)}
    whole = {short for short in own if probes[short].windows} - set(lonely)
    for short in sorted(whole - _written(top, role)):
        top.fail(f"{role.id}.actions.{short}", "missing, expected the action of this cell")
    for short, action in role.actions.items():
        key = f"{role.id}.actions.{short}"
        if short not in own:
            found = "unknown probe" if short not in probes else "a probe of another role"
            top.fail(key, f"{found}{did_you_mean(short, own)}")
        else:
            _check_action(top, key, action, probes[short])


def _check_action(top: Reader, key: str, action: Action, probe: Probe) -> None:
    if probe.windows and action not in probe.windows:  # none: wrong, which has been said
        having = ", ".join(known.value for known in probe.windows)
        found = f"got {action.value!r}, for which probe {probe.short_id} has no window"
        top.fail(key, f"{found}, expected one of {having}")


def _check_safety(benchmark: Benchmark, top: Reader) -> None:
    for role_id, short in benchmark.instructions.safety:
        if role_id not in benchmark.roles:
            _check_known(top, f"safety.{role_id}.{short}", role_id, benchmark.roles)
        elif benchmark.roles[role_id].actions:
            cells = benchmark.roles[role_id].actions
            _check_known(top, f"safety.{role_id}.{short}", short, cells, f"cell of {role_id}")


def _check_matched(benchmark: Benchmark, top: Reader) -> None:
    shared = [short for short, probe in benchmark.probes.items() if probe.role is None]
    for short in benchmark.matched.probes:
        _check_known(top, "matched.probes", short, shared, "shared probe")
    for role_id in benchmark.matched.roles:
        _check_known(top, "matched.roles", role_id, benchmark.roles)


def _check_targets(benchmark: Benchmark, tops: Mapping[str, Reader]) -> None:
    written = benchmark.instructions.contradictions
    targets = {spec.contradiction_target for spec in benchmark.actions.values()} - {""}
    for action, spec in benchmark.actions.items():
        if spec.contradiction_target:
            key = f"{action.value}.contradiction_target"
            what = "target of instructions.yaml"
            _check_known(tops["actions"], key, spec.contradiction_target, written, what)
    if len(targets & set(written)) < len(benchmark.actions):  # the mistake is in actions.yaml
        return
    for target in written:
        key = f"contradictions.{target}"
        what = "target, since no action in actions.yaml names it"
        _check_known(tops["instructions"], key, target, targets, what)


def _check_instances(benchmark: Benchmark, top: Reader) -> None:
    instances = benchmark.instances
    used = {f"grid.{level.value}": chosen for level, chosen in benchmark.grid.items()}
    used["matched.instances"] = benchmark.matched.instances
    for key, chosen in used.items():
        for instance in chosen:
            if instances and instance not in instances:
                known = ", ".join(map(str, instances))
                top.fail(key, f"got {instance}, expected one of instances: {known}")


def _check_known(
    top: Reader, key: str, word: str, known: Iterable[str], what: str = "role"
) -> None:
    words = list(known)
    if word not in words:
        top.fail(key, f"got {word!r}, which is no {what}{did_you_mean(word, words)}")


def _written(top: Reader, role: Role) -> set[str]:
    """The cells the role lists, those with a wrong action included."""
    return set(top.child(role.id).child("actions"))


def _repeated(values: Mapping[str, Hashable]) -> list[str]:
    counts = Counter(values.values())
    return [key for key, value in values.items() if counts[value] > 1]
