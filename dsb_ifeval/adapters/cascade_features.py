"""Whisper's log-mel features with the same bits whatever the number of threads.

faster-whisper multiplies by the mel filters through BLAS, whose sums depend on how many threads
share them: with ``OMP_NUM_THREADS=1``, as launchers of several processes set it, and without,
all of 36 clips had other features and 4 of them another transcript. Here the product is numpy's
own loop: one thread, one order, about 4 ms for 13 s of audio.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from dsb_ifeval.audio import Float32

_PADDING = 160
_FLOOR = 1e-10
_RANGE = 8.0


def log_mel(extractor: Any, samples: Float32, frames: int) -> Float32:
    """Features of float32 ``(n,)`` at 16 kHz, shape ``(mels, frames)``, zeros after the audio.

    Args:
        extractor: faster-whisper's ``FeatureExtractor``; its filters and its STFT are used.
        frames: of 10 ms; longer audio is cut.
    """
    window = np.hanning(extractor.n_fft + 1)[:-1].astype(np.float32)
    spectrum = extractor.stft(
        np.pad(samples, (0, _PADDING)),
        extractor.n_fft,
        extractor.hop_length,
        window=window,
        return_complex=True,
    ).astype(np.complex64)
    power = np.abs(spectrum[..., :-1]) ** 2
    mel = np.einsum("mf,ft->mt", extractor.mel_filters, power)
    logs = np.log10(np.maximum(mel, _FLOOR))
    found = (np.maximum(logs, logs.max() - _RANGE) + 4.0) / 4.0
    features: Float32 = np.zeros((len(found), frames), np.float32)
    kept = found[:, :frames]
    features[:, : kept.shape[1]] = kept
    return features
