"""Silero's weights: which files, which bytes, and the ONNX Runtime sessions that hold them.

Both files come from ``silero_vad_16k_sequence.onnx`` of the silero-vad 6.2.3 wheel (MIT, see
NOTICE): the first is that file unchanged, the second the same weights as matrix products,
written by ``scripts/make_vad_weights.py``. (``silero_vad_16k.safetensors`` of the same wheel
holds other weights.) A session is loaded once per process, on one thread; nothing here imports
``onnxruntime`` before the first one is asked for.
"""

from __future__ import annotations

import hashlib
from functools import cache
from importlib import import_module
from pathlib import Path
from typing import Any

from dsb_ifeval.errors import DsbError

SILERO_VERSION = "6.2.3"
MODEL_NAME = "silero_vad_16k_sequence.onnx"
MODEL_SHA256 = "9ccdacc4719d8aa7e45a77536bfabec45a03ba1f2fad5e241ab4060b24238a85"
"""The file of the silero-vad wheel, from which every other weight file is made."""

GEMM_NAME = "silero_vad_16k_gemm.onnx"
GEMM_SHA256 = "04b9a4065962c5d501ce64344240319825a0880342673f8254567d9ab814172a"

_HASHES = {MODEL_NAME: MODEL_SHA256, GEMM_NAME: GEMM_SHA256}
_FOLDER = Path(__file__).parent / "weights"
_ERRORS_ONLY = 3


def read_verified(path: Path, sha256: str) -> bytes:
    """The file's bytes.

    Raises:
        DsbError: the file is missing or is not the one this version was tested with.
    """
    try:
        content = path.read_bytes()
    except OSError as error:
        raise DsbError(f"{path}: {error.strerror}; reinstall dsb-ifeval") from error
    found = hashlib.sha256(content).hexdigest()
    if found != sha256:
        raise DsbError(f"{path}: sha256 is {found}, expected {sha256}; reinstall dsb-ifeval")
    return content


@cache
def session(name: str) -> Any:
    """The ``onnxruntime.InferenceSession`` of a weight file: one thread, CPU, errors only."""
    content = read_verified(_FOLDER / name, _HASHES[name])
    runtime = import_module("onnxruntime")
    options = runtime.SessionOptions()
    options.intra_op_num_threads = 1
    options.inter_op_num_threads = 1
    options.log_severity_level = _ERRORS_ONLY
    return runtime.InferenceSession(content, options, providers=["CPUExecutionProvider"])
