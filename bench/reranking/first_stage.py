"""The passages that a reranker is given: the best 36 of the hybrid search, with their scores."""

from __future__ import annotations

import csv
import hashlib
import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from retrieval.index.bm25 import encode_passage, encode_query
from retrieval.index.fusion import RankedList, by_score
from retrieval.index.plan import DEEPER
from retrieval.ingest.language import LanguageTagger
from retrieval.models.protocol import Embedder

Floats = NDArray[np.float32]

#: Passages that are reranked: three times the twelve that become sources.
LIMIT = 36
DEPTH = LIMIT + DEEPER


@dataclass(frozen=True, slots=True)
class Case:
    """A question and its candidates, best first; all arrays have one entry a candidate."""

    question: str
    #: Index of each candidate in the corpus.
    passages: NDArray[np.intp]
    #: Score after the fusion, share of the way from the floor of each list to its best, cosine.
    fused: Floats
    dense: Floats
    keyword: Floats
    cosine: Floats
    #: The candidate's judged gain.
    gains: Floats
    #: Best DCG@10 that any ranking of the corpus could have.
    ideal: float


@dataclass(frozen=True, slots=True)
class Corpus:
    #: Document id -> index; titles, texts as they are indexed and languages are in that order.
    ids: dict[str, int]
    titles: list[str]
    texts: list[str]
    languages: list[str]
    #: Shape (passages, dimension), unit rows.
    vectors: Floats
    #: BM25 term -> inverse document frequency, as the index weighs it.
    idf: dict[int, float]
    #: BM25 term -> passages that hold it, and its share of their score.
    postings: dict[int, tuple[NDArray[np.intp], Floats]]

    @property
    def spoken(self) -> frozenset[str]:
        return frozenset(self.languages)

    def rarity(self, term: int) -> float:
        """Of a term that no passage holds, that of one that a single passage holds."""
        return self.idf.get(term, float(np.log1p(max(len(self.texts) - 0.5, 0.5) / 1.5)))


async def read_corpus(folder: Path, embedder: Embedder) -> Corpus:
    rows = _rows(folder / "corpus.jsonl")
    titles = [row.get("title") or "" for row in rows]
    texts = [f"{title}\n{row['text']}" for title, row in zip(titles, rows, strict=True)]
    tagger = LanguageTagger(texts)
    languages = [tagger.tag(text) for text in texts]
    found: dict[int, tuple[list[int], list[float]]] = {}
    for number, (text, language) in enumerate(zip(texts, languages, strict=True)):
        sparse = encode_passage(text, language)
        for term, value in zip(sparse.indices, sparse.values, strict=True):
            places, values = found.setdefault(term, ([], []))
            places.append(number)
            values.append(value)
    postings = {
        term: (np.array(places, np.intp), np.array(values, np.float32))
        for term, (places, values) in found.items()
    }
    count = len(texts)
    idf = {
        term: float(np.log1p((count - len(places) + 0.5) / (len(places) + 0.5)))
        for term, (places, _) in postings.items()
    }
    ids = {row["_id"]: number for number, row in enumerate(rows)}
    return Corpus(ids, titles, texts, languages, await embedder.embed_passages(texts), idf, postings)


async def search(
    questions: Sequence[str], relevant: Sequence[Mapping[int, int]], corpus: Corpus, embedder: Embedder
) -> list[Case]:
    """The hybrid search for each question, exact and over the whole corpus.

    relevant: of each question, corpus index to gain.
    """
    cosines = await embedder.embed_queries(questions) @ corpus.vectors.T
    languages = {str(number): language for number, language in enumerate(corpus.languages)}
    return [
        _case(question, gains, row, corpus, languages)
        for question, gains, row in zip(questions, relevant, cosines, strict=True)
    ]


def _case(
    question: str, gains: Mapping[int, int], cosines: Floats, corpus: Corpus, languages: Mapping[str, str]
) -> Case:
    query = encode_query(question, corpus.spoken)
    scores = np.zeros(len(corpus.texts), np.float32)
    for term, weight in zip(query.indices, query.values, strict=True):
        if term in corpus.postings:
            places, values = corpus.postings[term]
            scores[places] += weight * corpus.idf[term] * values
    near, matching = _best(cosines), _best(scores)
    matching = matching[scores[matching] > 0]
    lists = [RankedList("dense:0", 0, _entries(near, cosines), len(near) == DEPTH)]
    if query.indices:
        found = _entries(matching, scores)
        lists.append(
            RankedList("bm25:0", 0, found, len(found) == DEPTH, sum(query.values), len(corpus.texts))
        )
    fused = by_score(lists, languages)
    best = fused.order()[:LIMIT]
    passages = np.array([int(key) for key in best], np.intp)
    top = sorted(gains.values(), reverse=True)[:10]
    return Case(
        question,
        passages,
        np.array([fused.scores[key] for key in best], np.float32),
        _shares(cosines, near)[passages],
        _shares(scores, matching)[passages],
        cosines[passages],
        np.array([gains.get(int(number), 0) for number in passages], np.float32),
        sum(gain / np.log2(rank + 1) for rank, gain in enumerate(top, 1)),
    )


def _best(scores: Floats) -> NDArray[np.intp]:
    return np.argsort(-scores, kind="stable")[:DEPTH]


def _entries(order: NDArray[np.intp], scores: Floats) -> list[tuple[str, float]]:
    return [(str(number), float(scores[number])) for number in order]


def _shares(scores: Floats, order: NDArray[np.intp]) -> Floats:
    """Of all passages; 0 for those that are not in the list."""
    shares = np.zeros(len(scores), np.float32)
    if len(order):
        best, floor = scores[order[0]], scores[order[-1]] if len(order) == DEPTH else np.float32(0)
        shares[order] = (scores[order] - floor) / max(best - floor, 1e-9)
    return shares


@dataclass(frozen=True, slots=True)
class Task:
    """Questions of one kind over one corpus."""

    name: str
    #: Sets that share their paragraphs belong together: none of a family is fitted on when one is tested.
    family: str
    corpus: Corpus
    cases: list[Case]

    def digest(self, *what: str) -> str:
        """Names what was computed of this task's questions and passages."""
        keys = [self.name, *(case.question for case in self.cases), *self.corpus.texts, *what]
        return hashlib.sha256("\0".join(keys).encode("utf-8", "replace")).hexdigest()[:16]


async def read_tasks(
    folder: Path, wanted: Sequence[tuple[str, str, str, int]], embedder: Embedder
) -> list[Task]:
    """wanted: name, folders (below `folder`) of the questions and of the passages, every Nth question."""
    corpora: dict[str, Corpus] = {}
    tasks: list[Task] = []
    for name, asked, written, every in wanted:
        if written not in corpora:
            corpora[written] = await read_corpus(folder / written, embedder)
        corpus = corpora[written]
        judged = _judgements(folder / asked / "qrels.tsv")
        texts = {row["_id"]: row["text"] for row in _rows(folder / asked / "queries.jsonl")}
        chosen = sorted(judged.keys() & texts.keys())[::every]
        relevant = [
            {
                corpus.ids[document]: gain
                for document, gain in judged[query].items()
                if document in corpus.ids
            }
            for query in chosen
        ]
        cases = await search([texts[query] for query in chosen], relevant, corpus, embedder)
        tasks.append(Task(name, asked.partition("/")[0], corpus, cases))
    return tasks


def _rows(path: Path) -> list[dict[str, Any]]:
    with path.open(encoding="utf-8") as file:
        return [json.loads(line) for line in file if line.strip()]


def _judgements(path: Path) -> dict[str, dict[str, int]]:
    """Query id -> document id -> gain, where there is one."""
    judged: dict[str, dict[str, int]] = {}
    with path.open(encoding="utf-8", newline="") as file:
        for query, document, gain in list(csv.reader(file, delimiter="\t"))[1:]:
            if int(gain) > 0:
                judged.setdefault(query, {})[document] = int(gain)
    return judged
