"""How a prompt sets the cascade's timing: a handful of words that it looks for.

The prompt is read sentence by sentence and the last sentence that says something counts. A
negated word says nothing ("you do not need to hold off", "nothing is urgent").

==================================================  =======================================
a sentence that says                                sets the endpoint to
==================================================  =======================================
no gap, pause or silence longer than N seconds      N s less latency and 200 ms, if shorter
hold off / wait / silent / gaps ... of N seconds    N s
hold off, silent, silence, stillness, slow, ...     3 s, and a slower voice
fast, rush, urgent, immediately, right away, ...    0.5 s
==================================================  =======================================

Without any of them the endpoint stays as configured. This is what a person would set in a
simple agent's console after reading the prompt; it knows no roles and no probes.
"""

from __future__ import annotations

import re
from dataclasses import dataclass

PATIENT_MS = 3000
QUICK_MS = 500
VAD_TAIL_MS = 200
"""Allowed for the VAD, which hears speech for some frames after its end, and the frame grid."""
SLOW_SPEED = 0.9

_WORDS = "one two three four five six seven eight nine ten"
_NUMBERS = {"a": 1, "an": 1, **{word: n for n, word in enumerate(_WORDS.split(), start=1)}}
_SECONDS = rf"(\d+|{'|'.join(_NUMBERS)}) seconds?( and a half)?\b"
_NO = r"\b(?:not|no|never|nothing|without)\b|n't\b"
_AT_MOST = re.compile(rf"(?:{_NO}).*\b(?:gap|pause|silence)s?\b.*\b(?:longer|more) than {_SECONDS}")
_AT_LEAST = re.compile(
    rf"\b(?:hold off|wait|silent|silence|gaps?|pauses?)\b.*\b(?:of|for|at least) {_SECONDS}"
)
_PATIENT = re.compile(r"\b(?:hold off|silent|silence|stillness|slow|slowly|unhurried)\b")
_QUICK = re.compile(
    r"\b(?:fast|quick|quickly|brisk|rush|hurry|urgent|immediately|right away|at once)\b"
)


@dataclass(frozen=True, slots=True)
class Manner:
    """What the prompt settles before anything is heard.

    Attributes:
        endpoint_ms: silence after which the user's turn counts as over.
        patient: the prompt asks for silence or slowness.
        speed: of the voice, 1.0 is its own pace.
    """

    endpoint_ms: int
    patient: bool = False

    @property
    def speed(self) -> float:
        return SLOW_SPEED if self.patient else 1.0


def manner_of(prompt: str, endpoint_ms: int, latency_ms: int) -> Manner:
    """Read a system prompt.

    Args:
        endpoint_ms: as configured; what an empty prompt gives.
        latency_ms: generation latency, which also counts towards a gap.

    >>> manner_of("Do not leave gaps longer than about a second.", 800, 300)
    Manner(endpoint_ms=500, patient=False)
    >>> manner_of("Hold off for at least six seconds.", 800, 300)
    Manner(endpoint_ms=6000, patient=True)
    """
    chosen, patient = endpoint_ms, False
    for sentence in re.split(r"(?<=[.!?])\s+", plain(prompt)):
        if found := _AT_MOST.search(sentence):
            longest_ms = _milliseconds(found) - latency_ms - VAD_TAIL_MS
            chosen = min(endpoint_ms, max(QUICK_MS, longest_ms))
        elif found := _affirmed(_AT_LEAST, sentence):
            chosen = _milliseconds(found)
        elif _affirmed(_PATIENT, sentence):
            chosen = PATIENT_MS
        elif _affirmed(_QUICK, sentence):
            chosen = min(endpoint_ms, QUICK_MS)
        patient = patient or _affirmed(_PATIENT, sentence) is not None
    return Manner(chosen, patient)


def plain(prompt: str) -> str:
    """Lower case, straight apostrophes, dashes as commas; "about" before a number is dropped."""
    text = prompt.lower().replace("’", "'").replace("—", ", ")
    return re.sub(r"\babout (?=an?\b|\d|[a-z]+ seconds)", "", text)


def _affirmed(pattern: re.Pattern[str], sentence: str) -> re.Match[str] | None:
    """Where the pattern occurs in a clause with no negation in front of it."""
    for clause in re.split(r"[,;:]", sentence):
        found = pattern.search(clause)
        if found and not re.search(_NO, clause[: found.start()]):
            return found
    return None


def _milliseconds(found: re.Match[str]) -> int:
    """The time named by a match of ``_SECONDS``, the only groups of both patterns."""
    count = int(found[1]) if found[1].isdigit() else _NUMBERS[found[1]]
    return count * 1000 + (500 if found[2] else 0)
