"""The cascade's words: a reply made by rule from the prompt and from what was heard.

The first row whose words the prompt holds, and whose condition holds, makes the reply:

==========  ================================  ==============================================
rule        the prompt mentions               the reply
==========  ================================  ==============================================
clarify     ambiguous, "could be two"         asks which one, if "the ... one" or "or" is heard
question    tutor, Socratic, asking questions  repeats the last thing heard and asks about it
read back   "state/read/say ... back",        repeats the clauses with numbers or names
            confirm, confirmation
quiet       the words for patience of         one short sentence
            :mod:`cascade_manner`
generic     anything else, or nothing         repeats the last thing heard
==========  ================================  ==============================================

That is the intelligence of a telephone menu. It knows no roles, probes or cases.
"""

from __future__ import annotations

import re
from collections.abc import Sequence

from dsb_ifeval.adapters.cascade_manner import manner_of, plain

VERSION = 1

Exchange = tuple[str, str]
"""What was heard and what was then really said, up to a barge-in."""

_CLARIFY = re.compile(r"\bambiguous\b|\bcould be two\b")
_TUTOR = re.compile(r"\b(?:tutor|socratic|ask(?:s|ing)? (?:a )?questions?)\b")
_READ_BACK = re.compile(
    r"\b(?:stat(?:e|ed|ing)|read(?:ing)?|say(?:ing)?|repeat(?:ed|ing)?)\b[^.]* back\b|\bconfirm"
)
_VAGUE = re.compile(r"\bthe (?:\w+ )?one\b|\b(?:that|which) one\b|\bor\b")
_NUMBER = re.compile(
    r"\d|\b(?:zero|oh|one|two|three|four|five|six|seven|eight|nine|ten|eleven|twelve|"
    r"\w+teen|twenty|thirty|forty|fifty|sixty|seventy|eighty|ninety|hundred|thousand)\b"
)
_NAME = re.compile(r"\w\W+(?!I\b)[A-Z][a-z]")
_DIGITS = re.compile(r"(?<![\w.,$/])\d[\d-]*\d(?![\w/]|[.,]\d)")
_DIGIT_WORDS = ("zero", "one", "two", "three", "four", "five", "six", "seven", "eight", "nine")


class Rules:
    """A mind without memory: equal prompt and words, equal reply."""

    def __init__(self) -> None:
        self.settings = {"rules": VERSION}

    def answer(self, prompt: str, dialogue: Sequence[Exchange], heard: str) -> str:
        """The reply to the words of one user turn; ``dialogue`` is not used.

        >>> Rules().answer("", (), "My knee hurts.")
        'Okay. You said, My knee hurts. Please go on.'
        """
        text = plain(prompt)
        last = spell_digits(sentences(heard)[-1].rstrip(".!?"))
        if _CLARIFY.search(text) and _VAGUE.search(heard.lower()):
            return f"Which one do you mean? You said, {last}."
        if _TUTOR.search(text):
            return f"You said, {last}. What makes you sure of that step?"
        if _READ_BACK.search(text):
            noted = spell_digits(", ".join(details(heard))) or last
            return f"I have, {noted}. Is that right?"
        asked = heard.rstrip().endswith("?")
        if manner_of(prompt, 0, 0).patient:
            return "Yes, if you like." if asked else "Take your time."
        if asked:
            return f"You asked, {last}? I do not know that. Is there anything else?"
        return f"Okay. You said, {last}. Please go on."


def sentences(text: str) -> list[str]:
    """Sentences with their punctuation; at least one, which may be empty.

    >>> sentences("One. Is it two? Yes")
    ['One.', 'Is it two?', 'Yes']
    """
    return re.split(r"(?<=[.!?])\s+", text.strip())


def details(heard: str) -> list[str]:
    """The clauses that hold a number or, after their first word, a name.

    >>> details("Hello there. I live at 44 Alder Court, near the park. It is 9.30 now.")
    ['I live at 44 Alder Court', 'It is 9.30 now']
    """
    clauses = re.split(r"[.,;!?]+(?:\s+|$)", heard)
    return [clause for clause in clauses if _NUMBER.search(clause.lower()) or _NAME.search(clause)]


def spell_digits(text: str) -> str:
    """Numbers of three or more digits, digit by digit; hyphens become short pauses.

    >>> spell_digits("call 203-555, room 12B, $12.49, 25 mg, 4471")
    'call two zero three, five five five, room 12B, $12.49, 25 mg, four four seven one'
    """

    def spelled(match: re.Match[str]) -> str:
        groups = match[0].split("-")
        if len(groups) == 1 and len(match[0]) < 3:
            return match[0]
        return ", ".join(" ".join(_DIGIT_WORDS[int(d)] for d in group) for group in groups)

    return _DIGITS.sub(spelled, text)
