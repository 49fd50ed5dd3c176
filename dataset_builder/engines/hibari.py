"""hibari: a small, fast single-voice engine for development and continuous integration.

The model is a 7.9 MB student of Kokoro that ships inside the ``hibari-tts`` wheel (Apache-2.0).
Sentences are spoken one by one, as the package does, and joined.

The network's rounded phoneme durations are made a graph output, so word times need no
aligner. ``hibari`` itself does the signal processing; its noise is seeded, so that equal
text gives equal bytes.
"""

from __future__ import annotations

from collections.abc import Mapping
from functools import cached_property
from importlib import metadata, resources
from pathlib import Path
from typing import Any

import numpy as np

from ..errors import SynthesisError
from .base import SAMPLE_RATE_HZ, Samples, TimedWord, Utterance
from .onnx_session import expose_output, open_session, read_model
from .phonemes import phonemize
from .timing import HOP_SAMPLES, word_times

_SHA256 = "5f70741d4e900f4e85d0037498736cc1b3e1b9a63a13546a5da1e63abf4fccd8"
_DURATIONS = "/Clip_output_0"
_MAX_PHONEMES = 400
_SEED = 0


class HibariEngine:
    """One American English voice, about 100 times faster than real time on one core."""

    name = "hibari"
    label = "hibari-tts (student of Kokoro-82M), one voice"
    model_sha256 = _SHA256
    voices = ("heart",)
    speed = 1.0
    segments_per_worker = 60
    gain = 1.0

    def __init__(self) -> None:
        packages = ("hibari-tts", "onnxruntime", "numpy")
        self.versions: Mapping[str, str] = {
            **{name: metadata.version(name) for name in packages},
            "fft": _fft_backend(),
        }

    def prepare(self) -> None:
        """Nothing to do: the model needs no conversion that outlives the process."""

    def synthesize(self, spoken_text: str, voice: str) -> Utterance:
        """See :class:`Engine`."""
        assert voice in self.voices, voice
        pieces: list[Samples] = []
        words: list[TimedWord] = []
        offset = 0
        random = np.random.default_rng(_SEED)
        for sentence in split_sentences(spoken_text.split()):
            samples, times = self._sentence(sentence, random)
            offset_s = offset / SAMPLE_RATE_HZ
            words.extend(
                TimedWord(word, offset_s + start_s, offset_s + end_s)
                for word, (start_s, end_s) in zip(sentence, times, strict=True)
            )
            pieces.append(samples)
            offset += len(samples)
        samples = np.concatenate(pieces) * np.float32(self.gain)
        peak = float(np.abs(samples).max())
        if peak >= 1:
            raise SynthesisError(f"hibari: peak {peak:.2f} >= 1 in {spoken_text!r}")
        return Utterance(samples, tuple(words))

    def _sentence(
        self, words: list[str], random: np.random.Generator
    ) -> tuple[Samples, list[tuple[float, float]]]:
        from hibari import dsp

        phonemes = phonemize(words)
        if len(phonemes) > _MAX_PHONEMES:
            raise SynthesisError(
                f"hibari: {len(phonemes)} phonemes in one sentence, at most {_MAX_PHONEMES}; "
                f"split it: {' '.join(words)!r}"
            )
        ids = np.asarray([[0, *(phoneme.id for phoneme in phonemes), 0]], np.int64)
        outputs = self._session.run(
            None, {"ids": ids, "speed": np.asarray([self.speed], np.float32)}
        )
        spectra, frames = [output[0] for output in outputs[:-1]], outputs[-1]
        samples: Samples = dsp.synth(*spectra, random)
        assert int(frames.sum()) * HOP_SAMPLES == len(samples)
        return samples, word_times(phonemes, frames, samples)

    @cached_property
    def _session(self) -> Any:
        import onnx

        path = Path(str(resources.files("hibari"))) / "assets" / "hibari.onnx"
        model = onnx.load_from_string(read_model(path, _SHA256, "hibari model"))
        expose_output(model, _DURATIONS)
        return open_session(model.SerializeToString())


def _fft_backend() -> str:
    """The FFT that hibari uses: it decides a sample's last bits (numpy's takes twice as long)."""
    try:
        return f"scipy-{metadata.version('scipy')}"
    except metadata.PackageNotFoundError:
        return "numpy"


def split_sentences(words: list[str]) -> list[list[str]]:
    """Sentences of a spoken text, as lists of words.

    >>> split_sentences("It hurts. Is it bad? I, J. and".split())
    [['It', 'hurts.'], ['Is', 'it', 'bad?'], ['I,', 'J.', 'and']]
    """
    sentences: list[list[str]] = [[]]
    for word, following in zip(words, [*words[1:], ""], strict=True):
        sentences[-1].append(word)
        if following and _ends_sentence(word, following):
            sentences.append([])
    return sentences


def _ends_sentence(word: str, following: str) -> bool:
    initial = len(word) == 2 and word[0].isupper()
    return word[-1] in ".!?…" and not following[0].islower() and not initial
