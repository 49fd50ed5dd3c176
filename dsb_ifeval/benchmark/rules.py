"""What a single value of a YAML file may be, and how a message says so. Used by ``checks``."""

from __future__ import annotations

import difflib
import math
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from typing import Generic, TypeVar

T = TypeVar("T")

_UNITS = {"_s": "seconds", "_ms": "milliseconds", "_hz": "hertz"}
_SHOWN_CHARS = 60


@dataclass(frozen=True)
class Rule(Generic[T]):
    """A test for one value.

    Attributes:
        holds: whether a parsed value is right, and so of type ``T``.
        text: what is expected, as messages say it.
        stand_in: what reading goes on with after a mistake.
    """

    holds: Callable[[object], bool]
    text: str
    stand_in: T


def number(
    key: str,
    above: float | None = None,
    minimum: float | None = None,
    maximum: float | None = None,
) -> Rule[float]:
    """A finite number within the bounds, in the unit of the key's ending."""
    text = _range_text(_unit(key, "a number"), above, minimum, maximum)
    return Rule(lambda v: _is_number(v) and _within(v, above, minimum, maximum), text, 0.0)


def whole(key: str, minimum: float | None = None, maximum: float | None = None) -> Rule[int]:
    """A whole number within the bounds, in the unit of the key's ending."""
    text = _range_text("whole " + _unit(key, "number"), None, minimum, maximum)
    return Rule(lambda v: _is_int(v) and _within(v, None, minimum, maximum), text, 0)


def one_of(words: Iterable[str]) -> Rule[str]:
    """One of a few words, the first being the stand-in."""
    options = tuple(words)
    return Rule(lambda v: v in options, f"one of {', '.join(options)}", options[0])


def _is_text(value: object) -> bool:
    return isinstance(value, str) and bool(value.strip())


def _is_filled_list(value: object) -> bool:
    return isinstance(value, list) and bool(value)


def _is_int(value: object) -> bool:
    return isinstance(value, int) and not isinstance(value, bool)


def _is_number(value: object) -> bool:
    return _is_int(value) or (isinstance(value, float) and math.isfinite(value))


TEXT: Rule[str] = Rule(_is_text, "text", "")
FLAG: Rule[bool] = Rule(lambda v: isinstance(v, bool), "true or false", False)
LIST: Rule[list[object]] = Rule(_is_filled_list, "a list with something in it", [])
MAPPING: Rule[Mapping[object, object]] = Rule(lambda v: isinstance(v, Mapping), "a mapping", {})


def describe(value: object) -> str:
    """How a message shows a value found in a file.

    >>> describe("1,5"), describe(None), describe(True), describe([1])
    ("'1,5'", 'nothing', 'true', 'a list')
    """
    if value is None:
        return "nothing"
    if isinstance(value, Mapping):
        return "a mapping"
    if isinstance(value, list):
        return "a list" if value else "an empty list"
    if isinstance(value, bool):
        return str(value).lower()
    shown = repr(value)
    return shown if len(shown) <= _SHOWN_CHARS else shown[: _SHOWN_CHARS - 3] + "..."


def did_you_mean(word: str, known: Iterable[str]) -> str:
    """A hint to add to "unknown ...": the closest known word, else all of them.

    >>> did_you_mean("TAKE_TRUN", ["LISTEN", "TAKE_TURN"])
    "; did you mean 'TAKE_TURN'?"
    >>> did_you_mean("zzz", ["a", "b"])
    '; known: a, b'
    """
    words = sorted(set(known))
    close = difflib.get_close_matches(word, words, n=1)
    if close:
        return f"; did you mean {close[0]!r}?"
    return f"; known: {', '.join(words)}" if words else ""


def _unit(key: str, otherwise: str) -> str:
    return next((unit for ending, unit in _UNITS.items() if key.endswith(ending)), otherwise)


def _range_text(
    what: str, above: float | None, minimum: float | None, maximum: float | None
) -> str:
    if minimum is not None and maximum is not None:
        return f"{what} from {minimum:g} to {maximum:g}"
    bounds = ((">", above), (">=", minimum), ("<=", maximum))
    return " ".join([what, *(f"{sign} {bound:g}" for sign, bound in bounds if bound is not None)])


def _within(
    value: object, above: float | None, minimum: float | None, maximum: float | None
) -> bool:
    assert isinstance(value, (int, float))
    return (
        (above is None or value > above)
        and (minimum is None or value >= minimum)
        and (maximum is None or value <= maximum)
    )
