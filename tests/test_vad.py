"""Speech spans: equal to the stock package's, on golden files and on synthesized speech."""

from __future__ import annotations

import importlib.util
import json
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest
import soundfile
from hypothesis import given
from hypothesis import strategies as st

from dsb_ifeval.benchmark.model import VadSettings
from dsb_ifeval.errors import DsbError, RecordingError
from dsb_ifeval.intervals import Interval, samples_to_ms
from dsb_ifeval.vad import (
    PAPER_SETTINGS,
    SileroVad,
    spans_batch,
    spans_of_probabilities,
    speech_spans,
    vad_signature,
)
from dsb_ifeval.vad import weights as weights_module
from dsb_ifeval.vad.silero import frames_of, zero_state
from dsb_ifeval.vad.spans import to_16k

ROOT = Path(__file__).parent.parent
GOLDEN = Path(__file__).parent / "golden"
RULE_CASES = json.loads((GOLDEN / "vad_rule.json").read_text(encoding="utf-8"))["cases"]
NOISE = np.random.default_rng(3).standard_normal(64_000).astype(np.float32)
TIME = np.arange(64_000) / 16_000


@pytest.fixture(scope="module")
def pcm():
    return soundfile.read(GOLDEN / "vad_speech.flac", dtype="int16")[0]


@pytest.fixture(scope="module", params=["jit", "onnx"])
def stock(request):
    return json.loads((GOLDEN / "vad_speech.json").read_text(encoding="utf-8"))[request.param]


@pytest.fixture(params=[False, True], ids=["gemm", "reference"])
def reference(request):
    return request.param


def in_ms(spans):
    return tuple(Interval(samples_to_ms(a, 16_000), samples_to_ms(b, 16_000)) for a, b in spans)


@pytest.mark.parametrize("case", RULE_CASES)
def test_rule_equals_stock(case):
    theirs = case["settings"]
    settings = VadSettings(
        rate_hz=16_000,
        threshold=theirs["threshold"],
        min_speech_ms=theirs["min_speech_duration_ms"],
        min_silence_ms=theirs["min_silence_duration_ms"],
        speech_pad_ms=theirs["speech_pad_ms"],
        merge_gap_ms=300,
    )
    spans = spans_of_probabilities(case["probabilities"], case["samples"], settings)
    assert [list(span) for span in spans] == case["spans"]


def test_rule_on_stock_probabilities(pcm, stock):
    spans = spans_of_probabilities(stock["probabilities"], to_16k(pcm, 24_000).size, PAPER_SETTINGS)
    assert [list(span) for span in spans] == stock["spans"]


def test_probabilities_and_spans_equal_stock(pcm, stock, reference):
    probabilities = SileroVad(reference=reference).probabilities(to_16k(pcm, 24_000))
    assert probabilities.dtype == np.float32
    np.testing.assert_allclose(probabilities, stock["probabilities"], rtol=0, atol=3e-4)
    spans = speech_spans(pcm, 24_000, PAPER_SETTINGS, reference=reference)
    assert spans == in_ms(stock["spans"])
    assert len(spans) == 4


# frames of 32 ms, thresholds 0.5 / 0.35, pad 30 ms = 480 samples, min 90 ms = 1440 samples
@pytest.mark.parametrize(
    ("probabilities", "expected"),
    [
        ("", []),
        ("....", []),
        (".##.....", []),  # 2 frames = 64 ms: too short
        (".###....", [(512 - 480, 2048 + 480)]),  # 3 frames = 96 ms
        ("###", [(0, 1536)]),  # clipped to the recording
        (".###...###....", [(32, 5120 + 480)]),  # 3 low frames: a pause, not an end
        (".###....###....", [(32, 2528), (4096 - 480, 5632 + 480)]),  # the 4th confirms the end
        (".###.--.###....", [(32, 2528), (4096 - 480, 5632 + 480)]),  # 0.4 does not cancel an end
        (".###.---###....", [(32, 5632 + 480)]),  # nor does it confirm one
    ],
)
def test_rule_by_hand(probabilities, expected):
    values = [{"#": 0.9, "-": 0.4, ".": 0.1}[mark] for mark in probabilities]
    assert spans_of_probabilities(values, len(values) * 512, PAPER_SETTINGS) == expected


def test_close_neighbours_share_the_gap():
    settings = VadSettings(16_000, 0.5, 90, 0, 30, 300)  # an end needs no confirmation
    spans = spans_of_probabilities([0.9] * 3 + [0.1] + [0.9] * 3, 3584, settings)
    assert spans == [(0, 1536 + 256), (2048 - 256, 3584)]


@given(st.lists(st.floats(0, 1, width=32), max_size=120), st.integers(0, 511))
def test_spans_are_ordered_and_inside(probabilities, missing):
    samples = max(0, len(probabilities) * 512 - missing)
    edges = [0]
    for start, end in spans_of_probabilities(probabilities, samples, PAPER_SETTINGS):
        assert start < end
        edges += [start, end]
    assert edges == sorted(edges)
    assert edges[-1] <= samples


@pytest.mark.parametrize("samples", [0, 1, 63, 511, 512, 513, 1440, 1537])
def test_short_audio(samples, reference):
    vad = SileroVad(reference=reference)
    assert vad.probabilities(np.zeros(samples, np.float32)).shape == (-(-samples // 512),)
    assert speech_spans(np.zeros(samples, np.int16), 24_000, PAPER_SETTINGS) == ()


HARD = {
    "digital silence": np.zeros_like(NOISE),
    "dither": np.sign(NOISE) / 32768,
    "white -30 dBFS": NOISE * 0.03,
    "full scale": np.ones_like(NOISE),
    "clipped noise": np.clip(NOISE * 20, -1, 1),
    "hum": 0.3 * np.sin(2 * np.pi * 100 * TIME),
    "tones": 0.1 * sum(np.sin(2 * np.pi * f * TIME) for f in (220, 277, 330)) * (TIME % 0.5 < 0.4),
    "buzz": 0.3 * (((TIME * 130) % 1) * 2 - 1) * (TIME % 0.4 < 0.25),
    "clicks": (np.arange(64_000) % 5000 == 0) * 1.0,
}


@pytest.mark.parametrize("name", HARD)
def test_fast_graph_agrees_with_reference(name):
    audio = HARD[name].astype(np.float32)
    fast, slow = (SileroVad(reference=flag).probabilities(audio) for flag in (False, True))
    np.testing.assert_allclose(fast, slow, rtol=0, atol=2e-4)
    spans = [speech_spans(audio, 16_000, PAPER_SETTINGS, reference=flag) for flag in (False, True)]
    assert spans[0] == spans[1]


@pytest.mark.parametrize("gain", [1.0, 0.1, 0.01, 8.0])
@pytest.mark.parametrize("noise", [0.0, 0.001, 0.03])
def test_fast_graph_agrees_on_degraded_speech(pcm, gain, noise):
    speech = to_16k(pcm, 24_000)
    audio = np.clip(speech * gain + noise * np.resize(NOISE, speech.size), -1, 1).astype(np.float32)
    spans = [speech_spans(audio, 16_000, PAPER_SETTINGS, reference=flag) for flag in (False, True)]
    assert spans[0] == spans[1]


def test_silence_has_no_speech():
    assert speech_spans(np.zeros(240_000, np.float32), 24_000, PAPER_SETTINGS) == ()


def test_blocks_do_not_show(pcm):
    audio = np.resize(to_16k(pcm, 24_000), 600 * 512)  # more than one block of 512 frames
    at_once, _ = SileroVad().advance(frames_of(audio), zero_state())
    np.testing.assert_array_equal(SileroVad().probabilities(audio), at_once)


def test_batch_gives_the_bits_of_one(pcm):
    audio = to_16k(pcm, 24_000)
    parts = [audio, audio[:0], audio[5000:60_001]]
    for together, part in zip(SileroVad().probabilities_batch(parts), parts, strict=True):
        np.testing.assert_array_equal(together, SileroVad().probabilities(part))
    alone = speech_spans(pcm, 24_000, PAPER_SETTINGS)
    assert spans_batch([pcm, pcm[:0]], 24_000, PAPER_SETTINGS) == [alone, ()]


def test_int16_is_float_over_32768(pcm):
    as_float = pcm.astype(np.float32) / np.float32(32768)
    assert speech_spans(as_float, 24_000, PAPER_SETTINGS) == speech_spans(
        pcm, 24_000, PAPER_SETTINGS
    )


def test_channel_of_a_stereo_array(pcm):
    stereo = np.stack([np.zeros_like(pcm), pcm], axis=1)
    assert speech_spans(stereo[:, 1], 24_000, PAPER_SETTINGS) == speech_spans(
        pcm, 24_000, PAPER_SETTINGS
    )


def test_unusable_audio_is_refused():
    with pytest.raises(RecordingError, match=r"one channel of shape \(n,\), got shape \(10, 2\)"):
        speech_spans(np.zeros((10, 2), np.int16), 24_000, PAPER_SETTINGS)
    with pytest.raises(RecordingError, match="NaN or infinite"):
        speech_spans(np.full(100, np.nan, np.float32), 24_000, PAPER_SETTINGS)
    with pytest.raises(ValueError, match=r"vad\.rate_hz is 8000, this model runs at 16000"):
        speech_spans(np.zeros(9, np.float32), 24_000, VadSettings(8000, 0.5, 90, 90, 30, 300))


def test_changed_weights_are_refused(tmp_path):
    file = tmp_path / "model.onnx"
    with pytest.raises(DsbError, match=r"model.onnx: No such file .*reinstall"):
        weights_module.read_verified(file, weights_module.MODEL_SHA256)
    file.write_bytes(b"other")
    with pytest.raises(DsbError, match=r"sha256 is d9298a10.*, expected 9ccdacc4"):
        weights_module.read_verified(file, weights_module.MODEL_SHA256)


def test_signature_names_what_can_change_a_span():
    signature = vad_signature(PAPER_SETTINGS)
    assert signature.startswith(
        "silero:6.2.3|model:9ccdacc4719d|graph:gemm-04b9a4065962|rate:16000"
    )
    assert "|thr:0.5|minspeech:90|minsilence:90|pad:30|resampler:soxr-HQ-" in signature
    assert "|graph:sequence|" in vad_signature(PAPER_SETTINGS, reference=True)


def test_import_is_light():
    code = "import sys, dsb_ifeval.vad; print({'onnxruntime', 'torch', 'soxr'} & set(sys.modules))"
    command = [sys.executable, "-c", code]
    done = subprocess.run(command, capture_output=True, text=True, check=True, cwd=ROOT)
    assert done.stdout.strip() == "set()"


def test_weight_files_are_reproducible():
    pytest.importorskip("onnx")
    if importlib.util.find_spec("silero_vad") is None:
        pytest.skip("silero_vad is not installed")
    command = [sys.executable, str(ROOT / "scripts" / "make_vad_weights.py"), "--check"]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stdout + done.stderr


@pytest.mark.speech
@pytest.mark.parametrize("onnx", [False, True], ids=["jit", "onnx"])
def test_stock_package_gives_the_same_spans(pcm, onnx):
    torch = pytest.importorskip("torch")
    silero_vad = pytest.importorskip("silero_vad")
    model = silero_vad.load_silero_vad(onnx=onnx)
    speech = to_16k(pcm, 24_000)
    for gain, noise in [(1, 0), (0.02, 0), (0.3, 0.02), (30, 0)]:
        audio = np.clip(gain * speech + noise * np.resize(NOISE, speech.size), -1, 1)
        audio = audio.astype(np.float32)
        theirs = silero_vad.get_speech_timestamps(
            torch.from_numpy(audio), model, min_speech_duration_ms=90, min_silence_duration_ms=90
        )
        expected = in_ms((span["start"], span["end"]) for span in theirs)
        assert speech_spans(audio, 16_000, PAPER_SETTINGS) == expected
