"""ONNX Runtime sessions with the settings that make audio reproducible: one thread, CPU."""

from __future__ import annotations

import hashlib
from pathlib import Path
from typing import Any

from dsb_ifeval.errors import AdapterUnavailable


def open_session(model: bytes | str) -> Any:
    """A single-threaded CPU session from a serialised model or a file."""
    import onnxruntime

    options = onnxruntime.SessionOptions()
    options.intra_op_num_threads = options.inter_op_num_threads = 1
    options.log_severity_level = 3
    return onnxruntime.InferenceSession(model, options, providers=["CPUExecutionProvider"])


def expose_output(model: Any, tensor: str) -> None:
    """Make an inner float tensor of an ``onnx.ModelProto`` one more output."""
    from onnx import TensorProto, helper

    model.graph.output.append(helper.make_tensor_value_info(tensor, TensorProto.FLOAT, None))


def check_sha256(data: bytes, expected: str, what: str) -> None:
    """Refuse a model file that is not the one the engine was calibrated with.

    Raises:
        AdapterUnavailable: the hash differs.
    """
    actual = hashlib.sha256(data).hexdigest()
    if actual != expected:
        raise AdapterUnavailable(
            f"{what}: sha256 is {actual}, expected {expected}; install the pinned package "
            "versions (pip install 'dsb-ifeval[builder]')"
        )


def read_model(path: Path, expected_sha256: str, what: str) -> bytes:
    """A model file's bytes, hash checked."""
    try:
        data = path.read_bytes()
    except OSError as error:
        raise AdapterUnavailable(f"{what}: cannot read {path}: {error.strerror}") from error
    check_sha256(data, expected_sha256, what)
    return data
