"""The segment cache: clips on disk by everything that determines them.

A build that is killed at any moment continues where it stopped: a clip is written to a
temporary file and renamed, so a file under its final name is complete. Each entry carries
checksums; one that does not read back is made again.
"""

from __future__ import annotations

import hashlib
import json
import warnings
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from dsb_ifeval.files import replacing

from .clips import RECIPE, Clip
from .engines.base import Engine, TimedWord

DEFAULT_CACHE = Path(".cache/dsb-ifeval/segments")
"""Segments by default; converted models go to ``models`` beside it."""


@dataclass(frozen=True, slots=True, order=True)
class Request:
    """One segment to speak: spelled-out text and the voice that says it."""

    spoken_text: str
    voice: str


class SegmentCache:
    """Clips of one engine.

    Args:
        folder: shared by all engines and versions; made when the first clip is stored.
    """

    def __init__(self, folder: Path, engine: Engine) -> None:
        self.folder = folder
        self._engine = {
            "engine": engine.name,
            "model": engine.model_sha256,
            "recipe": RECIPE,
            "speed": engine.speed,
            "versions": dict(engine.versions),
        }

    def path(self, request: Request) -> Path:
        """Where the request's clip is, or will be."""
        identity = {**self._engine, "text": request.spoken_text, "voice": request.voice}
        text = json.dumps(identity, sort_keys=True, ensure_ascii=False)
        key = hashlib.sha256(text.encode()).hexdigest()
        return self.folder / key[:2] / f"{key}.npz"

    def load(self, request: Request) -> Clip | None:
        """The clip, or None when it is not there or not readable (with a warning)."""
        path = self.path(request)
        try:
            with path.open("rb") as file, np.load(file, allow_pickle=False) as entry:
                pcm, words = entry["pcm"], json.loads(str(entry["words"]))
            if pcm.dtype != np.int16 or pcm.ndim != 1 or not pcm.size:
                raise ValueError("not PCM16 samples")
            clip = Clip(pcm, tuple(TimedWord(*word) for word in words))
            if len(clip.words) != len(request.spoken_text.split()):
                raise ValueError("not the words of this text")
            return clip
        except FileNotFoundError:
            return None
        except Exception as error:  # damage shows as almost any: zip, tokenizer, JSON, memory
            warnings.warn(f"corrupt cache entry, speaking it again: {path} ({error})", stacklevel=2)
            return None

    def store(self, request: Request, clip: Clip) -> None:
        """Write a clip so that it is there completely or not at all."""
        words = json.dumps([[word.text, word.start_s, word.end_s] for word in clip.words])
        with replacing(self.path(request)) as temporary, temporary.open("wb") as file:
            np.savez(file, pcm=clip.pcm, words=np.array(words))
