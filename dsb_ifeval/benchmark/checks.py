"""Reading YAML files so that every mistake is reported, in the writer's terms.

A ``Reader`` looks at one mapping of a file. Each look-up checks one value, and a mistake becomes
one line in a shared ``Problems``::

    spec/roles.yaml: R3.thresholds.TAKE_TURN.max_wait_s: got '1,5', expected seconds > 0

Reading goes on after a mistake, with a stand-in value of the right type; the caller ends with
``problems.raise_if_any()``, so stand-ins never get out.

    >>> problems = Problems()
    >>> reader = Reader({"name": "C1", "gap_s": "1,5"}, "probes.yaml", problems)
    >>> reader.text("name"), reader.duration_ms("gap_s")
    ('C1', 0)
    >>> problems.lines
    ("probes.yaml: gap_s: got '1,5', expected seconds > 0",)
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from enum import Enum
from pathlib import Path
from typing import TypeVar, cast

import yaml

from dsb_ifeval.benchmark import rules
from dsb_ifeval.benchmark.rules import Rule, describe, did_you_mean
from dsb_ifeval.benchmark.strict_yaml import parse_yaml
from dsb_ifeval.errors import SpecError
from dsb_ifeval.intervals import seconds_to_ms

__all__ = ["Problems", "Reader", "read_yaml"]

E = TypeVar("E", bound=Enum)
T = TypeVar("T")


class Problems:
    """The mistakes found so far, in reading order."""

    def __init__(self) -> None:
        self._lines: list[str] = []

    @property
    def lines(self) -> tuple[str, ...]:
        """One ``file: key.path: mistake`` each."""
        return tuple(self._lines)

    def add(self, where: str, what: str) -> None:
        """Add the line ``where: what``."""
        self._lines.append(f"{where}: {what}")

    def raise_if_any(self) -> None:
        """Raise one SpecError that holds every mistake, if there is any."""
        if self._lines:
            raise SpecError(self._lines)


class Reader:
    """One mapping of a YAML file. Every ``optional_`` look-up allows the key to be absent.

    Args:
        data: the mapping, as parsed.
        file: the file's name in messages.
        problems: where mistakes go.
        path: key path of this mapping in the file, ``""`` at the top; list items count from 0.
        quiet: report nothing (the mapping itself is wrong, which has been said).
    """

    def __init__(
        self,
        data: Mapping[object, object],
        file: str,
        problems: Problems,
        path: str = "",
        quiet: bool = False,
    ) -> None:
        self.file = file
        self.path = path
        self.quiet = quiet
        self._problems = problems
        self._asked: set[str] = set()
        self._data: dict[str, object] = {}
        for key, value in data.items():
            if isinstance(key, str):
                self._data[key] = value
            else:
                self.fail(str(key), f"got the key {describe(key)}, expected text (in quotes)")

    def __contains__(self, key: str) -> bool:
        return key in self._data

    def __iter__(self) -> Iterator[str]:
        return iter(self._data)

    def fail(self, key: str, what: str) -> None:
        """Report a mistake at ``key`` (a key or dotted path below this mapping; may be empty)."""
        if not self.quiet:
            self._problems.add(": ".join(filter(None, (self.file, self._at(key)))), what)

    def has(self, key: str) -> bool:
        """Whether the key is written; from then on it counts as known."""
        self.allow(key)
        return key in self._data

    def allow(self, *keys: str) -> None:
        """Count keys as known without reading them."""
        self._asked.update(keys)

    def done(self) -> None:
        """Report every key that nothing asked for."""
        for key in self._data:
            if key not in self._asked:
                self.fail(key, f"unknown key{did_you_mean(key, self._asked)}")

    # One value.

    def text(self, key: str) -> str:
        """Text that is not blank."""
        return self._value(key, rules.TEXT)

    def optional_text(self, key: str) -> str | None:
        """``text``, or None where the key is absent."""
        return self.text(key) if self.has(key) else None

    def flag(self, key: str) -> bool:
        """``true`` or ``false``."""
        return self._value(key, rules.FLAG)

    def optional_flag(self, key: str, default: bool = False) -> bool:
        """``flag``, or ``default`` where the key is absent."""
        return self.flag(key) if self.has(key) else default

    def number(
        self,
        key: str,
        *,
        above: float | None = None,
        minimum: float | None = None,
        maximum: float | None = None,
    ) -> float:
        """A finite number within the bounds."""
        return self._value(key, rules.number(key, above, minimum, maximum))

    def integer(self, key: str, *, minimum: int | None = None, maximum: int | None = None) -> int:
        """A whole number within the bounds."""
        return self._value(key, rules.whole(key, minimum, maximum))

    def duration_ms(self, key: str) -> int:
        """A duration above zero, as milliseconds.

        Args:
            key: ends in ``_s`` (seconds, decimals allowed) or ``_ms`` (whole milliseconds).
        """
        if key.endswith("_ms"):
            return self.integer(key, minimum=1)
        return seconds_to_ms(self.number(key, above=0))

    def optional_duration_ms(self, key: str) -> int | None:
        """``duration_ms``, or None where the key is absent."""
        return self.duration_ms(key) if self.has(key) else None

    def choice(self, key: str, options: type[E]) -> E:
        """The member of ``options`` whose value is written."""
        members = _by_value(options)
        return members[self.one_of(key, members)]

    def one_of(self, key: str, words: Iterable[str]) -> str:
        """One of a few words."""
        return self._value(key, rules.one_of(words))

    # Lists; a wrong item is reported and left out unless the method says otherwise.

    def strings(self, key: str) -> tuple[str, ...]:
        """A list of texts, at least one."""
        return self._list(key, rules.TEXT)

    def optional_strings(self, key: str) -> tuple[str, ...]:
        """``strings``, or none where the key is absent."""
        return self.strings(key) if self.has(key) else ()

    def integers(self, key: str, *, minimum: int = 0) -> tuple[int, ...]:
        """A list of whole numbers, at least one."""
        return self._list(key, rules.whole(key, minimum))

    def numbers(self, key: str, *, minimum: float = 0) -> tuple[float, ...]:
        """A list of numbers, at least one."""
        return self._list(key, rules.number(key, minimum=minimum))

    def children(self, key: str) -> tuple[Reader, ...]:
        """A list of mappings, at least one; a wrong item keeps its place, quiet and empty."""
        items = self._value(key, rules.LIST)
        names = [f"{key}[{index}]" for index in range(len(items))]
        found = [
            self._check(name, item, rules.MAPPING) for name, item in zip(names, items, strict=True)
        ]
        return tuple(
            self._below(name, data, quiet=data is rules.MAPPING.stand_in)
            for name, data in zip(names, found, strict=True)
        )

    def optional_children(self, key: str) -> tuple[Reader, ...]:
        """``children``, or none where the key is absent."""
        return self.children(key) if self.has(key) else ()

    # Mappings.

    def child(self, key: str) -> Reader:
        """The mapping at ``key``; a quiet, empty one after a mistake."""
        data = self._value(key, rules.MAPPING)
        return self._below(key, data, quiet=data is rules.MAPPING.stand_in)

    def optional_child(self, key: str) -> Reader:
        """``child``, or an empty mapping where the key is absent."""
        return self.child(key) if self.has(key) else self._below(key, {})

    def items(self) -> Iterator[tuple[str, Reader]]:
        """Every key of this mapping with the mapping at it."""
        for key in self._data:
            yield key, self.child(key)

    def members(self, options: type[E]) -> Iterator[tuple[E, Reader]]:
        """As ``items``, where keys are members of ``options``; others are reported."""
        members = _by_value(options)
        for key in self._data:
            if self.has(key) and key in members:
                yield members[key], self.child(key)
            else:
                self.fail(key, f"unknown key{did_you_mean(key, members)}")

    def choices(self, key: str, options: type[E]) -> dict[str, E]:
        """A mapping of names to members of ``options``; wrong entries are left out."""
        child, members = self.child(key), _by_value(options)
        rule = rules.one_of(members)
        written = {name: child._value(name, Rule(rule.holds, rule.text, "")) for name in child}
        return {name: members[value] for name, value in written.items() if value}

    def _value(self, key: str, rule: Rule[T]) -> T:
        if not self.has(key):
            self.fail(key, f"missing, expected {rule.text}")
            return rule.stand_in
        return self._check(key, self._data[key], rule)

    def _check(self, key: str, value: object, rule: Rule[T]) -> T:
        if rule.holds(value):
            return cast("T", value)
        self.fail(key, f"got {describe(value)}, expected {rule.text}")
        return rule.stand_in

    def _list(self, key: str, rule: Rule[T]) -> tuple[T, ...]:
        items = self._value(key, rules.LIST)
        for index, value in enumerate(items):
            self._check(f"{key}[{index}]", value, rule)
        return tuple(cast("T", value) for value in items if rule.holds(value))

    def _at(self, key: str) -> str:
        return ".".join(filter(None, (self.path, key)))

    def _below(self, key: str, data: Mapping[object, object], quiet: bool = False) -> Reader:
        return Reader(data, self.file, self._problems, self._at(key), quiet or self.quiet)


def read_yaml(path: Path, problems: Problems, label: str | None = None) -> Reader:
    """Read a YAML file whose top level is a mapping.

    Args:
        path: the file.
        problems: where mistakes go, those of this file included.
        label: the file's name in messages; by default ``path``.

    Returns:
        A reader of the top level; a quiet, empty one when the file cannot be used at all.
    """
    name = str(path) if label is None else label
    try:
        document, duplicates = parse_yaml(path.read_text(encoding="utf-8"))
    except (OSError, UnicodeDecodeError, yaml.YAMLError) as error:
        problems.add(name, _unreadable(error))
        return Reader({}, name, problems, quiet=True)
    for duplicate in duplicates:
        problems.add(name, str(duplicate))
    if not isinstance(document, Mapping):
        problems.add(name, f"got {describe(document)}, expected a mapping")
        return Reader({}, name, problems, quiet=True)
    return Reader(document, name, problems)


def _unreadable(error: Exception) -> str:
    if isinstance(error, FileNotFoundError):
        return "no such file, expected a YAML file here"
    if isinstance(error, UnicodeDecodeError):
        return f"byte {error.start} is not UTF-8, expected UTF-8 text"
    if isinstance(error, OSError):
        return f"cannot be read: {error.strerror}"
    if isinstance(error, yaml.MarkedYAMLError) and error.problem_mark is not None:
        mark = error.problem_mark
        return f"line {mark.line + 1}, column {mark.column + 1}: not YAML: {error.problem}"
    return f"not YAML: {' '.join(str(error).split())}"


def _by_value(options: type[E]) -> dict[str, E]:
    return {str(member.value): member for member in options}
