"""Numbers as words, the ways people say them."""

from __future__ import annotations

ONES = (
    *("zero", "one", "two", "three", "four", "five", "six", "seven", "eight", "nine"),
    *("ten", "eleven", "twelve", "thirteen", "fourteen", "fifteen", "sixteen", "seventeen"),
    *("eighteen", "nineteen"),
)
TENS = ("", "", "twenty", "thirty", "forty", "fifty", "sixty", "seventy", "eighty", "ninety")
_SCALES = ((10**9, "billion"), (10**6, "million"), (1000, "thousand"), (100, "hundred"))
_ORDINALS = {
    "one": "first",
    "two": "second",
    "three": "third",
    "five": "fifth",
    "eight": "eighth",
    "nine": "ninth",
    "twelve": "twelfth",
}
_DENOMINATORS = {2: "half", 4: "quarter"}


def cardinal(number: int) -> str:
    """A quantity.

    >>> cardinal(72), cardinal(1205), cardinal(0)
    ('seventy two', 'one thousand two hundred five', 'zero')
    """
    if number < 20:
        return ONES[number]
    if number < 100:
        return _joined(TENS[number // 10], number % 10)
    for scale, name in _SCALES:
        if number >= scale:
            return _joined(f"{cardinal(number // scale)} {name}", number % scale)
    raise AssertionError(number)


def ordinal(number: int) -> str:
    """A position.

    >>> ordinal(22), ordinal(30), ordinal(12)
    ('twenty second', 'thirtieth', 'twelfth')
    """
    *front, last = cardinal(number).split()
    last = f"{last[:-1]}ieth" if last.endswith("y") else _ORDINALS.get(last, f"{last}th")
    return " ".join([*front, last])


def digits(text: str) -> str:
    """Digit by digit.

    >>> digits("0147")
    'zero one four seven'
    """
    return " ".join(ONES[int(digit)] for digit in text)


def pairs(number: int) -> str:
    """Four digits as people say years and house numbers.

    >>> pairs(4471), pairs(1905), pairs(4400), pairs(2000), pairs(2008)
    ('forty four seventy one', 'nineteen oh five', 'forty four hundred', 'two thousand', \
'two thousand eight')
    """
    high, low = divmod(number, 100)
    if high % 10 == 0 and low < 10:
        return cardinal(number)
    if low == 0:
        return f"{cardinal(high)} hundred"
    return f"{cardinal(high)} {'oh ' if low < 10 else ''}{cardinal(low)}"


def hundreds(number: int) -> str:
    """Three digits as blood pressures are said.

    >>> hundreds(120), hundreds(105), hundreds(100), hundreds(80)
    ('one twenty', 'one oh five', 'one hundred', 'eighty')
    """
    high, low = divmod(number, 100)
    if not high or not low:
        return cardinal(number)
    return f"{cardinal(high)} {'oh ' if low < 10 else ''}{cardinal(low)}"


def fraction(part: int, whole: int) -> str:
    """A simple fraction.

    >>> fraction(1, 2), fraction(3, 4), fraction(2, 3)
    ('one half', 'three quarters', 'two thirds')
    """
    name = _DENOMINATORS.get(whole) or ordinal(whole)
    if part == 1:
        return f"one {name}"
    return f"{cardinal(part)} {'halves' if name == 'half' else name + 's'}"


def plain(text: str) -> str:
    """A written number: ``1,200``, ``0.5``, ``4471``, ``0147``, ``72``.

    >>> plain("1,200"), plain("0.5"), plain("98.6"), plain("0147"), plain("10455")
    ('one thousand two hundred', 'zero point five', 'ninety eight point six', \
'zero one four seven', 'one zero four five five')
    """
    if "." in text:
        whole, _, decimals = text.partition(".")
        return f"{plain(whole) if whole else 'zero'} point {digits(decimals)}"
    if "," in text:
        return cardinal(int(text.replace(",", "")))
    if len(text) > 4 or (len(text) > 1 and text[0] == "0"):
        return digits(text)
    return pairs(int(text)) if len(text) == 4 else cardinal(int(text))


def _joined(words: str, rest: int) -> str:
    return f"{words} {cardinal(rest)}" if rest else words
