"""Bring your own model: one file of at most 40 lines is a system (runners/echo_model.py)."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from dsb_ifeval.adapters import load_system
from dsb_ifeval.adapters.base import FrameModel, Mechanism, capabilities_of
from dsb_ifeval.errors import AdapterUnavailable
from dsb_ifeval.session import play_local
from dsb_ifeval.testing import make_stimulus

MS = 24
ROOT = Path(__file__).parents[2]
ECHO = ROOT / "runners" / "echo_model.py"


@pytest.fixture
def echo(monkeypatch):
    monkeypatch.chdir(ROOT)
    return load_system("runners/echo_model.py:Echo")


def test_it_is_short_and_imports_nothing_of_ours():
    lines = ECHO.read_text().splitlines()
    assert len(lines) <= 40
    assert not [line for line in lines if "dsb_ifeval" in line and "import" in line]


def test_it_is_a_system(echo):
    assert isinstance(echo, FrameModel)
    assert capabilities_of(echo).mechanism is Mechanism.FRAME


def test_it_repeats_what_it_heard(echo, constants, near):
    # the user speaks 0-2400: 30 frames of 80 ms. Quiet frames end at 2480, 2560 ...; the
    # 13th, at 3440, makes 1040 ms >= 1 s: the echo is 3440-5840
    stimulus = make_stimulus([2400], [2000])
    recording = play_local(echo, stimulus, constants, "echo")
    record, model = recording.record, recording.stereo[:, 1]
    assert record.status == "ok", record.reason
    frames = stimulus.turn1.reshape(-1, 1920)
    loud = np.sqrt((frames.astype(float) ** 2).mean(axis=1)) / 32768 > 0.01
    assert loud[-1]
    said = frames[loud].reshape(-1)
    assert not model[: 3440 * MS].any()
    assert np.array_equal(model[3440 * MS : 3440 * MS + len(said)], said)
    # it answered within 5 s, so turn 2 follows its reply by 600 ms
    near(record.facts.turn2_onset_ms, 3440 + len(said) // MS + 600)
    assert record.facts.turn1_yielded
    # and turn 2 is repeated too
    turn2_end = (record.facts.turn2_onset_ms + 2000) * MS
    assert model[turn2_end + 1000 * MS :].any()


def test_it_forgets_between_cases(echo, constants):
    first, again = (play_local(echo, make_stimulus(), constants, "echo") for _ in range(2))
    assert np.array_equal(first.stereo, again.stereo)
    assert first.record == again.record


def test_it_stops_when_the_user_speaks(echo, constants):
    # barge-in 1 s after the onset: at most the frame under way when turn 2 starts is finished
    stimulus = make_stimulus([4000], [2000], barge_in_after_ms=1000)
    recording = play_local(echo, stimulus, constants, "echo")
    record, model = recording.record, recording.stereo[:, 1]
    assert record.facts.trigger_valid
    onset = record.facts.turn2_onset_ms
    assert model[(onset - 500) * MS : onset * MS].any()
    assert not model[(onset + 240) * MS : (onset + 2000) * MS].any()


@pytest.mark.parametrize(
    ("name", "message"),
    [
        ("runners/no_such_file.py:Echo", "no such file"),
        ("runners/echo_model.py:Ecko", "has no 'Ecko'"),
        ("ekko", "unknown system 'ekko'"),
    ],
)
def test_what_cannot_be_loaded_is_explained(monkeypatch, name, message):
    monkeypatch.chdir(ROOT)
    with pytest.raises(AdapterUnavailable, match=message):
        load_system(name)


@pytest.mark.parametrize(
    ("source", "message"),
    [
        ("import no_such_package", "importing .* failed: ModuleNotFoundError"),
        ("class Mine: pass", "is not a system: it needs rate_hz"),
        ("class Mine:\n    def __init__(self): raise OSError('no weights')", "no weights"),
        ("class Mine:\n    def __init__(self, size): pass", "does not take these options"),
    ],
)
def test_a_file_that_is_no_system_is_explained(tmp_path, source, message):
    path = tmp_path / "mine.py"
    path.write_text(source)
    with pytest.raises(AdapterUnavailable, match=message):
        load_system(f"{path}:Mine")


def test_two_files_of_one_name_are_two_systems(tmp_path):
    # dataclasses look their module up by name; the second must not find the first's
    source = (
        "from __future__ import annotations\n"
        "from dataclasses import dataclass, fields\n"
        "@dataclass\n"
        "class Mine:\n"
        "    rate_hz: int = {rate}\n"
        "    frame_samples: int = 480\n"
        "    def reset(self, prompt): pass\n"
        "    def step(self, frame): pass\n"
    )
    for name, rate in (("a", 16_000), ("b", 24_000)):
        (tmp_path / name).mkdir()
        (tmp_path / name / "model.py").write_text(source.format(rate=rate))
        assert load_system(f"{tmp_path / name / 'model.py'}:Mine").rate_hz == rate
