"""Writes tests/golden/vad_speech.flac and vad_*.json from the STOCK silero-vad package.

    python -m venv /tmp/stock && /tmp/stock/bin/pip install \
        torch==2.13.0 silero-vad==6.2.3 onnxruntime soundfile soxr numpy hibari-tts==0.2.1
    /tmp/stock/bin/python tests/golden/make_vad.py

Nothing of dsb_ifeval is imported here, and the files must never be rewritten with its own port.
"""

import json
import random
from pathlib import Path

HERE = Path(__file__).parent
SOURCE = "silero-vad 6.2.3 (torch 2.13.0, jit), tests/golden/make_vad.py"
TEXT = ("My mother passed away in March. She left me the house.", "Mm-hmm.", "Wait, hold on.")


def speech():
    """Twelve seconds at 24 kHz: three utterances (the second -30 dB), noise, silence, a tone."""
    import numpy as np
    from hibari import Hibari

    voice, noise = Hibari(threads=1), np.random.default_rng(5)
    first, second, third = (np.asarray(voice(text, seed=0), np.float32) for text in TEXT)
    gap = np.zeros(24_000, np.float32)
    tone = 0.1 * np.sin(2 * np.pi * 440 * np.arange(24_000) / 24_000)
    audio = np.concatenate([gap, first, second * 0.03, gap[:12_000], third, tone, third])
    audio[len(gap) + len(first) :] += 0.003 * noise.standard_normal(
        len(audio) - len(gap) - len(first)
    )
    return np.round(np.clip(audio * 0.7, -1, 1) * 32767).astype(np.int16)[: 12 * 24_000]


def stock(kind, audio):
    import torch
    from silero_vad import get_speech_timestamps, load_silero_vad

    model, heard = load_silero_vad(onnx=kind == "onnx"), []

    def listen(chunk, rate):
        heard.append(model(chunk, rate).item())
        return torch.tensor(heard[-1])

    listen.reset_states = model.reset_states
    spans = get_speech_timestamps(
        torch.from_numpy(audio),
        listen,
        threshold=0.5,
        sampling_rate=16_000,
        min_speech_duration_ms=90,
        min_silence_duration_ms=90,
    )
    return {"probabilities": heard, "spans": [[s["start"], s["end"]] for s in spans]}


def rule_cases():
    """Random walks on a grid of 0.05, so that thresholds are hit exactly."""
    from silero_vad.utils_vad import get_speech_timestamps_from_probs

    draw = random.Random(11)
    for _ in range(150):
        value, walk = draw.random(), []
        for _ in range(draw.choice([0, 1, 2, 3, 5, 20, 80, 200])):
            value = min(1.0, max(0.0, value + draw.gauss(0, draw.choice([0.05, 0.3]))))
            walk.append(round(value * 20) / 20)
        settings = {
            "threshold": draw.choice([0.5, 0.5, 0.3, 0.1, 0.9]),
            "min_speech_duration_ms": draw.choice([90, 90, 0, 250]),
            "min_silence_duration_ms": draw.choice([90, 90, 0, 96, 100, 500]),
            "speech_pad_ms": draw.choice([30, 30, 0, 100]),
        }
        samples = max(0, len(walk) * 512 - draw.randrange(512))
        spans = get_speech_timestamps_from_probs(walk, audio_length_samples=samples, **settings)
        pairs = [[s["start"], s["end"]] for s in spans]
        yield {"probabilities": walk, "samples": samples, "settings": settings, "spans": pairs}


def write(name, value):
    text = json.dumps({"source": SOURCE, **value}, indent=None, separators=(",", ":"))
    (HERE / name).write_text(text + "\n", encoding="utf-8")


def main():
    import numpy as np
    import soundfile
    import soxr

    pcm = speech()
    soundfile.write(HERE / "vad_speech.flac", pcm, 24_000, subtype="PCM_16")
    audio = soxr.resample(pcm.astype(np.float32) / np.float32(32768), 24_000, 16_000, quality="HQ")
    write("vad_speech.json", {kind: stock(kind, audio) for kind in ("jit", "onnx")})
    write("vad_rule.json", {"cases": list(rule_cases())})


if __name__ == "__main__":
    main()
