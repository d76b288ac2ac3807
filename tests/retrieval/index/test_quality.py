"""Keyword search on public sets, against floors from when it was written: no one may lower them unseen."""

import csv
import json
import math
from pathlib import Path

import numpy as np
import pytest

from retrieval.documents import chunk_id
from retrieval.index.edge import EdgeIndex
from retrieval.index.protocol import QueryText
from tests.data import DATA, needs_data
from tests.retrieval.index.support import ALL, DIMENSION, MODEL, chunks_of, meta_of

FLOORS = {
    "xquad/en": 0.967,
    "xquad/de": 0.942,
    "xquad/es": 0.959,
    "xquad/ar": 0.942,
    "xquad/zh": 0.962,
    "xquad/th": 0.958,
    "scifact": 0.693,
}


def lines(path: Path) -> list[dict[str, str]]:
    return [json.loads(line) for line in path.read_text(encoding="utf-8").splitlines()]


@needs_data
@pytest.mark.data
@pytest.mark.slow
@pytest.mark.parametrize("name", FLOORS)
async def test_keyword_search_holds_its_floor(tmp_path: Path, name: str) -> None:
    assert DATA is not None
    folder = DATA / "retrieval" / name
    language = name.partition("/")[2] or "en"
    relevant: dict[str, set[str]] = {}
    with (folder / "qrels.tsv").open(encoding="utf-8") as file:
        for query, document, grade in list(csv.reader(file, delimiter="\t"))[1:]:
            if int(grade) > 0:
                relevant.setdefault(query, set()).add(document)
    corpus = lines(folder / "corpus.jsonl")
    meta = meta_of(title="")
    texts = [f"{document['title']}\n{document['text']}" for document in corpus]
    ids = {chunk_id(meta.version_id, number): document["_id"] for number, document in enumerate(corpus)}
    vector = np.eye(1, DIMENSION, dtype=np.float32)
    index = EdgeIndex(tmp_path)
    await index.open(MODEL)
    await index.stage(chunks_of(meta, texts, language), np.repeat(vector, len(corpus), 0))
    await index.publish("w", "d", "d-v1")
    gains: list[float] = []
    for query in lines(folder / "queries.jsonl"):
        if wanted := relevant.get(query["_id"]):
            text = QueryText(query["text"], vector[0])
            hits = await index.search(ALL, [text], limit=10, mode="keyword", explain=False)
            ranking = [ids[hit.chunk.chunk_id] for hit in hits]
            best = sum(1 / math.log2(n + 2) for n in range(min(10, len(wanted))))
            gains.append(sum(1 / math.log2(n + 2) for n, d in enumerate(ranking) if d in wanted) / best)
    await index.close()
    assert sum(gains) / len(gains) >= FLOORS[name]
