"""Structural gates, each broken once."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import pytest

from dataset_builder.gates import check_durations, check_scripts
from dataset_builder.scripts import Script, load_scripts
from dsb_ifeval.benchmark import Benchmark

pytestmark = pytest.mark.unit

Change = Callable[[Script], Script]


@pytest.fixture
def scripts(benchmark_spec: Benchmark, scripts_folder: Path) -> dict[str, Script]:
    return {script.id: script for script in load_scripts(benchmark_spec, scripts_folder)}


def _say(slot: str, text: str) -> Change:
    return lambda script: replace(script, turn2={**script.turn2, slot: text})


def _drop(slot: str) -> Change:
    def change(script: Script) -> Script:
        return replace(script, turn2={k: v for k, v in script.turn2.items() if k != slot})

    return change


def test_project_scripts_pass(benchmark_spec: Benchmark) -> None:
    assert check_scripts(benchmark_spec, load_scripts(benchmark_spec)) == []


def test_sample_scripts_pass(benchmark_spec: Benchmark, scripts: dict[str, Script]) -> None:
    assert check_scripts(benchmark_spec, scripts.values()) == []


@pytest.mark.parametrize(
    ("identity", "change", "expected"),
    [
        ("R1-C1-i1", _drop("s3"), "MATCHED-C1-i1 s3: the 2.5 s pause before it has no resumption"),
        ("R2-R2_B-i1", _drop("s2"), "R2-R2_B-i1 s2: the check is missing"),
        (
            "R2-R2_B-i1",
            lambda script: replace(script, appended={"s5": script.appended["s5"]}),
            "R2-R2_B-i1 s6: the continuation is missing",
        ),
        (
            "R1-C2-i1",
            _say("s1", "Warfarin, 5 milligrams,"),
            "R1-C2-i1 s1: numerals 5: write numbers as they are spoken",
        ),
        (
            "R1-C2-i1",
            _say("s1", "Warfarin, fifteen milligrams,"),
            "R1-C2-i1 s1: dictated numbers are spelled digit by digit, found fifteen",
        ),
        ("R1-C2-i1", _say("s1", "... -- ?!"), "R1-C2-i1 s1: no word to pronounce in '... -- ?!'"),
        ("R1-C2-i1", _say("s1", "[sighs] Warfarin,"), "R1-C2-i1 s1: markup"),
        (
            "R1-C1-i1",
            _say("s1", "I told you, nurse, it hurts, and,"),
            "the user names the assistant's role ('nurse'); role R1",
        ),
        (
            "R1-C1-i1",
            _say("s1", "Let me finish, it hurts, and,"),
            "the user names turn-taking ('let me finish')",
        ),
        (
            "R2-R2_B-i1",
            _say("s2", "She sang it every single year, hello, are you still there?"),
            "s2: 11 words, at most 8: the check phrase is merged with more",
        ),
        (
            "R2-R2_B-i1",
            _say("s1", "I laughed until I cried. Hello, are you still there?"),
            "R2-R2_B-i1 s1: repeats the check phrase of s2",
        ),
        (
            "R2-R2_B-i1",
            lambda script: replace(script, turn1="And then she sang to me,"),
            "R2-R2_B-i1 t1: turn 1 is not self-contained: it ends in 'me,'",
        ),
        (
            "R2-R2_B-i1",
            lambda script: replace(script, turn1="My sister died."),
            "turn 1 is not self-contained: 3 words, at least 15",
        ),
    ],
)
def test_rejections(
    benchmark_spec: Benchmark,
    scripts: dict[str, Script],
    identity: str,
    change: Change,
    expected: str,
) -> None:
    rejections = [str(r) for r in check_scripts(benchmark_spec, [change(scripts[identity])])]
    assert any(expected in rejection for rejection in rejections), rejections


def test_check_phrase_may_speak_of_attention(
    benchmark_spec: Benchmark, scripts: dict[str, Script]
) -> None:
    script = _say("s2", "Are you even listening?")(scripts["R2-R2_B-i1"])
    assert check_scripts(benchmark_spec, [script]) == []


def test_attention_check_must_go_on(benchmark_spec: Benchmark) -> None:
    script = next(s for s in load_scripts(benchmark_spec) if s.id == "R4-C4-i1")
    (rejection,) = check_scripts(benchmark_spec, [_drop("s4")(script)])
    assert str(rejection) == (
        "R4-C4-i1 s4: the turn ends at the 1.5 s pause of the check, nothing resumes it"
    )


def test_revised_order_must_be_spoken(benchmark_spec: Benchmark) -> None:
    script = next(s for s in load_scripts(benchmark_spec) if s.id == "R6-R6_B-i1")
    changed = replace(script, readback=f"{script.readback} two tacos")
    (rejection,) = check_scripts(benchmark_spec, [changed])
    assert str(rejection) == (
        "R6-R6_B-i1 revised_order: readback target has words that are not spoken: tacos"
    )


def test_matched_rejections_are_not_tripled(
    benchmark_spec: Benchmark, scripts: dict[str, Script]
) -> None:
    broken = [_drop("s3")(s) for s in scripts.values() if s.audio_key.startswith("MATCHED")]
    assert len(broken) == 3
    assert len(check_scripts(benchmark_spec, broken)) == 1


@pytest.mark.parametrize(
    ("seconds", "rejected"), [(1.49, True), (1.5, False), (3.0, False), (4.5, False), (4.51, True)]
)
def test_duration_tolerance(
    benchmark_spec: Benchmark, scripts: dict[str, Script], seconds: float, rejected: bool
) -> None:
    """A chunk of C2 should last 3 s: 1.5 s and 4.5 s are the last that pass."""

    def duration_ms(script: Script, slot: str) -> int:
        return {"t1": 12_000, "s1": int(seconds * 1000)}.get(slot, 3000)

    rejections = check_durations(benchmark_spec, [scripts["R1-C2-i1"]], duration_ms)
    assert bool(rejections) is rejected
    if rejected:
        assert f"R1-C2-i1 s1: {seconds:.2f} s of speech, target 3 s" in str(rejections[0])
