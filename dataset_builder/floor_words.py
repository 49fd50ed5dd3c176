"""Words by which a user would give the assistant's role or the test away (G.1).

A conversation in which the user says "nurse" or "let me finish" tells the model what its
persona leaves implied. Only the check phrase of an attention check may speak of attention.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator

ROLE_WORDS: dict[str, tuple[str, ...]] = {
    "R1": ("nurse", "triage", "medical line", "hotline"),
    "R2": ("counselor", "counsellor", "therapist", "bereavement", "grief support"),
    "R3": ("dispatcher", "dispatch", "operator", "call taker"),
    "R4": ("instructor", "teacher", "meditation guide", "guru"),
    "R5": ("tutor", "teacher", "professor"),
    "R6": ("order taker", "cashier", "server"),
    "R7": ("interpreter", "translator", "interpreting", "interpret", "translate", "booth"),
    "R8": ("scene partner", "improv", "improviser", "the audience"),
}
"""Names of the assistant's role and job."""

ASSISTANT_WORDS = (
    "assistant",
    "voice agent",
    "chatbot",
    "language model",
    "artificial intelligence",
)

FLOOR_WORDS = (
    "interrupt",
    "interrupted",
    "interrupting",
    "interruption",
    "interject",
    "cut in",
    "cut me off",
    "cut you off",
    "cutting in",
    "butt in",
    "chime in",
    "jump in",
    "barge in",
    "talk over",
    "talking over",
    "repeat that",
    "repeat it",
    "repeat back",
    "repeat after",
    "say that back",
    "say it back",
    "read that back",
    "read it back",
    "read back",
    "readback",
    "backchannel",
    "listen",
    "listening",
    "wait for me",
    "wait your turn",
    "let me finish",
    "let me talk",
    "hear me out",
    "hold on",
    "hang on",
    "your turn",
    "my turn",
    "take turns",
    "the floor is yours",
    "be quiet",
    "stay quiet",
    "keep quiet",
    "shut up",
    "stop talking",
    "don't say anything",
    "don't talk",
)
"""Turn-taking behaviour, asked for or described."""

_NOT_FLOOR = re.compile(r"\b(?:hold|hang) on to\b|\bhold on tight\b")


def given_away(text: str, role: str) -> Iterator[str]:
    """The giveaway words of a role that occur in a text, with what they give away.

    >>> list(given_away("Hold on, Nurse, let me finish.", "R1"))
    ["the assistant's role ('nurse')", "turn-taking ('let me finish')", "turn-taking ('hold on')"]
    >>> list(given_away("I held on to the rail. Hold on to it!", "R1"))
    []
    """
    plain = _NOT_FLOOR.sub(" ", text.lower().replace("’", "'"))
    for word in _found(plain, (*ROLE_WORDS.get(role, ()), *ASSISTANT_WORDS)):
        yield f"the assistant's role ({word!r})"
    for word in _found(plain, FLOOR_WORDS):
        yield f"turn-taking ({word!r})"


def _found(text: str, words: Iterable[str]) -> Iterator[str]:
    return (word for word in words if re.search(rf"\b{re.escape(word)}s?\b", text))
