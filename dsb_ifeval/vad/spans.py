"""Speech spans of a recording, on its own clock (Appendix C.2)."""

from __future__ import annotations

from collections.abc import Sequence
from importlib.metadata import version

import numpy as np
from numpy.typing import NDArray

from dsb_ifeval.audio import resample, to_float
from dsb_ifeval.benchmark.model import VadSettings
from dsb_ifeval.errors import RecordingError
from dsb_ifeval.intervals import Interval, samples_to_ms
from dsb_ifeval.vad.segments import spans_of_probabilities
from dsb_ifeval.vad.silero import RATE_HZ, Samples, SileroVad
from dsb_ifeval.vad.weights import GEMM_SHA256, MODEL_SHA256, SILERO_VERSION

VAD_SIGNATURE = f"silero:{SILERO_VERSION}|model:{MODEL_SHA256[:12]}"
"""The part of :func:`vad_signature` that names the weights."""

AnySamples = NDArray[np.float32] | NDArray[np.int16]


def vad_signature(settings: VadSettings, *, reference: bool = False) -> str:
    """Everything that can change a span, in one line, for the score file.

    >>> from dsb_ifeval.vad import PAPER_SETTINGS
    >>> vad_signature(PAPER_SETTINGS).split("|")[2:5]
    ['graph:gemm-04b9a4065962', 'rate:16000', 'thr:0.5']
    """
    graph = "sequence" if reference else f"gemm-{GEMM_SHA256[:12]}"
    parts = [
        VAD_SIGNATURE,
        f"graph:{graph}",
        f"rate:{settings.rate_hz}",
        f"thr:{settings.threshold:g}",
        f"minspeech:{settings.min_speech_ms}",
        f"minsilence:{settings.min_silence_ms}",
        f"pad:{settings.speech_pad_ms}",
        f"resampler:soxr-HQ-{version('soxr')}",
        f"onnxruntime:{version('onnxruntime')}",
    ]
    return "|".join(parts)


def speech_spans(
    audio: AnySamples, rate_hz: int, settings: VadSettings, *, reference: bool = False
) -> tuple[Interval, ...]:
    """Unmerged speech spans of one channel; join them with ``intervals.merge``.

    Args:
        audio: float32 (full scale 1.0) or int16, shape (n,).
        rate_hz: sample rate of ``audio``; resampled to 16 kHz in float32 when it differs.
        settings: thresholds (Appendix C.2).
        reference: use Silero's own graph (see :class:`SileroVad`).

    Returns:
        Spans in milliseconds from the first sample.

    Raises:
        RecordingError: more than one channel, or NaN or infinite samples.
    """
    vad = SileroVad(reference=reference)
    return _spans(vad, audio, rate_hz, settings)


def spans_batch(
    audios: Sequence[AnySamples], rate_hz: int, settings: VadSettings, *, reference: bool = False
) -> list[tuple[Interval, ...]]:
    """:func:`speech_spans` of several channels of one sample rate."""
    vad = SileroVad(reference=reference)
    return [_spans(vad, audio, rate_hz, settings) for audio in audios]


def _spans(
    vad: SileroVad, audio: AnySamples, rate_hz: int, settings: VadSettings
) -> tuple[Interval, ...]:
    if settings.rate_hz != RATE_HZ:
        raise ValueError(f"vad.rate_hz is {settings.rate_hz}, this model runs at {RATE_HZ}")
    at_16k = to_16k(audio, rate_hz)
    probabilities: list[float] = vad.probabilities(at_16k).tolist()
    spans = spans_of_probabilities(probabilities, at_16k.size, settings)
    return tuple(
        Interval(samples_to_ms(start, RATE_HZ), samples_to_ms(end, RATE_HZ)) for start, end in spans
    )


def to_16k(audio: AnySamples, rate_hz: int) -> Samples:
    """Float32 samples at 16 kHz (soxr HQ), checked.

    Raises:
        RecordingError: more than one channel, or NaN or infinite samples.
    """
    if audio.ndim != 1:
        raise RecordingError(f"expected one channel of shape (n,), got shape {audio.shape}")
    if audio.dtype == np.int16:
        samples = to_float(audio.astype(np.int16, copy=False))
    else:
        samples = np.ascontiguousarray(audio, np.float32)
        if not np.isfinite(samples).all():
            raise RecordingError("the recording has NaN or infinite samples")
    return resample(samples, rate_hz, RATE_HZ) if samples.size else samples
