"""Which cases a run plays, and which process plays which."""

from __future__ import annotations

import difflib
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from dsb_ifeval.cases import Case
from dsb_ifeval.errors import RunError
from dsb_ifeval.vocab import Level


@dataclass(frozen=True, slots=True)
class Selection:
    """Filters over a dataset's cases; an empty one lets everything pass.

    Attributes:
        probes: short or full probe ids.
        limit: at most this many cases, after the other filters, in plan order.
    """

    levels: tuple[str, ...] = ()
    roles: tuple[str, ...] = ()
    probes: tuple[str, ...] = ()
    instances: tuple[int, ...] = ()
    limit: int | None = None


def select(cases: Sequence[Case], selection: Selection) -> list[Case]:
    """Cases that pass the filters, ordered by conversation and level.

    Raises:
        RunError: a filter names something the dataset does not hold, or nothing is left.
    """
    _check(selection.levels, [level.value for level in Level], "level")
    _check(selection.roles, sorted({case.role for case in cases}), "role")
    _check(selection.probes, sorted({n for c in cases for n in (c.probe, c.probe_full)}), "probe")
    instances = sorted({str(case.instance) for case in cases})
    _check([str(i) for i in selection.instances], instances, "instance")
    if selection.limit is not None and selection.limit < 1:
        raise RunError(f"--limit {selection.limit}: expected a positive number of cases")
    chosen = [case for case in cases if _passes(case, selection)]
    if not chosen:
        raise RunError("no case passes the filters; loosen --levels, --roles, --probes, ...")
    order = list(Level)
    chosen.sort(key=lambda case: (case.conversation_id, order.index(case.level)))
    return chosen[: selection.limit]


def share(cases: Sequence[Case], rank: int, world: int) -> list[Case]:
    """The cases of one of ``world`` processes; a waveform's cases stay together.

    >>> share([], 0, 2)
    []
    """
    keys = {key: i for i, key in enumerate(dict.fromkeys(case.audio_key for case in cases))}
    return [case for case in cases if keys[case.audio_key] % world == rank]


def _passes(case: Case, selection: Selection) -> bool:
    return (
        (not selection.levels or case.level.value in selection.levels)
        and (not selection.roles or case.role in selection.roles)
        and (not selection.probes or bool({case.probe, case.probe_full} & {*selection.probes}))
        and (not selection.instances or case.instance in selection.instances)
    )


def _check(given: Iterable[str], known: Sequence[str], what: str) -> None:
    for value in given:
        if value not in known:
            same = [name for name in known if name.lower() == value.lower()]
            close = same or difflib.get_close_matches(value, known, n=1)
            hint = f"; did you mean {close[0]!r}?" if close else "."
            raise RunError(f"unknown {what} {value!r}{hint} Known here: {', '.join(known)}")
