"""Audio in and out: PCM16 and float32, FLAC, resampling, sample hashes.

Stimuli and recordings are int16; models and the VAD get float32 in [-1, 1).
"""

from __future__ import annotations

import hashlib
import io
from pathlib import Path
from typing import TypeAlias

import numpy as np
import numpy.typing as npt

from dsb_ifeval.errors import RecordingError

Pcm16: TypeAlias = npt.NDArray[np.int16]
Float32: TypeAlias = npt.NDArray[np.float32]


def to_float(pcm: Pcm16) -> Float32:
    """int16 to float32, full scale 32768."""
    audio: Float32 = pcm.astype(np.float32) / np.float32(32768.0)
    return audio


def to_pcm16(audio: npt.NDArray[np.generic]) -> Pcm16:
    """Float (full scale 1.0, clipped) or int16 to int16.

    Raises:
        ValueError: not one-dimensional, not float or int16, or not finite.
    """
    if not isinstance(audio, np.ndarray):
        raise ValueError(f"audio is {type(audio).__name__}, expected a numpy array")
    if audio.ndim != 1:
        raise ValueError(f"audio has shape {audio.shape}, expected (samples,)")
    if audio.dtype == np.int16:
        return audio.astype(np.int16, copy=False)
    if not np.issubdtype(audio.dtype, np.floating):
        raise ValueError(f"audio has dtype {audio.dtype}, expected float32 or int16")
    scaled = np.rint(audio.astype(np.float32) * np.float32(32768.0))
    if not np.isfinite(scaled).all():
        raise ValueError("audio holds NaN or infinity")
    pcm: Pcm16 = np.clip(scaled, -32768, 32767).astype(np.int16)
    return pcm


def sample_hash(pcm: Pcm16) -> str:
    """sha256 of the little-endian samples; independent of any file format or encoder."""
    return hashlib.sha256(np.ascontiguousarray(pcm, dtype="<i2").tobytes()).hexdigest()


def resample(audio: Float32, source_hz: int, target_hz: int) -> Float32:
    """Whole-signal resampling with soxr HQ: zero delay, shape ``(n * target / source,)``."""
    if source_hz == target_hz:
        return audio
    import soxr

    resampled: Float32 = soxr.resample(audio, source_hz, target_hz, quality="HQ")
    return resampled


def encode_flac(pcm: Pcm16, rate_hz: int) -> bytes:
    """Lossless FLAC of shape ``(n,)`` or ``(n, channels)``."""
    import soundfile

    buffer = io.BytesIO()
    soundfile.write(buffer, pcm, rate_hz, format="FLAC", subtype="PCM_16")
    return buffer.getvalue()


def decode(data: bytes) -> tuple[Pcm16, int]:
    """Samples ``(n, channels)`` and rate of an encoded sound file held in memory.

    Raises:
        RecordingError: not a readable sound file, or damaged.
    """
    import soundfile

    try:
        samples, rate_hz = soundfile.read(io.BytesIO(data), dtype="int16", always_2d=True)
    except (soundfile.LibsndfileError, RuntimeError) as error:
        reason = getattr(error, "error_string", error)  # without the buffer's address
        raise RecordingError(f"not a readable sound file: {reason}") from error
    return samples, int(rate_hz)


def read_stereo(path: Path, rate_hz: int) -> Pcm16:
    """A two-channel recording, shape ``(n, 2)``: channel 0 user, channel 1 model (F.3).

    Raises:
        RecordingError: missing, unreadable, not two channels, or another sample rate.
    """
    try:
        samples, found_hz = decode(path.read_bytes())
    except OSError as error:
        raise RecordingError(f"{path}: {error.strerror or error}") from error
    except RecordingError as error:
        raise RecordingError(f"{path}: {error}") from error
    if samples.shape[1] != 2:
        raise RecordingError(
            f"{path}: {samples.shape[1]} channel(s), expected 2 (user, model); "
            "record both sides on one clock"
        )
    if found_hz != rate_hz:
        raise RecordingError(f"{path}: {found_hz} Hz, expected {rate_hz} Hz")
    return samples
