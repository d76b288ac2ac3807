"""XQuAD's questions with and without their paragraph among the sources, for `bench/abstention.py`."""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path

import numpy as np

from retrieval.answer.events import Source
from retrieval.documents import Chunk, DocumentMeta
from retrieval.index.bm25 import encode_passage, encode_query
from retrieval.models.protocol import Embedder

#: XQuAD has five paragraphs of each article, in order.
PARAGRAPHS = 5
SOURCES = 6


@dataclass(frozen=True, slots=True)
class Case:
    """A question, its gold answers in the language of the passages, and the sources of three turns."""

    question: str
    answers: tuple[str, ...]
    #: Paragraph that holds the answer; its chunk id is `str(gold)`.
    gold: int
    article: int
    with_gold: tuple[Source, ...]
    #: ... without its paragraph, and without any of its article.
    without_gold: tuple[Source, ...]
    without_article: tuple[Source, ...]


async def cases(
    folder: Path, asked: str, written: str, embedder: Embedder, *, every: int = 1, sources: int = SOURCES
) -> list[Case]:
    """Questions in the language `asked` over paragraphs in `written` (both ISO 639-1 codes).

    Sources come from a hybrid search (reciprocal rank fusion of dense and BM25), or, where the
    languages differ, from a dense one.
    """
    paragraphs = [row["text"] for row in _rows(folder / written / "corpus.jsonl")]
    questions = {row["_id"]: row["text"] for row in _rows(folder / asked / "queries.jsonl")}
    answers = {row["_id"]: row["answers"] for row in _rows(folder / written / "queries.jsonl")}
    gold = dict(_qrels(folder / written / "qrels.tsv"))
    ids = list(questions)[::every]
    dense = (
        await embedder.embed_queries([questions[i] for i in ids])
        @ (await embedder.embed_passages(paragraphs)).T
    )
    fused = 1 / (60 + ranks(dense))
    if asked == written:
        fused += 1 / (60 + ranks(bm25([questions[i] for i in ids], paragraphs, written)))
    chunks = [make_chunk(number, text, written) for number, text in enumerate(paragraphs)]
    result: list[Case] = []
    for row, query_id in enumerate(ids):
        order = np.argsort(-fused[row], kind="stable").tolist()
        own = gold[query_id]
        without = [number for number in order if number != own]
        elsewhere = [number for number in order if number // PARAGRAPHS != own // PARAGRAPHS]
        result.append(
            Case(
                questions[query_id],
                tuple(answers[query_id]),
                own,
                own // PARAGRAPHS,
                _sources(order[:sources], chunks),
                _sources(without[:sources], chunks),
                _sources(elsewhere[:sources], chunks),
            )
        )
    return result


def _sources(order: Sequence[int], chunks: Sequence[Chunk]) -> tuple[Source, ...]:
    return tuple(Source(str(place), chunks[number], 1 / place) for place, number in enumerate(order, 1))


def make_chunk(number: int, text: str, language: str) -> Chunk:
    meta = DocumentMeta(
        workspace="bench",
        knowledge_base="xquad",
        document_id=str(number),
        version_id=str(number),
        version=1,
        name=f"{number}.txt",
        title="",
        media_type="text/plain",
        uploaded_at=datetime(2020, 1, 1, tzinfo=UTC),
    )
    return Chunk(chunk_id=str(number), meta=meta, ordinal=0, text=text, language=language)


def ranks(scores: np.ndarray) -> np.ndarray:
    """Rank from 1 of each column in each row, the greatest first."""
    return np.argsort(np.argsort(-scores, axis=1, kind="stable"), axis=1) + 1


def bm25(questions: Sequence[str], paragraphs: Sequence[str], language: str) -> np.ndarray:
    vectors = [encode_passage(text, language) for text in paragraphs]
    postings: dict[int, list[tuple[int, float]]] = {}
    for number, vector in enumerate(vectors):
        for index, value in zip(vector.indices, vector.values, strict=True):
            postings.setdefault(index, []).append((number, value))
    scores = np.zeros((len(questions), len(paragraphs)))
    for row, question in enumerate(questions):
        for index in encode_query(question, frozenset({language})).indices:
            found = postings.get(index, [])
            idf = np.log(1 + (len(paragraphs) - len(found) + 0.5) / (len(found) + 0.5))
            for number, value in found:
                scores[row, number] += idf * value
    return scores


def _rows(path: Path) -> list[dict[str, str]]:
    return [json.loads(line) for line in path.read_text(encoding="utf-8").splitlines()]


def _qrels(path: Path) -> list[tuple[str, int]]:
    lines = path.read_text(encoding="utf-8").splitlines()[1:]
    return [(query, int(paragraph.removeprefix("p"))) for query, paragraph, _ in map(str.split, lines)]
