"""What the calibration agents must score, by what they are (benchmark section 4)."""

from __future__ import annotations

from pathlib import Path

import pytest

from dsb_ifeval.plan import Selection
from dsb_ifeval.runner import RunOptions, run_system
from dsb_ifeval.score import Score
from dsb_ifeval.verifiers import Outcome
from dsb_ifeval.vocab import Action

pytestmark = pytest.mark.slow

SILENCE = {Action.LISTEN, Action.NO_BACKCHANNEL}


def outcomes(score: Score) -> dict[Action, set[Outcome]]:
    found: dict[Action, set[Outcome]] = {}
    for case, verdict in zip(score.cases, score.verdicts, strict=True):
        found.setdefault(case.expected_action, set()).add(verdict.outcome)
    return found


@pytest.fixture(scope="module")
def scores(tiny_dataset: Path, tmp_path_factory: pytest.TempPathFactory) -> dict[str, Score]:
    """Each agent over every cell at one level, and over the safety variants."""
    selection = Selection(levels=("L1", "L4b"))
    folder = tmp_path_factory.mktemp("runs")
    return {
        system: run_system(
            RunOptions(system, tiny_dataset, folder / system, {}, selection, progress=False)
        )
        for system in ("silent", "talker", "random", "oracle")
    }


def test_the_small_dataset_has_every_action(scores: dict[str, Score]) -> None:
    assert set(outcomes(scores["silent"])) == set(Action)


def test_oracle_passes_every_case(scores: dict[str, Score]) -> None:
    verdicts = scores["oracle"].verdicts
    wrong = [v.case_id + ": " + v.reason for v in verdicts if v.outcome is not Outcome.PASS]
    assert wrong == []


def test_silent_passes_exactly_the_silences(scores: dict[str, Score]) -> None:
    for action, found in outcomes(scores["silent"]).items():
        assert found == {Outcome.PASS if action in SILENCE else Outcome.FAIL}, action


def test_talker_passes_nothing_that_asks_for_silence_or_an_onset(
    scores: dict[str, Score],
) -> None:
    found = outcomes(scores["talker"])
    for action in (*SILENCE, Action.BACKCHANNEL, Action.TAKE_TURN, Action.INTERRUPT):
        assert found[action] == {Outcome.FAIL}, action
    assert found[Action.CONTINUE] == found[Action.ACCEPT_OVERLAP] == {Outcome.PASS}
    assert found[Action.YIELD] == {Outcome.FAIL}


def test_silent_barge_ins_are_marked(scores: dict[str, Score]) -> None:
    barge_in = [m for m in scores["silent"].measurements if m.barge_in]
    assert barge_in
    assert not any(m.trigger_valid for m in barge_in)


def test_no_calibration_agent_leaves_a_case_unscored(scores: dict[str, Score]) -> None:
    for score in scores.values():
        assert all(verdict.outcome is not Outcome.UNSCORED for verdict in score.verdicts)


def test_random_follows_its_seed(tiny_dataset: Path, tmp_path: Path) -> None:
    selection = Selection(roles=("R2",), limit=4)

    def spans(name: str, seed: int) -> list[object]:
        options = RunOptions(
            "random", tiny_dataset, tmp_path / name, {"seed": seed}, selection, progress=False
        )
        return [m.model_spans for m in run_system(options).measurements]

    assert spans("a", 1) == spans("b", 1)
    assert spans("c", 2) != spans("a", 1)
