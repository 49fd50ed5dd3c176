"""Make the calibration agents' voice (run once; the result is committed).

The agents must need no speech packages, so their voice ships as two short FLAC clips:
``talk`` loops without a pause that Silero would hear, ``mmhm`` is shorter than the
strictest backchannel ceiling (R3, 0.5 s). Needs the ``builder`` extra::

    python scripts/make_calibration_voice.py
"""

from __future__ import annotations

from pathlib import Path

import numpy as np
import soundfile
from hibari import Hibari

RATE_HZ = 24_000
PEAK = 0.5
LOOP_FADE_S = 0.06
FOLDER = Path(__file__).resolve().parents[1] / "dsb_ifeval" / "adapters" / "voice"
# No stops, few fricatives: voiced from end to end, so that the loop has no audible gap.
TALK = "we were always on our way home along a narrow winding lane where no one ran"
MMHM = "Mhm."


def spoken(text: str) -> np.ndarray:
    """The text at a fixed peak, cut where the 10 ms RMS falls below 12 % of its maximum."""
    audio = np.asarray(Hibari(threads=1)(text, seed=0), dtype=np.float32)
    window = RATE_HZ // 100
    frames = audio[: len(audio) // window * window].reshape(-1, window)
    rms = np.sqrt((frames**2).mean(axis=1))
    active = np.flatnonzero(rms > 0.12 * rms.max())
    cut = audio[active[0] * window : (active[-1] + 1) * window]
    return cut * (PEAK / np.abs(cut).max())


def looped(audio: np.ndarray) -> np.ndarray:
    """Cross-fade the end into the beginning, so that repeating the clip leaves no hole."""
    count = int(LOOP_FADE_S * RATE_HZ)
    ramp = np.linspace(0, 1, count, dtype=np.float32)
    loop = audio[:-count].copy()
    loop[:count] = loop[:count] * ramp + audio[-count:] * (1 - ramp)
    return loop


def faded(audio: np.ndarray) -> np.ndarray:
    """Fade both ends over 5 ms."""
    ramp = np.linspace(0, 1, RATE_HZ // 200, dtype=np.float32)
    clip = audio.copy()
    clip[: len(ramp)] *= ramp
    clip[-len(ramp) :] *= ramp[::-1]
    return clip


def main() -> None:
    FOLDER.mkdir(parents=True, exist_ok=True)
    for name, audio in (("talk", looped(spoken(TALK))), ("mmhm", faded(spoken(MMHM)))):
        soundfile.write(FOLDER / f"{name}.flac", audio, RATE_HZ, subtype="PCM_16")
        print(f"{name}: {len(audio) / RATE_HZ:.2f} s, peak {np.abs(audio).max():.2f}")


if __name__ == "__main__":
    main()
