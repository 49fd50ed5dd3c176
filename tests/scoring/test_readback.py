"""Readback normalisation and coverage, from Appendix C.5 (paper.txt lines 655-657)."""

from __future__ import annotations

import pytest

from dsb_ifeval.readback import coverage, normalize

pytestmark = pytest.mark.unit


@pytest.mark.parametrize(
    ("text", "tokens"),
    [
        ("", []),
        ("... -- !?", []),
        ("Main Street", ["main", "street"]),
        ("twenty-five", ["twenty", "5"]),
        ("MAPLE, maple. Maple!", ["maple", "maple", "maple"]),
        ("don't", ["don", "t"]),
        ("caf\u00e9", ["caf"]),
        ("zero oh one two three four", ["0", "0", "1", "2", "3", "4"]),
        ("five six seven eight nine", ["5", "6", "7", "8", "9"]),
        ("Zero OH Nine", ["0", "0", "9"]),
        ("4471", ["4", "4", "7", "1"]),
        ("555-0199", ["5", "5", "5", "0", "1", "9", "9"]),
        ("44 71", ["4", "4", "7", "1"]),
        ("2.5", ["2", "5"]),
        ("007", ["0", "0", "7"]),
    ],
)
def test_normalize(text, tokens):
    assert normalize(text) == tokens


# benchmark.md section 4: "Tens and teens are left as words, as the paper has it"
@pytest.mark.parametrize("word", ["ten", "eleven", "fifteen", "twenty", "ninety", "hundred"])
def test_tens_and_teens_stay_words(word):
    assert normalize(word) == [word]
    assert coverage("one five", "fifteen") == 0.0


@pytest.mark.parametrize(
    "word", ["ones", "ohm", "o", "sevens", "fourth", "nil", "to", "for", "won"]
)
def test_only_the_eleven_digit_words_are_mapped(word):
    assert normalize(word) == [word]


@pytest.mark.parametrize(
    ("target", "transcript", "expected"),
    [
        ("four four seven one Maple", "4471 maple", 1.0),
        ("4471 Maple", "four four seven one, Maple.", 1.0),
        ("oh one", "zero 1", 1.0),
        ("zero one", "oh, one", 1.0),
        # order-blind: a multiset, not an edit distance
        ("one two three four", "four three two one", 1.0),
        # each transcript token is used once
        ("four four", "4", 0.5),
        ("four four", "4 4 4 4", 1.0),
        ("four", "nothing of it", 0.0),
        ("four", "", 0.0),
        # extra words cost nothing
        ("two large fries", "So that is two large fries and what to drink with it?", 1.0),
        ("one two three four", "one two three", 0.75),
        # a number word is not a digit run
        ("two five milligrams", "twenty-five milligrams", 2 / 3),
    ],
)
def test_coverage(target, transcript, expected):
    assert coverage(target, transcript) == expected


def test_an_empty_target_is_not_a_free_pass():
    assert coverage("", "anything") == 0.0
    assert coverage("!?", "anything") == 0.0


def distinct_words(count):
    """Letters only, so that each is one token: waa, wab, ..."""
    letters = "abcdefghijklmnopqrstuvwxyz"
    return [f"w{letters[number // 26]}{letters[number % 26]}" for number in range(count)]


@pytest.mark.parametrize("text", ["4B", "four B", "4 b"])
def test_a_digit_is_a_token_of_its_own_inside_a_word_too(text):
    assert normalize(text) == ["4", "b"]


@pytest.mark.parametrize("tens", range(1, 12))
def test_nine_tenths_is_exactly_the_threshold(tens):
    # 9 of 10, 18 of 20, ... must compare >= 0.90 in floats
    words = distinct_words(10 * tens)
    assert coverage(" ".join(words), " ".join(words[: 9 * tens])) == 0.90


def test_one_token_fewer_is_under_the_threshold():
    words = distinct_words(100)
    assert coverage(" ".join(words), " ".join(words[:90])) >= 0.90
    assert coverage(" ".join(words), " ".join(words[:89])) < 0.90


def test_a_separate_transcript_word_is_needed_for_each_digit_of_a_run():
    # phone number 555 0199 said back as "five five zero one nine nine": one 5 is missing, 6 of 7
    assert coverage("555 0199", "five five zero one nine nine") == 6 / 7
