"""Speed and equality of ``dsb_ifeval.vad`` against the stock silero-vad package.

    pip install -e .[bench]
    python benchmarks/vad_speed.py [RUN_FOLDER]      # newest folder of runs/ unless given
    python benchmarks/vad_speed.py --synthetic       # ten minutes of hibari speech, no run needed

Every channel goes through our fast path, our reference path, the stock torch model and the stock
ONNX model, one after another in this process, on one thread. All start from the recording's own
rate, so soxr is in every figure. CPU time is the process's; ``x rt`` is seconds of audio per
second. Exit status 1 if any span differs or the fast path is under five times the stock one.
"""

from __future__ import annotations

import argparse
import os
import sys
import time
import warnings
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

for _name in ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS"):
    os.environ[_name] = "1"  # read when the libraries load, so before they do

import numpy as np  # noqa: E402
from tqdm import tqdm  # noqa: E402

from dsb_ifeval.intervals import Interval, samples_to_ms  # noqa: E402
from dsb_ifeval.vad import PAPER_SETTINGS, speech_spans, vad_signature  # noqa: E402
from dsb_ifeval.vad.spans import to_16k  # noqa: E402

RUNS = Path(__file__).resolve().parent.parent / "runs"
MIN_RATIO = 5.0
RATE = 24_000
Spans = tuple[Interval, ...]
Detector = Callable[[Any, int], Spans]
SENTENCES = (
    "I have been having some chest pain since about nine this morning.",
    "Mm-hmm.",
    "The address is forty four seventy one Alder Court, apartment twelve B.",
    "Can I get two number fours, one with no onions, and a large iced tea?",
    "Wait, hold on.",
    "Please tell the doctor that the swelling started on Tuesday.",
)


def stock(onnx: bool) -> Detector:
    """``silero_vad.get_speech_timestamps`` with the paper's settings (Appendix C.2)."""
    try:
        import silero_vad
        import torch
    except ImportError as error:
        raise SystemExit(f"{error.name} is missing: pip install -e .[bench]") from error
    torch.set_num_threads(1)
    warnings.simplefilter("ignore")
    model = silero_vad.load_silero_vad(onnx=onnx)

    def detect(audio: Any, rate_hz: int) -> Spans:
        found = silero_vad.get_speech_timestamps(
            torch.from_numpy(to_16k(audio, rate_hz)),
            model,
            threshold=PAPER_SETTINGS.threshold,
            sampling_rate=16_000,
            min_speech_duration_ms=PAPER_SETTINGS.min_speech_ms,
            min_silence_duration_ms=PAPER_SETTINGS.min_silence_ms,
        )
        ends = [(samples_to_ms(s["start"], 16_000), samples_to_ms(s["end"], 16_000)) for s in found]
        return tuple(Interval(start, end) for start, end in ends)

    return detect


def ours(reference: bool) -> Detector:
    return lambda audio, rate_hz: speech_spans(audio, rate_hz, PAPER_SETTINGS, reference=reference)


def recordings(folder: Path, minutes: float) -> Iterator[tuple[Any, int]]:
    """The channels of the FLAC files under a folder, up to so many minutes in all."""
    import soundfile

    left = minutes * 60
    for path in sorted(folder.rglob("*.flac")):
        audio, rate_hz = soundfile.read(path, dtype="int16", always_2d=True)
        for channel in audio.T:
            if left > 0:
                yield np.ascontiguousarray(channel), rate_hz
                left -= channel.size / rate_hz


def synthetic(minutes: float) -> Iterator[tuple[Any, int]]:
    """Channels of about 30 s: hibari speech with pauses, a third of them in noise."""
    try:
        from hibari import Hibari
    except ImportError as error:
        raise SystemExit("hibari is missing: pip install hibari-tts==0.2.1") from error
    voice, draw = Hibari(threads=1), np.random.default_rng(0)
    clips = [np.asarray(voice(text, seed=0), np.float32) for text in SENTENCES]
    for index in range(round(minutes * 2)):
        channel = np.zeros(30 * RATE, np.float32)
        position = 0
        while True:
            position += int(draw.uniform(0.1, 3) * RATE)
            clip = clips[draw.integers(len(clips))]
            if position + clip.size > channel.size:
                break
            channel[position : position + clip.size] = 0.7 * clip
            position += clip.size
        if index % 3 == 2:
            channel += np.float32(0.005) * draw.standard_normal(channel.size).astype(np.float32)
        yield channel, RATE


def newest_run() -> Path:
    folders = sorted(RUNS.glob("*/"), key=lambda folder: folder.stat().st_mtime)
    with_audio = [folder for folder in folders if any(folder.rglob("*.flac"))]
    if not with_audio:
        raise SystemExit(f"no recordings under {RUNS}: give a folder, or use --synthetic")
    return with_audio[-1]


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("folder", nargs="?", type=Path, help="folder with FLAC recordings")
    parser.add_argument("--synthetic", action="store_true", help="hibari speech instead")
    parser.add_argument("--minutes", type=float, default=10.0, help="audio to use (default 10)")
    parser.add_argument("--all", action="store_true", help="all recordings, however long")
    args = parser.parse_args()
    minutes = float("inf") if args.all and not args.synthetic else args.minutes
    source = "hibari speech" if args.synthetic else str(args.folder or newest_run())
    audio = synthetic(minutes) if args.synthetic else recordings(Path(source), minutes)
    channels = list(audio)
    if not channels:
        raise SystemExit(f"no FLAC files under {source}")
    paths = {
        "stock torch jit": stock(onnx=False),
        "stock onnx": stock(onnx=True),
        "ours, reference": ours(reference=True),
        "ours, fast": ours(reference=False),
    }
    return report(source, channels, paths)


def report(source: str, channels: list[tuple[Any, int]], paths: dict[str, Detector]) -> int:
    """Run every path on every channel in turn, print the table, and judge."""
    seconds = sum(audio.size / rate_hz for audio, rate_hz in channels)
    cpu, wall, equal = (dict.fromkeys(paths, 0.0) for _ in range(3))
    spans = 0
    for detect in paths.values():
        detect(np.zeros(RATE, np.float32), RATE)
    for audio, rate_hz in tqdm(channels, unit="channel", disable=None):
        expected: Spans | None = None
        for name, detect in paths.items():
            cpu_start, wall_start = time.process_time(), time.perf_counter()
            found = detect(audio, rate_hz)
            cpu[name] += time.process_time() - cpu_start
            wall[name] += time.perf_counter() - wall_start
            expected = found if expected is None else expected
            equal[name] += found == expected
        spans += len(expected or ())
    print(f"{source}: {len(channels)} channels, {seconds / 60:.1f} min, {spans} spans")
    print(vad_signature(PAPER_SETTINGS))
    print(f"{'path':18}{'CPU x rt':>10}{'wall x rt':>11}{'ratio':>8}  channels with equal spans")
    first = next(iter(paths))
    for name in paths:
        ratio = cpu[first] / cpu[name]
        row = f"{name:18}{seconds / cpu[name]:10.0f}{seconds / wall[name]:11.0f}{ratio:8.1f}"
        print(f"{row}  {equal[name]:.0f}/{len(channels)}")
    all_equal = all(count == len(channels) for count in equal.values())
    return 0 if all_equal and cpu[first] / cpu["ours, fast"] >= MIN_RATIO else 1


if __name__ == "__main__":
    sys.exit(main())
