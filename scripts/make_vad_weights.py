"""Write the model files of ``dsb_ifeval/vad/weights`` from the silero-vad wheel.

Silero's *sequence* model (one ONNX call for many 32 ms frames, MIT licence) spends most of
its time in convolutions over four positions, which ONNX Runtime runs one frame at a time.
The same weights as plain matrix products over all frames at once are two to three times faster.
This script copies the sequence model unchanged and writes that second graph beside it::

    windows [4T, 256] -> STFT basis -> magnitude [T, 4 x 129]
      -> conv 129-128 k3 -> conv 128-64 k3 s2 -> conv 64-64 k3 s2 -> conv 64-128 k3
      -> LSTM 128 -> ReLU -> 128-1 -> sigmoid -> probs [T]

    pip install onnx==1.23.2 && pip install --no-deps silero-vad==6.2.3
    python scripts/make_vad_weights.py [--check]

Only this script needs the ``onnx`` package. The result is the same bytes on every run; its
sha256 is ``GEMM_SHA256`` in ``dsb_ifeval/vad/weights.py``.
"""

from __future__ import annotations

import argparse
import hashlib
import importlib.util
from pathlib import Path
from typing import Any

import numpy as np
import onnx
from onnx import TensorProto, helper, numpy_helper

SOURCE_NAME = "silero_vad_16k_sequence.onnx"
SOURCE_SHA256 = "9ccdacc4719d8aa7e45a77536bfabec45a03ba1f2fad5e241ab4060b24238a85"
GEMM_NAME = "silero_vad_16k_gemm.onnx"
WEIGHTS = Path(__file__).resolve().parent.parent / "dsb_ifeval" / "vad" / "weights"
BINS, POSITIONS, HIDDEN = 129, 4, 128


class Graph:
    """Collects nodes and constants; ``add`` returns the name of the node's output."""

    def __init__(self) -> None:
        self.nodes: list[Any] = []
        self.constants: dict[str, Any] = {}

    def constant(self, name: str, value: Any) -> str:
        self.constants[name] = np.ascontiguousarray(value)
        return name

    def add(self, op: str, inputs: list[str], output: str, **attributes: Any) -> str:
        self.nodes.append(helper.make_node(op, inputs, [output], **attributes))
        return output

    def dense(self, source: str, name: str, weight: Any, bias: Any) -> str:
        parts = [self.constant(f"{name}_weight", weight), self.constant(f"{name}_bias", bias)]
        return self.add("Gemm", [source, *parts], f"{name}_sum")

    def reshape(self, source: str, output: str, shape: list[int]) -> str:
        return self.add(
            "Reshape", [source, self.constant(f"{output}_shape", np.int64(shape))], output
        )


def conv_as_matrix(kernel: Any, positions: int) -> Any:
    """A padded, stride-2 convolution over few positions as one matrix.

    Args:
        kernel: [out channels, in channels, 3].
        positions: how many input positions there are.

    Returns:
        [positions x in channels, (positions / 2) x out channels].
    """
    out_channels, in_channels, taps = kernel.shape
    starts = range(0, positions, 2)
    matrix = np.zeros((positions, in_channels, len(starts), out_channels), np.float32)
    for column, start in enumerate(starts):
        for tap in range(taps):
            row = start + tap - 1
            if 0 <= row < positions:
                matrix[row, :, column] = kernel[:, :, tap].T
    return matrix.reshape(positions * in_channels, -1)


def spectrum(graph: Graph, basis: Any) -> str:
    """Magnitudes, [frames, 4 x 129]."""
    graph.add("MatMul", ["windows", graph.constant("basis", basis[:, 0].T)], "complex")
    halves = graph.constant("halves", np.int64([BINS, BINS]))
    graph.nodes.append(helper.make_node("Split", ["complex", halves], ["re", "im"], axis=1))
    power = [graph.add("Mul", [part, part], f"{part}_squared") for part in ("re", "im")]
    graph.add("Sqrt", [graph.add("Add", power, "power")], "magnitude")
    return graph.reshape("magnitude", "frames", [-1, POSITIONS * BINS])


def first_conv(graph: Graph, source: str, kernel: Any, bias: Any) -> str:
    """The widest convolution: one product per position, on a zero-padded row."""
    pads = graph.constant("pads", np.int64([0, BINS, 0, BINS]))
    graph.add("Pad", [source, pads], "padded")
    columns = graph.constant("columns", np.int64([1]))
    weight = kernel.transpose(2, 1, 0).reshape(3 * BINS, HIDDEN)
    outputs = []
    for position in range(POSITIONS):
        begin = graph.constant(f"begin{position}", np.int64([BINS * position]))
        end = graph.constant(f"end{position}", np.int64([BINS * (position + 3)]))
        graph.add("Slice", ["padded", begin, end, columns], f"slice{position}")
        outputs.append(graph.dense(f"slice{position}", "conv0", weight, bias))
        graph.nodes[-1].output[0] = outputs[-1] = f"conv0_sum{position}"
    return graph.add("Relu", [graph.add("Concat", outputs, "conv0_sum", axis=1)], "conv0")


def build(source: Any) -> bytes:
    weights = {t.name: numpy_helper.to_array(t) for t in source.graph.initializer}
    lstm = next(node for node in source.graph.node if node.op_type == "LSTM")
    kernel = [weights[f"encoder.{i}.weight"] for i in range(4)]
    bias = [weights[f"encoder.{i}.bias"] for i in range(4)]
    graph = Graph()
    hidden = spectrum(graph, weights["stft.forward_basis_buffer"])
    hidden = first_conv(graph, hidden, kernel[0], bias[0])
    layers = [
        (conv_as_matrix(kernel[1], 4), np.tile(bias[1], 2)),
        (conv_as_matrix(kernel[2], 2), bias[2]),
        (kernel[3][:, :, 1].T, bias[3]),
    ]
    for index, (weight, offset) in enumerate(layers, start=1):
        hidden = graph.add(
            "Relu", [graph.dense(hidden, f"conv{index}", weight, offset)], f"conv{index}"
        )
    steps = graph.reshape(hidden, "steps", [-1, 1, HIDDEN])
    tensors = [graph.constant(f"lstm{i}", weights[lstm.input[i]]) for i in (1, 2, 3)]
    graph.nodes.append(
        helper.make_node(
            "LSTM", [steps, *tensors, "", "h", "c"], ["sequence", "hn", "cn"], hidden_size=HIDDEN
        )
    )
    hidden = graph.add("Relu", [graph.reshape("sequence", "rows", [-1, HIDDEN])], "features")
    logit = graph.dense(
        hidden, "out", weights["output.weight"].reshape(HIDDEN, 1), weights["output.bias"]
    )
    graph.reshape(graph.add("Sigmoid", [logit], "column"), "speech_probs", [-1])
    return serialize(graph)


def serialize(graph: Graph) -> bytes:
    def tensor(name: str, shape: list[int | str]) -> Any:
        return helper.make_tensor_value_info(name, TensorProto.FLOAT, shape)

    state: list[int | str] = [1, 1, HIDDEN]
    body = helper.make_graph(
        graph.nodes,
        "silero_vad_16k_gemm",
        [tensor("windows", ["rows", 256]), tensor("h", state), tensor("c", state)],
        [tensor("speech_probs", ["frames"]), tensor("hn", state), tensor("cn", state)],
        [numpy_helper.from_array(value, name) for name, value in graph.constants.items()],
    )
    model = helper.make_model(body, opset_imports=[helper.make_opsetid("", 16)])
    model.ir_version = 8
    model.producer_name = "dsb_ifeval scripts/make_vad_weights.py"
    onnx.checker.check_model(model)
    return bytes(model.SerializeToString(deterministic=True))


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--check", action="store_true", help="compare with the files on disk")
    check = parser.parse_args().check
    spec = importlib.util.find_spec("silero_vad")  # finds the folder without importing torch
    if spec is None or not spec.submodule_search_locations:
        raise SystemExit("silero_vad is missing: pip install --no-deps silero-vad==6.2.3")
    raw = (Path(spec.submodule_search_locations[0]) / "data" / SOURCE_NAME).read_bytes()
    if hashlib.sha256(raw).hexdigest() != SOURCE_SHA256:
        raise SystemExit(f"{SOURCE_NAME} is not the file of silero-vad 6.2.3")
    failed = False
    for name, content in ((SOURCE_NAME, raw), (GEMM_NAME, build(onnx.load_from_string(raw)))):
        path = WEIGHTS / name
        if check:
            failed |= not path.is_file() or path.read_bytes() != content
        else:
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_bytes(content)
        print(hashlib.sha256(content).hexdigest(), len(content), name)
    if failed:
        print("the files in", WEIGHTS, "differ: run without --check")
    return int(failed)


if __name__ == "__main__":
    raise SystemExit(main())
