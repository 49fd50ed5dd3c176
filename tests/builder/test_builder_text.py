"""Display text to spoken text."""

from __future__ import annotations

import doctest
import importlib

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from dataset_builder.verbalise import verbalise
from dsb_ifeval.readback import normalize

pytestmark = pytest.mark.unit


@pytest.mark.parametrize(
    "name", ["numerals", "readings", "verbalise", "floor_words", "scripts", "gates"]
)
def test_examples_in_docstrings(name: str) -> None:
    result = doctest.testmod(importlib.import_module(f"dataset_builder.{name}"))
    assert result.failed == 0


@pytest.mark.parametrize(
    ("display", "spoken"),
    [
        ("Call 911.", "Call nine one one."),
        ("203-555-0147.", "two zero three, five five five, zero one four seven."),
        ("(203) 555-0147, okay?", "two zero three, five five five, zero one four seven, okay?"),
        ("25 mg", "twenty five milligrams"),
        ("1 mg", "one milligram"),
        ("5 mg/mL,", "five milligrams per milliliter,"),
        ("0.5mg", "zero point five milligrams"),
        ("x^2 - 4x + 3 = 0", "x squared minus four x plus three equals zero"),
        ("x^2-4x+3=0", "x squared minus four x plus three equals zero"),
        ("y = -2", "y equals minus two"),
        ("120/80", "one twenty over eighty"),
        ("105/70", "one oh five over seventy"),
        ("3/4 cup", "three quarters cup"),
        ("$12.49", "twelve dollars and forty nine cents"),
        ("Rx", "prescription"),
        ("mmhm", "Mm-hmm"),
        ("Mmhm.", "Mm-hmm."),
        ("Dr. Diaz on Alder St. today", "Doctor Diaz on Alder Street today"),
        ("St. Mary's", "Saint Mary's"),
        ("at 9:30 a.m.", "at nine thirty A M"),
        ("7:00 p.m.", "seven P M"),
        ("4471 Alder, apt 12B", "forty four seventy one Alder, apt twelve B"),
        ("id A77B4", "id A seven seven B four"),
        ("98.6 °F", "ninety eight point six degrees Fahrenheit"),
        ("8-10 people", "eight to ten people"),
        ("the 22nd, 1990s", "the twenty second, nineteen nineties"),
        ("well - you know", "well, you know"),
        ("I said—wait", "I said, wait"),
        ("50% & more", "fifty percent and more"),
    ],
)
def test_readings(display: str, spoken: str) -> None:
    assert " ".join(word.spoken for word in verbalise(display)) == spoken


@pytest.mark.parametrize(
    "text", ["The answer is no.", "It was the left arm, not the right.", "A, K, seven, I'm sure!"]
)
def test_words_pass_unchanged(text: str) -> None:
    """In particular "no." is not read as "number", as hibari's own normalisation would."""
    assert [word.spoken for word in verbalise(text)] == text.split()


@example("2..=")
@example("—B")
@given(st.text(alphabet="aB3 .,-+=$%/()'’—^2:", max_size=40))
def test_display_words_survive(text: str) -> None:
    """Displays give back the text, and every display word is said by at least one word."""
    words = verbalise(text)
    if words:
        assert " ".join(word.display for word in words).split() == text.split()
    assert all(any(c.isalnum() for c in part) for w in words for part in w.spoken.split())


def test_units_after_numbers_keep_one_word_each() -> None:
    words = verbalise("He takes 25 mg now")
    assert [word.display for word in words] == ["He", "takes", "25", "mg", "now"]
    assert normalize(" ".join(word.display for word in words)) == [
        "he",
        "takes",
        "2",
        "5",
        "mg",
        "now",
    ]
