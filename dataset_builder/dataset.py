"""The dataset folder: Parquet shards, manifest and card, written whole or not at all.

Rows are flat and self-contained (a case with its audio), sorted by ``(audio_key, case_id)``.
The cases of a conversation share its audio, so each shard holds whole conversations in one
row group with a dictionary: every waveform is stored once per shard column. One row group per
shard is also what keeps a streaming reader from hanging at exit.
"""

from __future__ import annotations

import io
import json
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import groupby
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq
import soundfile
from datasets import Audio, Dataset, Features, Json, List, Value

from dsb_ifeval.benchmark.model import Benchmark
from dsb_ifeval.cases import Case, build_cases
from dsb_ifeval.conversation import Conversation
from dsb_ifeval.manifest import Row, case_to_row, manifest_hash
from dsb_ifeval.vocab import Level

from .card import write_card
from .clips import Pcm
from .engines import Engine
from .engines.base import SAMPLE_RATE_HZ
from .folders import MANIFEST
from .turns import BuiltConversation

FORMAT_VERSION = 1
SHARD_BYTES = 15_000_000

_DICTIONARY_BYTES = 1 << 30
"""Dictionary pages up to this size: the default of 1 MB would store each case's audio again."""


Source = tuple[Conversation, Level | None]
"""A conversation and the only level that uses it, if it has audio of its own (else None)."""


@dataclass(frozen=True, slots=True)
class EncodedAudio:
    """Both turns of one audio key as FLAC bytes, and the hashes of their samples."""

    turn1: bytes
    turn2: bytes
    turn1_sha256: str
    turn2_sha256: str

    def is_of(self, conversation: Conversation) -> bool:
        """Whether a conversation's turns are these waveforms (the matched set shares them)."""
        return (self.turn1_sha256, self.turn2_sha256) == (
            conversation.turn1.sha256,
            conversation.turn2.sha256,
        )

    @property
    def size(self) -> int:
        return len(self.turn1) + len(self.turn2)


@dataclass(frozen=True, slots=True)
class Written:
    """What was written, for the build's report."""

    cases: int
    audio_keys: int
    shards: int
    bytes: int
    manifest_sha256: str


def encode(built: BuiltConversation) -> EncodedAudio:
    """FLAC (bit-exact PCM16) of a conversation's turns."""
    conversation = built.conversation
    return EncodedAudio(
        _flac(built.turn1),
        _flac(built.turn2),
        conversation.turn1.sha256,
        conversation.turn2.sha256,
    )


def write_dataset(
    folder: Path,
    benchmark: Benchmark,
    engine: Engine,
    conversations: Sequence[Source],
    audio: Mapping[str, EncodedAudio],
) -> Written:
    """Write the files of a dataset into an empty folder.

    Args:
        conversations: base conversations, and variants with their level.
        audio: by audio key.
    """
    cases = _cases(benchmark, conversations)
    rows = [case_to_row(case) for case in cases]
    manifest_sha256 = manifest_hash(cases)
    shards = list(_shards(rows, audio))
    features = _features()
    data = folder / "data"
    data.mkdir()
    for index, shard in enumerate(shards):
        name = f"test-{index:05d}-of-{len(shards):05d}.parquet"
        _write_shard(data / name, shard, audio, features)
    _write_manifest(folder / MANIFEST, benchmark, engine, audio, manifest_sha256)
    size = sum(path.stat().st_size for path in data.iterdir())
    write_card(folder, benchmark, engine, features, len(rows), size, manifest_sha256)
    return Written(len(rows), len(audio), len(shards), size, manifest_sha256)


def _cases(benchmark: Benchmark, conversations: Iterable[Source]) -> list[Case]:
    bases: list[Conversation] = []
    variants: dict[tuple[str, Level], Conversation] = {}
    for conversation, level in conversations:
        if level is None:
            bases.append(conversation)
        else:
            variants[conversation.id, level] = conversation
    cases = build_cases(benchmark, bases, variants)
    return sorted(cases, key=lambda case: (case.audio_key, case.case_id))


def _shards(rows: Iterable[Row], audio: Mapping[str, EncodedAudio]) -> Iterator[list[Row]]:
    """Rows cut where the audio key changes, at about ``SHARD_BYTES`` of audio."""
    shard: list[Row] = []
    size = 0
    for key, group in groupby(rows, key=lambda row: str(row["audio_key"])):
        if shard and size + audio[key].size > SHARD_BYTES:
            yield shard
            shard, size = [], 0
        shard.extend(group)
        size += audio[key].size
    if shard:
        yield shard


def _write_shard(
    path: Path, rows: list[Row], audio: Mapping[str, EncodedAudio], features: Features
) -> None:
    """One Parquet file with one row group."""
    described = Features({name: features[name] for name in rows[0]})
    table = Dataset.from_list(rows, features=described).data.table.combine_chunks()
    for turn in ("turn1", "turn2"):
        cells = [
            {"bytes": getattr(audio[row["audio_key"]], turn), "path": _audio_name(row, turn)}
            for row in rows
        ]
        table = table.append_column(turn, pa.array(cells, Audio.pa_type))
    pq.write_table(
        table.cast(features.arrow_schema),
        path,
        row_group_size=len(table),
        dictionary_pagesize_limit=_DICTIONARY_BYTES,
        compression="zstd",
    )


def _audio_name(row: Row, turn: str) -> str:
    return f"{row['audio_key']}_{turn}.flac"


def _write_manifest(
    path: Path,
    benchmark: Benchmark,
    engine: Engine,
    audio: Mapping[str, EncodedAudio],
    manifest_sha256: str,
) -> None:
    manifest = {
        "format_version": FORMAT_VERSION,
        "spec_version": benchmark.version,
        "engine": engine.name,
        "model_sha256": engine.model_sha256,
        "versions": dict(engine.versions),
        "voices": list(engine.voices),
        "manifest_sha256": manifest_sha256,
        "audio": {
            key: {"turn1_sha256": clip.turn1_sha256, "turn2_sha256": clip.turn2_sha256}
            for key, clip in sorted(audio.items())
        },
    }
    path.write_text(json.dumps(manifest, indent=1, ensure_ascii=False) + "\n", "utf-8")


def _flac(pcm: Pcm) -> bytes:
    file = io.BytesIO()
    soundfile.write(file, pcm, SAMPLE_RATE_HZ, format="FLAC", subtype="PCM_16")
    return file.getvalue()


def _features() -> Features:
    """Column types, in the column order of ``case_to_row`` plus the audio."""
    text, seconds = Value("string"), Value("float64")
    word = {"word": text, "start": seconds, "end": seconds}
    segment = {
        "slot": text,
        "kind": text,
        "text": text,
        "duration_s": seconds,
        "start_s": seconds,
        "end_s": seconds,
        "words": List(word),
    }
    turn = {
        "turn": Value("int32"),
        "mode": text,
        "barge_in_after_s": seconds,
        "samples": Value("int64"),
        "sha256": text,
        "segments": List(segment),
    }
    return Features(
        {
            "case_id": text,
            "conversation_id": text,
            "audio_key": text,
            "role": text,
            "probe": text,
            "probe_short": text,
            "instance": Value("int32"),
            "level": text,
            "probe_action": text,
            "expected_action": text,
            "system_prompt": text,
            "verifier": {"name": text, "params": Json()},
            "trigger_window": {"start_s": seconds, "end_s": seconds, "reference": text},
            "readback_target": text,
            "conflict_target": text,
            "turns": List(turn),
            "ground_truth_timestamps": List(
                {"slot": text, "onset_s": seconds, "offset_s": seconds}
            ),
            "provenance": Json(),
            "turn1": Audio(sampling_rate=SAMPLE_RATE_HZ),
            "turn2": Audio(sampling_rate=SAMPLE_RATE_HZ),
        }
    )
