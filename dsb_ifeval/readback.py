"""Readback normalisation and coverage (Appendix C.5), exactly as specified.

No recogniser: the target is the text of the dictated chunks, known at synthesis time, and
is matched against the model's own transcript. Coverage is order-blind multiset coverage;
tens and teens stay words, which is why dictated scripts spell numbers digit by digit.
"""

from __future__ import annotations

import re
from collections import Counter

_TOKEN = re.compile(r"[a-z]+|[0-9]")
"""Runs of letters, and single digits: digit runs are split wherever they stand (``4b``)."""
_DIGITS = {
    word: str(value)
    for value, words in enumerate(
        ["zero oh", "one", "two", "three", "four", "five", "six", "seven", "eight", "nine"]
    )
    for word in words.split()
}


def normalize(text: str) -> list[str]:
    """Lowercase ``[a-z0-9]+`` tokens, digit words mapped, digit runs split.

    >>> normalize("Apt. 4B, oh-seven-one 25 mg")
    ['apt', '4', 'b', '0', '7', '1', '2', '5', 'mg']
    """
    return [_DIGITS.get(token, token) for token in _TOKEN.findall(text.lower())]


def coverage(target: str, transcript: str) -> float:
    """Share of target tokens found in the transcript, each transcript token used once.

    Returns a value in ``[0, 1]``; 0.0 for an empty target, which no case has.

    >>> coverage("four four one", "I have 4, then one 4")
    1.0
    >>> coverage("four four one", "four one")
    0.6666666666666666
    """
    wanted = Counter(normalize(target))
    if not wanted:
        return 0.0
    found = wanted & Counter(normalize(transcript))
    return found.total() / wanted.total()
