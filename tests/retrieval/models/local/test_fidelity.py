"""The encoder against float64 arithmetic on the same weights.

`REFERENCE` was computed from the weights file by plain matrix products in numpy, and its token ids by the
`tokenizers` package: the first 8 of 384 dimensions of five unit vectors.
"""

from pathlib import Path

import numpy as np
import pytest

from retrieval.models.local import E5Embedder
from retrieval.models.local.encoder import Role
from retrieval.models.local.graph import EncoderGraph
from retrieval.models.local.session import Session
from retrieval.models.local.store import graph_file
from retrieval.models.local.tokenizer import Tokenizer
from retrieval.models.local.weights import Weights, locate
from retrieval.models.protocol import Vectors

REFERENCE: dict[tuple[Role, str], list[float]] = {
    ("query", "How often do I have to change my API key?"): [
        0.03195, -0.03766, -0.03996, -0.02868, 0.03294, -0.10969, 0.00256, 0.04465,
    ],
    ("passage", "Keys expire after 90 days; the old key works for 24 more hours."): [
        0.00659, -0.0043, -0.00264, -0.02303, 0.08344, -0.05569, -0.02434, -0.0326,
    ],
    ("query", "Wie oft muss ich meinen API-Schlüssel wechseln?"): [
        0.04529, -0.04402, -0.05411, -0.04247, 0.05655, -0.09719, -0.01741, 0.04936,
    ],
    ("passage", "東京タワーは1958年に完成した高さ333メートルの電波塔です。"): [
        -0.00773, -0.02798, 0.02299, -0.05273, 0.06804, -0.0135, 0.01277, 0.0816,
    ],
    ("passage", "يجب تغيير كلمة المرور كل ثلاثة أشهر 🔑"): [
        0.04667, 0.00152, -0.0198, -0.04374, 0.06934, -0.00347, -0.03497, 0.02648,
    ],
}  # fmt: skip


@pytest.fixture(scope="module")
def exact(weights: Weights) -> Vectors:
    return vectors(weights, Session(EncoderGraph(weights).serialise(), threads=1))


@pytest.fixture(scope="module")
def quantised(weights: Weights, cache_dir: Path) -> Vectors:
    return vectors(weights, Session(graph_file(cache_dir, *locate()), threads=1))


def vectors(weights: Weights, session: Session) -> Vectors:
    tokenizer, pieces = Tokenizer(weights.pieces()), weights.pieces()
    rows: list[Vectors] = []
    for role, text in REFERENCE:
        ids = [pieces.begin, *tokenizer.encode(f"{role}: {text}", 1000), pieces.end]
        vector = session.run(weights.token_vectors(np.array(ids)))
        rows.append(vector / np.float32(np.linalg.norm(vector)))
    return np.stack(rows)


def test_the_graph_in_float32_is_the_model(exact: Vectors) -> None:
    np.testing.assert_allclose(exact[:, :8], list(REFERENCE.values()), atol=2e-5)


def test_int8_stays_close(exact: Vectors, quantised: Vectors) -> None:
    np.testing.assert_allclose(quantised, exact, atol=0.02)
    assert (exact * quantised).sum(axis=1).min() > 0.997


async def test_the_embedder_gives_these_vectors(quantised: Vectors, embedder: E5Embedder) -> None:
    for (role, text), vector in zip(REFERENCE, quantised, strict=True):
        embed = embedder.embed_queries if role == "query" else embedder.embed_passages
        assert (await embed([text]))[0] @ vector > 0.9999
