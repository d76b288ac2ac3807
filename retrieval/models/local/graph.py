"""The encoder as an ONNX graph, from the weights file.

The graph takes the token vectors of one text, shape (1, tokens, hidden), already looked up (the token table
stays outside), and gives the text's mean-pooled vector, shape (1, hidden). One text at a time means no
padding and no mask, and a vector that can't depend on what else is embedded.

Importing this needs the `onnx` package, which the bot itself never loads: see build.py.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np
from numpy.typing import NDArray
from onnx import ModelProto, NodeProto, TensorProto, helper, numpy_helper

from retrieval.models.local.weights import Weights

#: The greatest magnitude of each input channel of each linear map, by the map's name.
Ranges = Mapping[str, NDArray[np.float32]]

_MICROSOFT = "com.microsoft"
#: How much of the activations' unevenness moves into the weights: 0 none, 1 all. Best of 0.3 to 1.0 here.
_MIGRATION = 0.7


class EncoderGraph:
    """Without `ranges`: float32, and the input of each linear map is an output too, in `inputs`' order.

    With `ranges`: linear maps in int8, weights with a scale for each output, activations with one for the
    text. SmoothQuant (Xiao et al., ICML 2023) first evens out the activations' channels, since a few are
    ten times larger than the rest and would cost all others their precision.
    """

    def __init__(self, weights: Weights, ranges: Ranges | None = None) -> None:
        self._weights = weights
        self._ranges = ranges
        self._nodes: list[NodeProto] = []
        self._constants: list[TensorProto] = []
        #: Linear map -> the tensor it reads.
        self.inputs: dict[str, str] = {}
        self._hidden = self._embed("tokens")
        for layer in range(weights.layers):
            self._hidden = self._layer(self._hidden, f"l{layer}")
        self._op("ReduceMean", [self._hidden, self._constant("axis", np.array([1]))], "vector", keepdims=0)

    def serialise(self) -> bytes:
        float32, size = TensorProto.FLOAT, self._weights.hidden
        taps = [] if self._ranges is not None else self.inputs.values()
        graph = helper.make_graph(
            self._nodes,
            "multilingual-e5-small",
            [helper.make_tensor_value_info("tokens", float32, [1, "length", size])],
            [
                helper.make_tensor_value_info("vector", float32, [1, size]),
                *(helper.make_tensor_value_info(tap, float32, None) for tap in taps),
            ],
            self._constants,
        )
        opsets = [helper.make_opsetid("", 18), helper.make_opsetid(_MICROSOFT, 1)]
        model: ModelProto = helper.make_model(graph, opset_imports=opsets, ir_version=9)
        return model.SerializeToString(deterministic=True)

    def _embed(self, tokens: str) -> str:
        """Adds position and type vectors and normalises."""
        weights = self._weights
        positions = weights.vector("emb.pos").reshape(-1, weights.hidden)[: weights.positions]
        table = self._constant("positions", positions + weights.vector("emb.type")[: weights.hidden])
        zero, one, two = (self._constant(f"index{i}", np.array([i])) for i in range(3))
        shape = self._op("Shape", [tokens], "shape")
        length = self._op("Slice", [shape, one, two], "length")
        rows = self._op("Slice", [table, zero, length, zero], "position")
        return self._normalise(self._op("Add", [tokens, rows], "embedded"), "emb.ln")

    def _layer(self, hidden: str, key: str) -> str:
        size, inner = self._weights.hidden, self._weights.inner
        joined = self._biased(self._linear(hidden, [f"{key}.q", f"{key}.k", f"{key}.v"], size, size))
        parts = [f"{key}.query", f"{key}.key", f"{key}.value"]
        self._nodes.append(helper.make_node("Split", [joined], parts, axis=-1, num_outputs=3))
        heads = self._weights.heads
        mixed = self._op("MultiHeadAttention", parts, f"{key}.mixed", _MICROSOFT, num_heads=heads)
        attended = self._biased(self._linear(mixed, [f"{key}.ao"], size, size))
        hidden = self._normalise(self._op("Add", [hidden, attended], f"{key}.attended"), f"{key}.aln")
        widened = self._linear(hidden, [f"{key}.fi"], inner, size)
        active = self._op("BiasGelu", list(widened), f"{key}.active", _MICROSOFT)
        fed = self._biased(self._linear(active, [f"{key}.fo"], size, inner))
        return self._normalise(self._op("Add", [hidden, fed], f"{key}.fed"), f"{key}.oln")

    def _linear(self, tokens: str, names: list[str], rows: int, columns: int) -> tuple[str, str]:
        """The product with matrices side by side, and the bias that is still to be added."""
        weights, name = self._weights, names[0]
        bias = self._constant(f"{name}.bias", np.concatenate([weights.vector(f"{n}.b") for n in names]))
        matrix = np.concatenate([weights.matrix(f"{n}.w", rows, columns) for n in names]).T
        self.inputs[name] = tokens
        if self._ranges is None:
            return self._op(
                "MatMul", [tokens, self._constant(f"{name}.w", matrix)], f"{name}.product"
            ), bias
        balance = _balance(self._ranges[name], matrix)
        even = self._op("Mul", [tokens, self._constant(f"{name}.balance", 1 / balance)], f"{name}.even")
        matrix = matrix * balance[:, None]
        scale = np.abs(matrix).max(axis=0) / np.float32(127)
        inputs = [
            even,
            self._constant(f"{name}.w", np.rint(matrix / scale).astype(np.int8)),
            self._constant(f"{name}.scale", scale),
            self._constant(f"{name}.zero", np.zeros(len(scale), np.int8)),
        ]
        return self._op("DynamicQuantizeMatMul", inputs, f"{name}.product", _MICROSOFT), bias

    def _biased(self, product_and_bias: tuple[str, str]) -> str:
        product, _ = product_and_bias
        return self._op("Add", list(product_and_bias), f"{product}.biased")

    def _normalise(self, hidden: str, key: str) -> str:
        names = [f"{key}.w", f"{key}.b"]
        inputs = [hidden, *(self._constant(name, self._weights.vector(name)) for name in names)]
        return self._op("LayerNormalization", inputs, f"{key}.out", axis=-1, epsilon=self._weights.epsilon)

    def _constant(self, name: str, values: NDArray[Any]) -> str:
        self._constants.append(numpy_helper.from_array(np.ascontiguousarray(values), name))
        return name

    def _op(self, kind: str, inputs: list[str], output: str, domain: str = "", **attributes: Any) -> str:
        self._nodes.append(helper.make_node(kind, inputs, [output], domain=domain, **attributes))
        return output


def _balance(range_: NDArray[np.float32], matrix: NDArray[np.float32]) -> NDArray[np.float32]:
    """What to divide the activations by and multiply the weights with, for each input channel."""
    activations = np.maximum(range_, np.float32(1e-5))
    weights = np.maximum(np.abs(matrix).max(axis=1), np.float32(1e-5))
    return (activations**_MIGRATION / weights ** (1 - _MIGRATION)).astype(np.float32)
