"""The whole build, from scripts to a dataset folder."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from dsb_ifeval.benchmark.model import Benchmark
from dsb_ifeval.conversation import Conversation
from dsb_ifeval.intervals import samples_to_ms

from .cache import Request, SegmentCache
from .clips import Clip
from .engines import Engine
from .errors import BuildError
from .folders import check_replaceable, replacing
from .scripts import Script
from .synthesis import missing_requests, synthesize_all
from .turns import Plan, build_conversations, plan

if TYPE_CHECKING:
    from .dataset import Written

Progress = Callable[[int, int], None]
"""Called with (segments done, segments to speak)."""


@dataclass(frozen=True, slots=True)
class Spoken:
    """Plans whose segments are all in the cache."""

    engine: Engine
    plans: tuple[Plan, ...]
    cache: SegmentCache
    synthesized: int

    def clip(self, request: Request) -> Clip:
        """A segment's clip.

        Raises:
            BuildError: someone removed it from the cache during the build.
        """
        clip = self.cache.load(request)
        if clip is None:
            raise BuildError(f"{self.cache.path(request)} is gone or damaged; run the build again")
        return clip

    def duration_ms(self, script: Script, slot: str) -> int:
        """Length of a script's speech segment."""
        item = next(item for item in self.plans if item.script is script)
        return samples_to_ms(len(self.clip(item.request(slot)).pcm))


@dataclass(frozen=True, slots=True)
class Built:
    """A finished build: its base conversations and what was written."""

    conversations: tuple[Conversation, ...]
    written: Written


def speak(
    benchmark: Benchmark,
    engine: Engine,
    scripts: Sequence[Script],
    cache_folder: Path,
    models: Path,
    jobs: int | None,
    progress: Progress,
) -> Spoken:
    """Synthesise every segment that the cache lacks."""
    plans = plan(benchmark, engine, scripts)
    cache = SegmentCache(cache_folder, engine)
    missing = missing_requests({request for item in plans for request in item.requests}, cache)
    progress(0, len(missing))
    done = 0

    def report(_: Request) -> None:
        nonlocal done
        done += 1
        progress(done, len(missing))

    try:
        synthesize_all(missing, engine, cache, models, jobs, report)
    except OSError as error:
        place, reason = error.filename or cache_folder, error.strerror or error
        raise BuildError(f"cannot write the cache at {place}: {reason}") from error
    return Spoken(engine, plans, cache, len(missing))


def check_out(out: Path) -> None:
    """Refuse an ``out`` that could not be written at the end, before the work begins.

    Raises:
        BuildError: it is something other than a dataset, or its parent is not writable.
    """
    check_replaceable(out.resolve())


def write(benchmark: Benchmark, spoken: Spoken, out: Path) -> Built:
    """Assemble turns, expand them into cases and replace the dataset folder.

    Raises:
        BuildError: the folder cannot be written or is not a dataset; an old one is untouched.
    """
    from . import dataset  # takes a second to import: nothing else needs it

    with replacing(out) as folder:
        conversations: list[dataset.Source] = []
        audio: dict[str, dataset.EncodedAudio] = {}
        for item in spoken.plans:
            for built in build_conversations(benchmark, spoken.engine, item, spoken.clip):
                conversations.append((built.conversation, built.level))
                key = built.conversation.audio_key
                encoded = dataset.encode(built) if key not in audio else audio[key]
                if not encoded.is_of(built.conversation):
                    raise BuildError(f"{key}: two conversations with different audio share it")
                audio[key] = encoded
        written = dataset.write_dataset(folder, benchmark, spoken.engine, conversations, audio)
    bases = tuple(conversation for conversation, level in conversations if level is None)
    return Built(bases, written)
