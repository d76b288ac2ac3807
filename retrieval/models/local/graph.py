"""The encoder as an ONNX graph, built from the weights file.

Run as a module it writes the graph to a file: building needs the `onnx` package and some 150 MiB, so it
happens in a process of its own, once, and the bot only ever opens the result (see store.py).

The graph takes the token vectors of one text, shape (1, tokens, hidden), already looked up (the token table
stays outside), and gives the text's mean-pooled vector, shape (1, hidden). One text at a time means no
padding and no mask, and a vector that can't depend on what else is embedded.
"""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray
from onnx import GraphProto, ModelProto, NodeProto, TensorProto, helper, numpy_helper

from retrieval.models.local.weights import Weights

Precision = Literal["int8", "4bit", "fp32"]

_MICROSOFT = "com.microsoft"


class _Builder:
    def __init__(self, weights: Weights, precision: Precision) -> None:
        self._weights = weights
        self._precision = precision
        self._nodes: list[NodeProto] = []
        self._constants: list[TensorProto] = []

    def model(self) -> ModelProto:
        weights = self._weights
        hidden = self._embed("tokens")
        for layer in range(weights.layers):
            hidden = self._layer(hidden, f"l{layer}")
        axis = self._constant("pool.axis", np.array([1]))
        self._op("ReduceMean", [hidden, axis], "vector", keepdims=0)
        float32 = TensorProto.FLOAT
        graph: GraphProto = helper.make_graph(
            self._nodes,
            "multilingual-e5-small",
            [helper.make_tensor_value_info("tokens", float32, [1, "length", weights.hidden])],
            [helper.make_tensor_value_info("vector", float32, [1, weights.hidden])],
            self._constants,
        )
        return helper.make_model(
            graph,
            opset_imports=[helper.make_opsetid("", 18), helper.make_opsetid(_MICROSOFT, 1)],
            ir_version=9,
        )

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
        weights = self._weights
        size = weights.hidden
        joined = self._linear(hidden, [f"{key}.q", f"{key}.k", f"{key}.v"], size, size)
        parts = [f"{key}.query", f"{key}.key", f"{key}.value"]
        self._nodes.append(helper.make_node("Split", [self._bias(joined)], parts, axis=-1, num_outputs=3))
        mixed = self._op("MultiHeadAttention", parts, f"{key}.mixed", _MICROSOFT, num_heads=weights.heads)
        attended = self._bias(self._linear(mixed, [f"{key}.ao"], size, size))
        hidden = self._normalise(self._op("Add", [hidden, attended], f"{key}.sum1"), f"{key}.aln")
        inner = self._linear(hidden, [f"{key}.fi"], size, weights.inner)
        inner = self._op("BiasGelu", list(inner), f"{key}.gelu", _MICROSOFT)
        fed = self._bias(self._linear(inner, [f"{key}.fo"], weights.inner, size))
        return self._normalise(self._op("Add", [hidden, fed], f"{key}.sum2"), f"{key}.oln")

    def _linear(self, tokens: str, names: list[str], columns: int, rows: int) -> tuple[str, str]:
        """The product with matrices side by side, and the bias that is still to be added."""
        weights, name = self._weights, names[0]
        bias = self._constant(f"{name}.bias", np.concatenate([weights.vector(f"{n}.b") for n in names]))
        if self._precision == "4bit":
            return self._linear_4bit(tokens, names, columns, rows), bias
        matrix = np.concatenate([weights.matrix(f"{n}.w", rows, columns) for n in names]).T
        if self._precision == "fp32":
            return self._op(
                "MatMul", [tokens, self._constant(f"{name}.w", matrix)], f"{name}.product"
            ), bias
        scale = np.abs(matrix).max(axis=0) / np.float32(127)
        quantised = np.rint(matrix / scale).astype(np.int8)
        inputs = [
            tokens,
            self._constant(f"{name}.w", quantised),
            self._constant(f"{name}.scale", scale),
            self._constant(f"{name}.zero", np.zeros(len(scale), np.int8)),
        ]
        return self._op("DynamicQuantizeMatMul", inputs, f"{name}.product", _MICROSOFT), bias

    def _linear_4bit(self, tokens: str, names: list[str], columns: int, rows: int) -> str:
        weights, name = self._weights, names[0]
        values, scales = zip(*(weights.nibbles(f"{n}.w", rows, columns) for n in names), strict=True)
        nibbles, scale = np.concatenate(values), np.concatenate(scales)
        packed = nibbles[..., 0::2] | (nibbles[..., 1::2] << 4)
        inputs = [
            tokens,
            self._constant(f"{name}.w", packed),
            self._constant(f"{name}.scale", scale.reshape(-1)),
        ]
        return self._op(
            "MatMulNBits",
            inputs,
            f"{name}.product",
            _MICROSOFT,
            K=columns,
            N=rows * len(names),
            bits=4,
            block_size=32,
            accuracy_level=4,  # activations in int8, a scale for every 32
        )

    def _bias(self, product_and_bias: tuple[str, str]) -> str:
        product, bias = product_and_bias
        return self._op("Add", [product, bias], f"{product}.biased")

    def _normalise(self, hidden: str, key: str) -> str:
        inputs = [
            hidden,
            *(self._constant(f"{key}.{part}", self._weights.vector(f"{key}.{part}")) for part in "wb"),
        ]
        return self._op("LayerNormalization", inputs, f"{key}.out", axis=-1, epsilon=self._weights.epsilon)

    def _constant(self, name: str, values: NDArray[Any]) -> str:
        self._constants.append(numpy_helper.from_array(np.ascontiguousarray(values), name))
        return name

    def _op(self, kind: str, inputs: list[str], output: str, domain: str = "", **attributes: Any) -> str:
        self._nodes.append(helper.make_node(kind, inputs, [output], domain=domain, **attributes))
        return output


def serialise(weights: Weights, precision: Precision) -> bytes:
    """The same weights and precision give the same bytes."""
    return _Builder(weights, precision).model().SerializeToString(deterministic=True)


if __name__ == "__main__":
    _weights_path, _precision, _target = sys.argv[1:]
    Path(_target).write_bytes(serialise(Weights(Path(_weights_path)), _precision))  # pyright: ignore[reportArgumentType]
