"""How single written forms are said: tables, and patterns from the most to the least specific."""

from __future__ import annotations

import re
from collections.abc import Callable

from .numerals import cardinal, digits, fraction, hundreds, ordinal, plain

WORDS = {
    "mmhm": "Mm-hmm",
    "mhm": "Mm-hmm",
    "mmhmm": "Mm-hmm",
    "mm-hm": "Mm-hmm",
    "uhhuh": "Uh-huh",
    "rx": "prescription",
    "w/": "with",
    "w/o": "without",
    "&": "and",
    "24/7": "twenty four seven",
}
ABBREVIATIONS = {
    "Dr.": "Doctor",
    "Dr": "Doctor",
    "Mr.": "Mister",
    "Mr": "Mister",
    "Mrs.": "Missus",
    "Mrs": "Missus",
    "Ms.": "Miz",
    "Ave.": "Avenue",
    "Blvd.": "Boulevard",
    "Rd.": "Road",
    "Ln.": "Lane",
    "Ct.": "Court",
    "Hwy.": "Highway",
    "Apt.": "Apartment",
    "vs.": "versus",
    "approx.": "approximately",
}
UNITS = {
    "mg": ("milligram", "milligrams"),
    "g": ("gram", "grams"),
    "kg": ("kilogram", "kilograms"),
    "mcg": ("microgram", "micrograms"),
    "µg": ("microgram", "micrograms"),
    "mL": ("milliliter", "milliliters"),
    "ml": ("milliliter", "milliliters"),
    "L": ("liter", "liters"),
    "cc": ("C C", "C Cs"),
    "mg/mL": ("milligram per milliliter", "milligrams per milliliter"),
    "mg/ml": ("milligram per milliliter", "milligrams per milliliter"),
    "mg/kg": ("milligram per kilogram", "milligrams per kilogram"),
    "mg/dL": ("milligram per deciliter", "milligrams per deciliter"),
    "mmHg": ("millimeter of mercury", "millimeters of mercury"),
    "bpm": ("beat per minute", "beats per minute"),
    "cm": ("centimeter", "centimeters"),
    "mm": ("millimeter", "millimeters"),
    "km": ("kilometer", "kilometers"),
    "ft": ("foot", "feet"),
    "lb": ("pound", "pounds"),
    "lbs": ("pound", "pounds"),
    "oz": ("ounce", "ounces"),
    "hr": ("hour", "hours"),
    "hrs": ("hour", "hours"),
    "min": ("minute", "minutes"),
    "°F": ("degree Fahrenheit", "degrees Fahrenheit"),
    "°C": ("degree Celsius", "degrees Celsius"),
}
_MONTHS = (
    *("January", "February", "March", "April", "May", "June", "July", "August"),
    *("September", "October", "November", "December"),
)
_SIGNS = {
    "+": "plus",
    "-": "minus",
    "−": "minus",
    "=": "equals",
    "*": "times",
    "×": "times",
    "·": "times",
    "÷": "divided by",
    "/": "over",
    "<": "is less than",
    ">": "is greater than",
    "(": "",
    ")": "",
}
_WITHIN = (("’", "'"), ("&", " and "), ("@", " at "), ("—", ", "), ("–", ", "))
"""What stands between letters inside one display word."""

_POWERS = {"^2": "squared", "²": "squared", "^3": "cubed", "³": "cubed"}

_NUMBER = r"\d{1,3}(?:,\d{3})+|\d+(?:\.\d+)?|\.\d+"
_UNIT = "|".join(re.escape(unit) for unit in sorted(UNITS, key=len, reverse=True))
_FORMULA = re.compile(r"\d+(?:\.\d+)?|\.\d+|[a-zA-Z]|\^\d|\^[a-z]|[²³]|[-+−=*×·÷/<>()]")


def is_number(token: str) -> bool:
    """Whether a display word is a written number (``25``, ``0.5``, ``1,200``).

    >>> is_number("0.5"), is_number("4,"), is_number("mg")
    (True, False, False)
    """
    return re.fullmatch(_NUMBER, token) is not None


def street_or_saint(before: str, after: str) -> str:
    """``St.`` after a name is a street, before one a saint.

    >>> street_or_saint("Alder", "and"), street_or_saint("at", "Mary's")
    ('Street', 'Saint')
    """
    follows_name = before[:1].isupper() or before[:1].isdecimal()
    return "Saint" if after[:1].isupper() and not follows_name else "Street"


def read_core(core: str) -> str:
    """Spoken words of a display word without its punctuation.

    >>> read_core("4x"), read_core("$12.49"), read_core("12B")
    ('four x', 'twelve dollars and forty nine cents', 'twelve B')
    >>> read_core("x^2-4x+3=0")
    'x squared minus four x plus three equals zero'
    """
    for pattern, read in _PATTERNS:
        match = pattern.fullmatch(core)
        if match:
            return read(match)
    if _is_formula(core):
        return _formula(core)
    if any(character.isdecimal() for character in core):
        return _mixed(core)
    for sign, words in _WITHIN:
        core = core.replace(sign, words)
    return core


def _phone(match: re.Match[str]) -> str:
    return ", ".join(digits(part) for part in re.findall(r"\d+", match[0]))


def _money(match: re.Match[str]) -> str:
    dollars = int(match[1].replace(",", ""))
    cents = int(match[2] or 0)
    parts = []
    if dollars or not cents:
        parts.append(f"{cardinal(dollars)} dollar{'' if dollars == 1 else 's'}")
    if cents:
        parts.append(f"{cardinal(cents)} cent{'' if cents == 1 else 's'}")
    return " and ".join(parts)


def _time(match: re.Match[str]) -> str:
    hour, minute = int(match[1]), int(match[2])
    if minute == 0:
        return f"{cardinal(hour)} o'clock"
    return f"{cardinal(hour)} {'oh ' if minute < 10 else ''}{cardinal(minute)}"


def _slash(match: re.Match[str]) -> str:
    """A fraction (3/4), a date (3/14) or a ratio (120/80)."""
    first, second = int(match[1]), int(match[2])
    if 0 < first < second <= 10:
        return fraction(first, second)
    if 1 <= first <= 12 and 1 <= second <= 31:
        return f"{_MONTHS[first - 1]} {ordinal(second)}"
    return f"{hundreds(first)} over {hundreds(second)}"


def _unit(match: re.Match[str]) -> str:
    singular, plural = UNITS[match[2]]
    return f"{plain(match[1])} {singular if match[1] == '1' else plural}"


def _signed(match: re.Match[str]) -> str:
    return f"{_SIGNS[match[1]]} {plain(match[2])}"


_PATTERNS: tuple[tuple[re.Pattern[str], Callable[[re.Match[str]], str]], ...] = tuple(
    (re.compile(pattern), read)
    for pattern, read in (
        (r"[2-9]11", lambda match: digits(match[0])),
        (r"(?:\+?1-)?(?:\(?\d{3}\)?-)?\d{3}-\d{4}|\d{3}\.\d{3}\.\d{4}|\d{3}-", _phone),
        (r"\$(\d[\d,]*)(?:\.(\d\d))?", _money),
        (r"(\d{1,2}):(\d\d)", _time),
        (r"(\d{1,3})/(\d{1,3})", _slash),
        (rf"({_NUMBER})({_UNIT})", _unit),
        (rf"({_NUMBER})%", lambda match: f"{plain(match[1])} percent"),
        (r"(\d+)(?:st|nd|rd|th)", lambda match: ordinal(int(match[1]))),
        (r"#(\d+)", lambda match: f"number {plain(match[1])}"),
        (rf"([-+−])({_NUMBER})", _signed),
        (_NUMBER, lambda match: plain(match[0])),
        (r"(\d+)([A-Z])", lambda match: f"{plain(match[1])} {match[2]}"),
        (r"(\d+)s", lambda match: _plural(plain(match[1]))),
        (r"(\d{1,4})[-–](\d{1,4})", lambda match: f"{plain(match[1])} to {plain(match[2])}"),
    )
)


def _plural(words: str) -> str:
    return f"{words[:-1]}ies" if words.endswith("y") else f"{words}s"


def _is_formula(core: str) -> bool:
    """Single letters, numbers and signs only, with at least a sign, a power or ``4x``."""
    pieces = _FORMULA.findall(core)
    letters = re.findall(r"[a-zA-Z]+", core)
    return (
        "".join(pieces) == core
        and len(pieces) > 1
        and bool(letters or re.search(r"[-+=*×÷^²³]", core))
        and all(len(run) == 1 for run in letters)
        and not core.isalpha()
        and not re.fullmatch(r"(?:[A-Z]-?\d+-?)+[A-Z]?|\d+(?:-\d+)+", core)
    )


def _formula(core: str) -> str:
    words = []
    for piece in _FORMULA.findall(core):
        if piece in _POWERS:
            words.append(_POWERS[piece])
        elif piece[0] == "^":
            words.append(f"to the {read_core(piece[1:])}")
        elif piece[0].isdecimal() or piece[0] == ".":
            words.append(plain(piece))
        else:
            words.append(_SIGNS.get(piece, piece))
    return " ".join(word for word in words if word)


def _mixed(core: str) -> str:
    """Letters and digits in one word: an identifier, spelled (``A77B4``, ``B12``, ``COVID-19``)."""
    words = []
    runs = re.findall(r"\d+|[^\W\d_']+(?:'[^\W\d_]+)?", core)
    for run in runs:
        if run.isdecimal():
            words.append(plain(run) if len(runs) == 2 and len(run) < 3 else digits(run))
        else:
            words.append(" ".join(run) if run.isupper() and len(run) <= 3 else run)
    return " ".join(words)
