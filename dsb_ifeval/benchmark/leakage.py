"""Does a persona give its floor rule away? The two blocking gates of Appendix B.6.

V3 looks for floor-management imperatives in the persona; V4 compares the content words of
persona and directive.
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from dataclasses import dataclass

from dsb_ifeval.benchmark.model import Benchmark, Leakage, Role


@dataclass(frozen=True, slots=True)
class Overlap:
    """Content words of a persona and a directive compared (V4).

    Attributes:
        jaccard: shared words over all words, 0 to 1; 0 when neither has content words.
        shared: the shared words, sorted.
    """

    jaccard: float
    shared: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class LeakageResult:
    """Both gates for one role (a row of Table 17).

    Attributes:
        persona_words: tokens of the persona, repeated ones counted.
        imperatives: blocklist entries found in the persona (V3).
        problems: why the role fails, one line each; empty when it passes.
    """

    role_id: str
    overlap: Overlap
    persona_words: int
    imperatives: tuple[str, ...]
    problems: tuple[str, ...]

    @property
    def passed(self) -> bool:
        """Whether both gates and the length hold."""
        return not self.problems


def check_personas(benchmark: Benchmark) -> tuple[LeakageResult, ...]:
    """Both gates for every role, in role order."""
    return tuple(check_persona(role, benchmark.leakage) for role in benchmark.roles.values())


def check_persona(role: Role, rules: Leakage) -> LeakageResult:
    """Both gates and the persona's length for one role."""
    overlap = compare(role.persona, role.directive, rules)
    words = len(tokens(role.persona, rules))
    found = imperatives(role.persona, rules.blocklist)
    return LeakageResult(
        role_id=role.id,
        overlap=overlap,
        persona_words=words,
        imperatives=found,
        problems=tuple(_problems(overlap, words, found, rules)),
    )


def imperatives(persona: str, blocklist: Iterable[str]) -> tuple[str, ...]:
    r"""Blocklist entries in the text: whole words, case ignored, any spacing between words (V3).

    >>> imperatives("Wait. Nobody speaks; they jump\nin.", ["wait", "speak", "jump in"])
    ('wait', 'jump in')
    """
    return tuple(entry for entry in blocklist if _entry_pattern(entry).search(persona))


def compare(persona: str, directive: str, rules: Leakage) -> Overlap:
    """Jaccard overlap of the content words (V4)."""
    left, right = content_words(persona, rules), content_words(directive, rules)
    shared, union = left & right, left | right
    return Overlap(len(shared) / len(union) if union else 0.0, tuple(sorted(shared)))


def content_words(text: str, rules: Leakage) -> frozenset[str]:
    """Distinct tokens longer than one character that are not stopwords."""
    return frozenset(word for word in tokens(text, rules) if len(word) > 1) - set(rules.stopwords)


def tokens(text: str, rules: Leakage) -> tuple[str, ...]:
    """Lowercased tokens in order, as Table 17 counts persona words."""
    return tuple(re.findall(rules.token_pattern, text.lower()))


def _problems(
    overlap: Overlap, words: int, found: tuple[str, ...], rules: Leakage
) -> Iterable[str]:
    if found:
        yield f"persona says {', '.join(map(repr, found))}, expected no floor-management imperative"
    if overlap.jaccard >= rules.max_overlap:
        shared = ", ".join(overlap.shared)
        limit = f"expected below {rules.max_overlap}"
        yield f"overlap with the directive is {overlap.jaccard:.3f}, {limit} (shared: {shared})"
    if not rules.min_words <= words <= rules.max_words:
        yield f"persona has {words} words, expected {rules.min_words} to {rules.max_words}"


def _entry_pattern(entry: str) -> re.Pattern[str]:
    words = r"\s+".join(map(re.escape, entry.split()))
    return re.compile(rf"\b{words}\b", re.IGNORECASE)
