"""The persona-leakage gates against Appendix B.6."""

from __future__ import annotations

from dataclasses import replace
from statistics import mean

import pytest

from dsb_ifeval.benchmark.leakage import (
    check_persona,
    check_personas,
    compare,
    content_words,
    imperatives,
    tokens,
)
from dsb_ifeval.benchmark.load import load_benchmark

# paper.txt lines 601-608, Table 17: role, Jaccard, persona words, shared content words.
TABLE_17 = [
    ("R1", "0.026", 92, "medication, mid"),
    ("R2", "0.000", 75, ""),
    (
        "R3",
        "0.145",
        74,
        "address, back, exactly, location, moving, number, one, themselves",
    ),
    ("R4", "0.043", 73, "gaps, instruction"),
    ("R5", "0.031", 79, "derivation, thinking"),
    ("R6", "0.062", 80, "back, eight, order, total"),
    ("R7", "0.077", 78, "clause, nothing, rendering, source"),
    ("R8", "0.038", 70, "offer, rather"),
]

# paper.txt line 594, B.6.
BLOCKLIST = (
    "interrupt, backchannel, wait, pause, yield, acknowledge, respond, reply, speak, stay silent, "
    "keep quiet, let me finish, let them finish, jump in, cut in, take the floor, hold the floor, "
    "talk over, repeat back, read back"
)


@pytest.mark.parametrize(("role_id", "jaccard", "words", "shared"), TABLE_17)
def test_table_17(role_id: str, jaccard: str, words: int, shared: str) -> None:
    benchmark = load_benchmark()
    result = check_persona(benchmark.roles[role_id], benchmark.leakage)
    assert f"{result.overlap.jaccard:.3f}" == jaccard
    assert result.persona_words == words
    assert ", ".join(result.overlap.shared) == shared


def test_table_17_last_row() -> None:
    overlaps = [result.overlap.jaccard for result in check_personas(load_benchmark())]
    assert f"{min(overlaps):.3f} / {mean(overlaps):.3f} / {max(overlaps):.3f}" == (
        "0.000 / 0.053 / 0.145"
    )


def test_every_persona_passes() -> None:
    results = check_personas(load_benchmark())
    assert [result.role_id for result in results] == [f"R{n}" for n in range(1, 9)]
    assert [result.problems for result in results] == [()] * 8
    assert all(result.passed and not result.imperatives for result in results)


def test_settings_are_the_papers() -> None:
    rules = load_benchmark().leakage
    assert ", ".join(rules.blocklist) == BLOCKLIST
    assert (rules.max_overlap, rules.min_words, rules.max_words) == (0.15, 60, 120)
    assert rules.token_pattern == "[a-z’']+"
    assert len(rules.stopwords) == len(set(rules.stopwords)) == 112


@pytest.mark.parametrize(
    ("persona", "found"),
    [
        ("You must interrupt at once.", ("interrupt",)),
        ("INTERRUPT", ("interrupt",)),
        ("You may be interrupted; interrupters call.", ()),  # word boundaries
        ("Callers jump\nin late.", ("jump in",)),  # a line break between the words
        ("They jump, in a way.", ()),
        ("A speaker's pauses, an unyielding tone.", ()),
        ("Wait, then read back and pause.", ("wait", "pause", "read back")),  # blocklist order
        ("", ()),
    ],
)
def test_imperative_lint(persona: str, found: tuple[str, ...]) -> None:
    assert imperatives(persona, load_benchmark().leakage.blocklist) == found


def test_content_words_drop_stopwords_and_single_letters() -> None:
    rules = load_benchmark().leakage
    assert tokens("Don’t do it, I said 911 b times.", rules) == (
        *("don’t", "do", "it", "i", "said", "b", "times"),
    )
    assert content_words("Don’t do it, I said 911 b times.", rules) == {"don’t", "said", "times"}


def test_overlap_of_nothing_is_zero() -> None:
    rules = load_benchmark().leakage
    assert compare("", "the and", rules).jaccard == 0.0
    assert compare("gaps", "gaps", rules).jaccard == 1.0


def test_a_leaky_persona_fails_every_gate_and_says_why() -> None:
    benchmark = load_benchmark()
    role = benchmark.roles["R4"]
    leaky = replace(role, persona=role.directive + " Wait.")
    result = check_persona(leaky, benchmark.leakage)
    assert not result.passed
    lint, overlap, length = result.problems
    assert lint.startswith("persona says 'wait', 'speak', 'take the floor'")
    assert overlap.startswith("overlap with the directive is 0.947, expected below 0.15")
    assert length == "persona has 38 words, expected 60 to 120"


def test_an_overlap_at_the_limit_fails() -> None:
    """B.6: the overlap "must be below" the threshold."""
    benchmark = load_benchmark()
    role = benchmark.roles["R3"]
    exact = compare(role.persona, role.directive, benchmark.leakage).jaccard
    result = check_persona(role, replace(benchmark.leakage, max_overlap=exact))
    assert len(result.problems) == 1
    assert check_persona(role, replace(benchmark.leakage, max_overlap=exact + 1e-9)).passed
