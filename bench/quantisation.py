"""Which arithmetic the local embedder should use on a processor, and whether vectors may be mixed.

    python -m bench.quantisation [--questions N]

Three graphs of the same 4-bit weights: `int8` as it is shipped; `exact`, the same integers in an order in
which no product saturates, which is what processors with VNNI or ARM's dot product compute from `int8`; and
`4-bit`, the weights as they are, by onnxruntime's MatMulNBits. nDCG@10 of dense search where queries come
from one graph (rows) and passages from another (columns), on XQuAD (English, Thai, German questions to
English passages) and a pool of SciFact. Needs the evaluation data; times are those of one thread.
"""

from __future__ import annotations

import argparse
import random
import time
from pathlib import Path
from typing import Any

import numpy as np

from retrieval.evaluation.dataset import Dataset, load
from retrieval.models.local.build import build
from retrieval.models.local.graph import EncoderGraph
from retrieval.models.local.session import Session
from retrieval.models.local.tokenizer import Tokenizer
from retrieval.models.local.weights import Weights, locate
from retrieval.models.protocol import Vectors
from tests.data import DATA
from tests.retrieval.models.local.test_processors import unsigned

BLOCK = 32
DISTRACTORS = 220


class FourBitGraph(EncoderGraph):
    """The weights' own blocks, activations in int8 a block (`accuracy_level` 4)."""

    def _linear(self, tokens: str, names: list[str], rows: int, columns: int) -> tuple[str, str]:
        weights, name = self._weights, names[0]
        bias = self._constant(f"{name}.bias", np.concatenate([weights.vector(f"{n}.b") for n in names]))
        blocks = np.concatenate([weights.blocks(f"{n}.w", rows, columns) for n in names])
        scales = np.ascontiguousarray(blocks[..., :2]).view("<f2").astype(np.float32)[..., 0]
        nibbles = np.concatenate([blocks[..., 2:] & np.uint8(15), blocks[..., 2:] >> np.uint8(4)], axis=-1)
        packed = nibbles[..., 0::2] | (nibbles[..., 1::2] << np.uint8(4))
        inputs = [tokens, self._constant(f"{name}.w", packed), self._constant(f"{name}.scale", scales)]
        self.inputs[name] = tokens
        shape: dict[str, Any] = {"K": columns, "N": rows * len(names), "bits": 4, "block_size": BLOCK}
        return self._op(
            "MatMulNBits", inputs, f"{name}.product", "com.microsoft", **shape, accuracy_level=4
        ), bias


class Side:
    """One graph; `seconds` of processor time are counted."""

    def __init__(self, weights: Weights, graph: bytes) -> None:
        self._weights, self._session = weights, Session(graph, threads=1)
        self._pieces = weights.pieces()
        self._tokenizer = Tokenizer(self._pieces)
        self.seconds = 0.0

    def vectors(self, texts: list[str], role: str) -> Vectors:
        rows: list[Vectors] = []
        for text in texts:
            ids = self._tokenizer.encode(f"{role}: {text}", 16_384)[: self._weights.positions - 2]
            tokens = self._weights.token_vectors(np.array([self._pieces.begin, *ids, self._pieces.end]))
            began = time.thread_time()
            vector = self._session.run(tokens)
            self.seconds += time.thread_time() - began
            rows.append(vector / np.float32(np.linalg.norm(vector)))
        return np.stack(rows)


def sets(folder: Path, questions: int) -> dict[str, Dataset]:
    english = folder / "xquad" / "en"
    found = {
        "xquad en": load(english),
        "xquad th": load(folder / "xquad" / "th"),
        "xquad de to en": load(folder / "xquad" / "de", corpus=english),
        "scifact pool": load(folder / "scifact"),
    }
    draw = random.Random(1)
    for data in found.values():
        for query in draw.sample(sorted(data.queries), max(0, len(data.queries) - questions)):
            del data.questions[query], data.qrels[query]
    pool = found["scifact pool"]
    relevant = {document for gains in pool.qrels.values() for document in gains}
    others = [document for document in pool.corpus if document.id not in relevant]
    chosen = {document.id for document in draw.sample(others, DISTRACTORS)} | relevant
    pool.corpus[:] = [document for document in pool.corpus if document.id in chosen]
    return found


def ndcg(similarities: Vectors, data: Dataset) -> float:
    """Mean nDCG@10; rows are queries, columns passages."""
    gains: list[float] = []
    for row, query in zip(similarities, data.queries, strict=True):
        judged = data.qrels[query]
        best = [data.corpus[at].id for at in np.argsort(-row, kind="stable")[:10]]
        discounts = 1 / np.log2(np.arange(2, 12))
        ideal = np.array(sorted(judged.values(), reverse=True)[:10])
        gain = np.array([judged.get(document, 0) for document in best])
        gains.append(float(gain @ discounts[: len(gain)] / (ideal @ discounts[: len(ideal)])))
    return float(np.mean(gains))


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--questions", type=int, default=150)
    options = parser.parse_args()
    assert DATA is not None, "the evaluation data is not there"
    weights = Weights(locate()[0])
    int8 = build(weights)
    graphs = {"int8": int8, "exact": unsigned(int8), "4-bit": FourBitGraph(weights).serialise()}
    sides = {name: Side(weights, graph) for name, graph in graphs.items()}
    for title, data in sets(DATA / "retrieval", options.questions).items():
        asked = list(data.queries.values())
        written = [f"{document.title}\n{document.text}" for document in data.corpus]
        queries = {name: side.vectors(asked, "query") for name, side in sides.items()}
        passages = {name: side.vectors(written, "passage") for name, side in sides.items()}
        print(f"\n{title}: {len(asked)} questions, {len(written)} passages")
        print(f"{'queries | passages':20}", *(f"{name:>9}" for name in sides))
        for one in sides:
            scores = [ndcg(queries[one] @ passages[other].T, data) for other in sides]
            print(f"{one:20}", *(f"{score:9.4f}" for score in scores))
        for one in ("int8", "4-bit"):
            cosine = (passages[one] * passages["exact"]).sum(axis=1)
            print(f"cosine {one} to exact: mean {cosine.mean():.5f}, least {cosine.min():.5f}")
    print("\nprocessor seconds:", *(f"{name} {side.seconds:.1f}" for name, side in sides.items()))


if __name__ == "__main__":
    main()
