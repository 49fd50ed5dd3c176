"""Make dataset_builder/voices/kokoro_en.npz from the npm package kokoro-js.

The package holds one style table per voice: 510 rows (one per utterance length in phonemes) of
256 float32 numbers. Kept: the 28 English voices, the first 400 rows, float16. Phoneme
durations with these tables were identical to those with the full ones.

    python scripts/make_kokoro_voices.py                 # needs npm and the network
    python scripts/make_kokoro_voices.py kokoro-js-1.2.1.tgz

Voices: Kokoro-82M by hexgrad, Apache-2.0.
"""

from __future__ import annotations

import hashlib
import subprocess
import sys
import tarfile
import tempfile
from pathlib import Path

import numpy as np

PACKAGE = "kokoro-js@1.2.1"
TARGET = Path(__file__).resolve().parent.parent / "dataset_builder" / "voices" / "kokoro_en.npz"
ROWS, WIDTH = 400, 256
ENGLISH = ("af_", "am_", "bf_", "bm_")


def download(folder: Path) -> Path:
    """The package's tarball, fetched with npm; nothing in it is run."""
    done = subprocess.run(
        ["npm", "pack", PACKAGE, "--silent"], cwd=folder, check=True, capture_output=True, text=True
    )
    return folder / done.stdout.strip().splitlines()[-1]


def english_voices(tarball: Path) -> dict[str, np.ndarray]:
    """Style tables of the English voices, by name, sorted."""
    voices = {}
    with tarfile.open(tarball) as archive:
        for member in archive.getmembers():
            path = Path(member.name)
            if path.parent.name == "voices" and path.stem.startswith(ENGLISH):
                file = archive.extractfile(member)
                assert file is not None
                table = np.frombuffer(file.read(), "<f4").reshape(-1, WIDTH)
                voices[path.stem] = table[:ROWS].astype(np.float16)
    return dict(sorted(voices.items()))


def main() -> None:
    with tempfile.TemporaryDirectory() as folder:
        tarball = Path(sys.argv[1]) if len(sys.argv) > 1 else download(Path(folder))
        voices = english_voices(tarball)
    TARGET.parent.mkdir(exist_ok=True)
    np.savez_compressed(TARGET, names=np.array(list(voices)), v=np.stack(list(voices.values())))
    digest = hashlib.sha256(TARGET.read_bytes()).hexdigest()
    print(f"{len(voices)} voices, {TARGET.stat().st_size / 1e6:.2f} MB")
    print(f"_VOICES_SHA256 in engines/kokoro.py: {digest}")


if __name__ == "__main__":
    main()
