"""A YAML loader without surprises.

Only what a reader would guess becomes something other than text: ``12``, ``2.5``, ``true``,
``false``, ``null`` (or ``~``, or nothing). ``012``, ``yes``, ``on``, ``1:30``, ``1_000``, ``.inf``
and dates stay text, so that a check can reject them instead of a number nobody wrote. Keys written
twice are noticed, YAML's merge key ``<<`` has no meaning, and a value that does not fit its tag
(``!!int abc``) is an error with its line.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import yaml
from yaml.constructor import ConstructorError

from dsb_ifeval.benchmark.rules import describe

if TYPE_CHECKING:
    from yaml import SafeLoader as _Base
else:
    _Base = getattr(yaml, "CSafeLoader", yaml.SafeLoader)  # faster where PyYAML has it


@dataclass(frozen=True)
class DuplicateKey:
    """A key written twice in one mapping; ``line`` is that of the later one, from 1."""

    line: int
    key: str

    def __str__(self) -> str:
        return f"line {self.line}: key {self.key!r} was already used in this mapping"


class StrictLoader(_Base):
    """Safe YAML with the plain scalars above; ``duplicates`` lists keys written twice."""

    def __init__(self, stream: str) -> None:
        super().__init__(stream)
        self.duplicates: list[DuplicateKey] = []

    def construct_object(self, node: Any, deep: bool = False) -> Any:
        """As the parent does; PyYAML's converters fail with almost any exception."""
        try:
            return super().construct_object(node, deep=deep)
        except (ValueError, LookupError, AttributeError, TypeError, ArithmeticError) as error:
            kind = node.tag.rpartition(":")[2]
            problem = f"cannot read {describe(node.value)} as {kind}"
            raise ConstructorError(None, None, problem, node.start_mark) from error

    def construct_mapping(self, node: Any, deep: bool = False) -> dict[Any, Any]:
        """As the parent does, after looking for keys written twice."""
        if isinstance(node, yaml.MappingNode):
            self._note_duplicates(node)
        return super().construct_mapping(node, deep=deep)

    def _note_duplicates(self, node: yaml.MappingNode) -> None:
        seen: set[str] = set()
        for key, _ in node.value:
            if not isinstance(key, yaml.ScalarNode):
                continue
            if key.value in seen:
                self.duplicates.append(DuplicateKey(key.start_mark.line + 1, key.value))
            seen.add(key.value)


StrictLoader.yaml_implicit_resolvers = {}  # instead of YAML 1.1's, which know 012 and yes
for _tag, _pattern, _first in (
    ("null", r"(?:null|~|)\Z", ["n", "~", ""]),
    ("bool", r"(?:true|false)\Z", ["t", "f"]),
    ("int", r"-?(?:0|[1-9][0-9]*)\Z", list("-0123456789")),
    ("float", r"-?(?:0|[1-9][0-9]*)\.[0-9]+\Z", list("-0123456789")),
):
    StrictLoader.add_implicit_resolver(f"tag:yaml.org,2002:{_tag}", re.compile(_pattern), _first)


def parse_yaml(text: str) -> tuple[object, tuple[DuplicateKey, ...]]:
    """Parse one YAML document.

    Args:
        text: the whole file.

    Returns:
        The document (mappings, lists, text, numbers, booleans, None) and the keys written twice;
        of those the last one holds.

    Raises:
        yaml.YAMLError: the text is not YAML, or holds more than one document.
    """
    loader = StrictLoader(text)
    try:
        return loader.get_single_data(), tuple(loader.duplicates)
    finally:
        loader.dispose()
