"""Speech activity: Silero VAD v6 without torch (Appendix C.2).

For scoring, :func:`speech_spans` gives the spans of a recording, sample for sample those of
``silero_vad.get_speech_timestamps``. At run time, :class:`SpeechTracker` follows one stream.
Importing this package loads neither ``onnxruntime`` nor the weights.

>>> import numpy as np
>>> from dsb_ifeval.vad import PAPER_SETTINGS, speech_spans
>>> speech_spans(np.zeros(24_000, np.float32), 24_000, PAPER_SETTINGS)
()
"""

from __future__ import annotations

from dsb_ifeval.vad.activity import SpeechTracker
from dsb_ifeval.vad.segments import PAPER_SETTINGS, spans_of_probabilities
from dsb_ifeval.vad.silero import SileroVad
from dsb_ifeval.vad.spans import VAD_SIGNATURE, spans_batch, speech_spans, vad_signature
from dsb_ifeval.vad.weights import MODEL_SHA256

__all__ = [
    "MODEL_SHA256",
    "PAPER_SETTINGS",
    "VAD_SIGNATURE",
    "SileroVad",
    "SpeechTracker",
    "spans_batch",
    "spans_of_probabilities",
    "speech_spans",
    "vad_signature",
]
