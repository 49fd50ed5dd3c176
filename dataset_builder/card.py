"""The dataset card: README.md with the metadata that ``datasets`` and the Hub read.

``datasets`` caches a local folder by its configuration, blind to the files; the manifest hash
in the description makes a rebuilt folder a new configuration.
"""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

import yaml

from dsb_ifeval.benchmark.model import Benchmark

from .engines import Engine

if TYPE_CHECKING:
    from datasets import Features

CONFIG = "cases"

_TEXT = """\
# DSB-IFEval

Two-turn user conversations for measuring whether a full-duplex voice agent manages the floor
as its role implies. Each row is one test case: a system prompt, the user's two turns as audio
with known event times, a trigger window and the deterministic verifier that scores it.

| | |
|---|---|
| cases | {cases} |
| benchmark version | {version} |
| manifest sha256 | `{manifest_sha256}` |
| speech engine | {label} |
| model sha256 | `{model_sha256}` |
| versions | {versions} |
| voices ({voice_count}) | {voices} |

All speech is synthetic and comes from this one engine; voices are chosen per conversation by
`sha1(audio_key) % N`. Silences are exact zeros. No text refers to a real person, address or
telephone number.

## Use

```python
from datasets import Audio, load_dataset

cases = load_dataset("dsb-ifeval", split="test")      # a folder of this name, or org/dsb-ifeval
raw = cases.cast_column("turn1", Audio(decode=False))  # FLAC bytes; needs no torchcodec
```

Times are seconds from the onset of their own turn. `verifier.params` and `provenance` are JSON
(text to readers other than `datasets`). `turns[].sha256` is the hash of the little-endian PCM16
samples; `manifest.json` lists it per audio key.
"""


def write_card(
    folder: Path,
    benchmark: Benchmark,
    engine: Engine,
    features: Features,
    cases: int,
    data_bytes: int,
    manifest_sha256: str,
) -> None:
    """Write ``README.md``."""
    metadata = {
        "pretty_name": "DSB-IFEval",
        "language": ["en"],
        "license": "apache-2.0",
        "size_categories": ["1K<n<10K" if cases >= 1000 else "n<1K"],
        "task_categories": ["audio-to-audio"],
        "tags": ["audio", "full-duplex", "turn-taking", "benchmark"],
        "configs": [
            {
                "config_name": CONFIG,
                "version": "1.0.0",
                "description": f"manifest sha256:{manifest_sha256}",
                "default": True,
                "data_files": [{"split": "test", "path": "data/test-*.parquet"}],
            }
        ],
        "dataset_info": _dataset_info(features, cases, data_bytes),
    }
    body = _TEXT.format(
        cases=cases,
        version=benchmark.version,
        manifest_sha256=manifest_sha256,
        label=engine.label,
        model_sha256=engine.model_sha256,
        versions=", ".join(f"{name} {number}" for name, number in engine.versions.items()),
        voice_count=len(engine.voices),
        voices=", ".join(engine.voices),
    )
    front = yaml.safe_dump(metadata, sort_keys=False, allow_unicode=True)
    (folder / "README.md").write_text(f"---\n{front}---\n\n{body}", "utf-8")


def _dataset_info(features: Features, cases: int, data_bytes: int) -> Any:
    from datasets import DatasetInfo, SplitDict, SplitInfo
    from datasets.info import DatasetInfosDict
    from huggingface_hub import DatasetCardData

    splits = SplitDict()
    splits.add(SplitInfo("test", num_bytes=data_bytes, num_examples=cases))
    info = DatasetInfo(
        features=features,
        splits=splits,
        download_size=data_bytes,
        dataset_size=data_bytes,
        config_name=CONFIG,
    )
    card = DatasetCardData()
    DatasetInfosDict({CONFIG: info}).to_dataset_card_data(card)
    return card["dataset_info"]
