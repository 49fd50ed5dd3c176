"""Display text to spoken text, before any phonemes, word by word.

Readback is scored on the text as displayed and word times must carry it, but a speech engine
needs everything spelled out ("120/80" has no reading of its own). Each display word keeps
the words that say it::

    display   203-555-0147.                                   25       mg
    spoken    two zero three, five five five, zero one ...    twenty five   milligrams

The project's own scripts write numbers as words and pass through unchanged; the rules are
for scripts of others.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass

from .readings import ABBREVIATIONS, UNITS, WORDS, is_number, read_core, street_or_saint

_OPENING = "\"'“‘([{"
_CLOSING = "\"'”’)]}"
_PAUSES = ".,;:!?…"
_DASHES = frozenset("-–—")
_OPERATORS = {"+": "plus", "=": "equals", "*": "times", "×": "times", "÷": "divided by"}
_OPERAND = re.compile(r"[(\d]|[a-zA-Z]\W*\Z|[a-zA-Z][\^²³]")


@dataclass(frozen=True, slots=True)
class Spoken:
    """A display word and the words that say it (at least one)."""

    display: str
    spoken: str


def verbalise(text: str) -> tuple[Spoken, ...]:
    """Spoken form of each display word; the displays joined by spaces give back ``text``.

    >>> [word.spoken for word in verbalise("BP 120/80, call 911.")]
    ['BP', 'one twenty over eighty,', 'call', 'nine one one.']
    """
    tokens = text.split()
    words: list[Spoken] = []
    silent_head = ""
    for index, token in enumerate(tokens):
        spoken = _speak(tokens, index)
        if spoken:
            words.append(Spoken(f"{silent_head}{token}", spoken))
            silent_head = ""
        elif words:
            words[-1] = _with_pause(words[-1], token)
        else:
            silent_head += f"{token} "
    return tuple(words)


def _speak(tokens: Sequence[str], index: int) -> str:
    """Spoken words of a token; empty when it only separates (a dash)."""
    token = tokens[index]
    before = tokens[index - 1] if index else ""
    after = tokens[index + 1] if index + 1 < len(tokens) else ""
    if token in _OPERATORS:
        return _OPERATORS[token]
    if token in _DASHES:
        is_minus = bool(_OPERAND.match(before) and _OPERAND.match(after))
        return "minus" if is_minus else ""
    special = _special(token, before, after)
    if special:
        return special
    core, pause = _split(token)
    if not any(character.isalnum() for character in core):
        return ""
    return _pronounceable(read_core(core) + pause)


def _special(token: str, before: str, after: str) -> str:
    """Readings that depend on a full stop or on the neighbours; empty when none applies."""
    bare = token.rstrip(_PAUSES)
    pause = _first_pause(token[len(bare) :])
    if token in ("St.", "St.,"):
        return street_or_saint(before, after) + ("," if token.endswith(",") else "")
    if token == "No." and is_number(after):
        return "number"
    if bare in UNITS and is_number(before):
        singular = before in ("1", "a", "an", "one")
        return UNITS[bare][0 if singular else 1] + pause
    if bare.lower().replace(".", "") in ("am", "pm") and re.search(r"\d\Z", before):
        return " ".join(bare.replace(".", "").upper()) + ("" if token.endswith(".m.") else pause)
    for written in (token, token.rstrip(",;:!?")):
        if written in ABBREVIATIONS:
            return ABBREVIATIONS[written] + _first_pause(token[len(written) :])
    if bare.lower() in WORDS:
        return WORDS[bare.lower()] + pause
    if re.fullmatch(r"\(\d{3}\)", token):
        return read_core(f"{token[1:-1]}-") + ","
    if re.fullmatch(r"\d{1,2}:00", bare) and re.match(r"[ap]\.?m", after.lower()):
        return read_core(bare.split(":")[0]) + pause
    return ""


def _split(token: str) -> tuple[str, str]:
    """The part that carries words, and the pause that follows it."""
    core = token.lstrip(_OPENING)
    kept = core.rstrip(_PAUSES + _CLOSING)
    if kept.count("(") > kept.count(")"):
        kept += ")" * core[len(kept) :].count(")")
    return kept, _first_pause(core[len(kept) :])


def _pronounceable(spoken: str) -> str:
    """The words of a reading; signs that stand alone become a pause or nothing."""
    words: list[str] = []
    for part in spoken.split():
        if any(character.isalnum() for character in part):
            words.append(part.lstrip(_PAUSES + "-–—"))
        elif words and part[0] in _PAUSES and words[-1][-1] not in _PAUSES:
            words[-1] += part[0]
    return " ".join(words)


def _first_pause(tail: str) -> str:
    return next((mark for mark in tail if mark in _PAUSES), "")


def _with_pause(word: Spoken, token: str) -> Spoken:
    """The previous word with a dash or a lone mark after it."""
    spoken = word.spoken if word.spoken[-1] in _PAUSES else f"{word.spoken},"
    return Spoken(f"{word.display} {token}", spoken)
