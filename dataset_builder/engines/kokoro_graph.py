"""Surgery on the distributed Kokoro graph: a float encoder and visible durations.

The distributed file is dynamically quantised to int8. In that form phoneme durations change
between ONNX Runtime versions: activations are rounded, and a duration is a rounded sum of
them. With the encoder's arithmetic in float32 (the int8 *weights* are kept, as float numbers)
durations are stable, and the decoder, which is nearly all of the work, stays int8 and fast.

Every quantised operation of the encoder looks like this and is replaced as a whole::

    x -> DynamicQuantizeLinear -> MatMulInteger/ConvInteger -> [Add bias] -> Cast -> Mul scale -> y
    x -> MatMul/Conv (dequantised weight, [bias]) -> y

``DynamicQuantizeLSTM`` becomes ``LSTM`` with dequantised weights.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray
from onnx import ModelProto, NodeProto, helper, numpy_helper

from .onnx_session import expose_output

DURATIONS = "/encoder/Clip_output_0"
"""Frames per input token, the output this conversion adds."""

_ENCODER = "/encoder/"
_FLOAT_OPS = {"MatMulInteger": "MatMul", "ConvInteger": "Conv"}

Array = NDArray[Any]


def convert(model: ModelProto) -> ModelProto:
    """Change the model in place and return it."""
    graph = _Graph(model)
    for node in list(model.graph.node):
        if not node.name.startswith(_ENCODER):
            continue
        if node.op_type in _FLOAT_OPS:
            graph.replace_integer_op(node)
        elif node.op_type == "DynamicQuantizeLSTM":
            graph.replace_lstm(node)
    expose_output(model, DURATIONS)
    graph.finish()
    return model


class _Graph:
    """The graph under surgery, with its look-up tables."""

    def __init__(self, model: ModelProto) -> None:
        self._graph = model.graph
        self._weights = {tensor.name: tensor for tensor in model.graph.initializer}
        self._producer = {name: node for node in model.graph.node for name in node.output}
        self._consumers: dict[str, list[NodeProto]] = {}
        for node in model.graph.node:
            for name in node.input:
                self._consumers.setdefault(name, []).append(node)
        self._replaced: dict[str, NodeProto] = {}

    def replace_integer_op(self, node: NodeProto) -> None:
        """A quantised matrix product or convolution, up to the ``Mul`` that rescales it."""
        quantised, weight, _, weight_zero = node.input
        quantize = self._producer[quantised]
        bias: list[str] = []
        step = node
        while step.op_type != "Mul":
            (following,) = self._consumers[step.output[0]]
            if following.op_type == "Add":
                bias = [self._float_bias(following, step.output[0])]
            step = following
        scale = self._weight_scale(step, quantize)
        per_channel = node.op_type == "ConvInteger"
        name = self._dequantised(weight, scale, weight_zero, per_channel)
        attributes = {item.name: helper.get_attribute_value(item) for item in node.attribute}
        self._put(
            step,
            helper.make_node(
                _FLOAT_OPS[node.op_type],
                [quantize.input[0], name, *bias],
                [step.output[0]],
                name=f"{node.name}_float",
                **attributes,
            ),
        )

    def replace_lstm(self, node: NodeProto) -> None:
        """A quantised LSTM; its weights are stored transposed, one scale per direction."""
        inputs = list(node.input)
        names = []
        for weight, scale, zero in ((1, 8, 9), (2, 10, 11)):
            values = self._array(inputs[weight]).astype(np.int32)
            scales = self._array(inputs[scale]).astype(np.float32)
            zeros = self._array(inputs[zero]).astype(np.int32)
            shape = (values.shape[0], 1, -1)
            floats = (values - zeros.reshape(shape)).astype(np.float32) * scales.reshape(shape)
            name = f"{inputs[weight]}_float"
            self._add_weight(name, np.ascontiguousarray(floats.transpose(0, 2, 1)))
            names.append(name)
        attributes = {item.name: helper.get_attribute_value(item) for item in node.attribute}
        self._put(
            node,
            helper.make_node(
                "LSTM",
                [inputs[0], *names, *inputs[3:7]],
                list(node.output),
                name=f"{node.name}_float",
                **attributes,
            ),
        )

    def finish(self) -> None:
        """Put the new nodes in place and drop what no longer leads to an output."""
        nodes = [self._replaced.get(node.output[0], node) for node in self._graph.node]
        needed = {output.name for output in self._graph.output}
        kept = []
        for node in reversed(nodes):
            if needed.intersection(node.output):
                kept.append(node)
                needed.update(node.input)
        weights = [tensor for name, tensor in self._weights.items() if name in needed]
        del self._graph.node[:], self._graph.initializer[:], self._graph.value_info[:]
        self._graph.node.extend(reversed(kept))
        self._graph.initializer.extend(weights)

    def _put(self, old: NodeProto, new: NodeProto) -> None:
        self._replaced[old.output[0]] = new

    def _array(self, name: str) -> Array:
        array: Array = numpy_helper.to_array(self._weights[name])
        return array

    def _add_weight(self, name: str, values: Array) -> None:
        self._weights[name] = numpy_helper.from_array(values, name)

    def _dequantised(self, weight: str, scale: str, zero: str, per_channel: bool) -> str:
        """Float weights under a name of their own; one scale, or one per output channel."""
        name = f"{weight}_float"
        if name not in self._weights:
            values = self._array(weight).astype(np.int32)
            shape = (-1, *(1 for _ in values.shape[1:])) if per_channel else (-1,)
            scales = self._array(scale).astype(np.float32).reshape(shape)
            zeros = self._array(zero).astype(np.int32).reshape(shape)
            self._add_weight(name, (values - zeros).astype(np.float32) * scales)
        return name

    def _weight_scale(self, rescale: NodeProto, quantize: NodeProto) -> str:
        """The weight's factor in ``scale = input scale * weight scale``."""
        for name in rescale.input:
            product = self._producer.get(name)
            if product is not None and quantize.output[1] in product.input:
                (scale,) = (other for other in product.input if other != quantize.output[1])
                return str(scale)
        raise AssertionError(rescale.name)

    def _float_bias(self, add: NodeProto, other: str) -> str:
        """The float bias from which the quantised one is computed, by ``Div`` with the scale."""
        (name,) = (name for name in add.input if name != other)
        step = self._producer[name]
        while step.op_type != "Div":
            step = self._producer[step.input[0]]
        bias = str(step.input[0])
        assert bias in self._weights, bias
        return bias
