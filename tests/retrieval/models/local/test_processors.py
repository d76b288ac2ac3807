"""One int8 graph for every processor: where its products saturate, vectors must stay interchangeable.

Processors without VNNI (AVX2 and older) add pairs of products of an unsigned activation and a signed weight
in 16 bits, which may overflow; with unsigned weights onnxruntime takes the slower way that is exact, and
so gives here what processors with VNNI or with ARM's dot product give.
"""

from pathlib import Path

import numpy as np
import onnx
import pytest
from onnx import numpy_helper

from retrieval.models.local.session import Session
from retrieval.models.local.store import graph_file
from retrieval.models.local.tokenizer import Tokenizer
from retrieval.models.local.weights import Weights, locate
from retrieval.models.protocol import Vectors

TEXTS = [
    "How often do I have to change my API key?",
    "Keys expire after 90 days; the old key works for 24 more hours.",
    "Wie viele Urlaubstage habe ich im Jahr, und bis wann muss ich sie nehmen?",
    "東京タワーは1958年に完成した高さ333メートルの電波塔です。",
    "يجب تغيير كلمة المرور كل ثلاثة أشهر 🔑",
    "การเข้ารหัสต้องเปลี่ยนทุกเก้าสิบวัน",
    "ERR_CONN_4092 in v2.3.1, see RFC 9110 section 15.5.20",
    "x",
    "Las visitas se anuncian en recepción con un día de antelación. " * 20,
]


def unsigned(graph: bytes) -> bytes:
    """The same integers, stored as unsigned ones around 128."""
    model = onnx.load_from_string(graph)
    matrices = {
        name
        for node in model.graph.node
        if node.op_type == "DynamicQuantizeMatMul"
        for name in (node.input[1], node.input[3])
    }
    for constant in model.graph.initializer:
        if constant.name in matrices:
            values = numpy_helper.to_array(constant).astype(np.int16) + 128
            constant.CopyFrom(numpy_helper.from_array(values.astype(np.uint8), constant.name))
    return model.SerializeToString()


@pytest.fixture(scope="module")
def graph(cache_dir: Path) -> bytes:
    return graph_file(cache_dir, *locate()).read_bytes()


def vectors(weights: Weights, graph: bytes) -> Vectors:
    session, tokenizer, pieces = Session(graph, threads=1), Tokenizer(weights.pieces()), weights.pieces()
    rows: list[Vectors] = []
    for text in TEXTS:
        ids = [pieces.begin, *tokenizer.encode(f"passage: {text}", 1000), pieces.end]
        vector = session.run(weights.token_vectors(np.array(ids)))
        rows.append(vector / np.float32(np.linalg.norm(vector)))
    return np.stack(rows)


def test_vectors_of_all_processors_are_interchangeable(weights: Weights, graph: bytes) -> None:
    here, exact = vectors(weights, graph), vectors(weights, unsigned(graph))
    assert (here * exact).sum(axis=1).min() > 0.998
    np.testing.assert_allclose(here @ exact.T, exact @ exact.T, atol=0.004)
