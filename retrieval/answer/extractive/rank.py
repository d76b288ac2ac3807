"""Which lines of the passages answer the question, and how surely."""

from __future__ import annotations

import asyncio
from collections import OrderedDict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from retrieval.answer.extractive import weights as fitted
from retrieval.answer.extractive.anchors import AnchorBook
from retrieval.answer.extractive.features import Candidate, coverage, feature_matrix, of_another, rarity
from retrieval.answer.extractive.passages import Line, Passage
from retrieval.answer.extractive.question import Question
from retrieval.answer.extractive.terms import terms_of
from retrieval.models.protocol import Embedder, Vectors

Features = NDArray[np.float64]

#: Lines embedded for one question, and bytes of text in them (about four to a token): some 200 ms with
#: the local model on two processors.
MAX_LINES = 32
MAX_BYTES = 4800
_REMEMBERED = 2048


@dataclass(frozen=True, slots=True)
class Scored:
    """A candidate with its score; above 0 it is taken to hold the answer."""

    candidate: Candidate
    score: float


class Ranker:
    """Scores lines by an embedder and by words. Line vectors are kept for a while."""

    def __init__(self, embedder: Embedder) -> None:
        self._embedder = embedder
        self._anchors = AnchorBook(embedder)
        self._vectors: OrderedDict[str, Vectors] = OrderedDict()

    async def rank(self, question: Question, passages: Sequence[Passage]) -> list[Scored]:
        """The most promising lines, best first. Raises `ModelError`."""
        weights = await asyncio.to_thread(rarity, question, _lines(passages))
        candidates = await self.candidates(question, passages, weights)
        return await asyncio.to_thread(_scored, question, weights, candidates)

    async def candidates(
        self, question: Question, passages: Sequence[Passage], weights: Mapping[str, float]
    ) -> list[Candidate]:
        """The lines worth embedding, with their similarity to the question. weights: see `rarity`."""
        chosen = await asyncio.to_thread(promising, weights, passages)
        vectors = await self._embed([passage.lines[at].embedded for passage, at in chosen])
        query = (await self._embedder.embed_queries([question.text]))[0]
        candidates: list[Candidate] = []
        for (passage, at), vector in zip(chosen, vectors, strict=True):
            anchors = await self._anchors.of(passage.language)
            candidates.append(
                Candidate(passage, at, float(vector @ query), anchors.similarity(query), anchors.spread)
            )
        return candidates

    async def _embed(self, texts: Sequence[str]) -> list[Vectors]:
        wanted = [text for text in dict.fromkeys(texts) if text not in self._vectors]
        if wanted:
            vectors = await self._embedder.embed_passages(wanted, urgent=True)
            for text, vector in zip(wanted, vectors, strict=True):
                self._vectors[text] = vector
        found = [self._vectors[text] for text in texts]
        for text in texts:
            self._vectors.move_to_end(text)
        while len(self._vectors) > _REMEMBERED:
            self._vectors.popitem(last=False)
        return found


def score_of(features: Features, asked: str | None, written: str) -> float:
    """The score of a line with these features, shape (len(NAMES),); above 0 it is taken to answer.

    Log odds up to a constant. `asked` and `written` are the languages of question and passage.
    """
    if asked is None or asked == written:
        slopes, levels, language = fitted.SAME, fitted.SAME_LEVELS, written
    else:
        slopes, levels, language = fitted.OTHER, fitted.OTHER_LEVELS, asked
    level = levels.get(language)
    if level is None:
        level = sum(levels.values()) / len(levels)
    return float(features @ np.array(slopes)) + level


def corrected(question: Question, candidate: Candidate) -> float:
    """What is added for names and headings, of which the questions that were fitted on have too few:
    another error code is another error, another office has other hours."""
    named = _identified(question, candidate) + _named(question, candidate)
    return named + _headed(question, candidate)


def _identified(question: Question, candidate: Candidate) -> float:
    if not question.identifiers:
        return fitted.ROW_OF_ANOTHER if of_another(question, candidate) else 0.0
    passage = candidate.passage
    if question.identifiers & (candidate.line.identifiers | passage.heading_identifiers):
        return fitted.NAMED
    return 0.0 if question.identifiers & passage.identifiers else fitted.NOT_NAMED


def _named(question: Question, candidate: Candidate) -> float:
    """Names are written alike in one language, but not across languages ("Shanghai", "上海")."""
    passage = candidate.passage
    if passage.language != question.language or all(name & passage.keys for name in question.names):
        return 0.0
    return fitted.NO_SUCH_NAME


def _headed(question: Question, candidate: Candidate) -> float:
    passage, heading = candidate.passage, candidate.line.heading_keys
    if not heading or candidate.line.heading == passage.source.chunk.meta.title:
        return 0.0
    alike = len(heading & {term.key for term in terms_of(question.text)}) / len(heading)
    return fitted.HEADED * max(0.0, 2 * alike - 1)


def promising(weights: Mapping[str, float], passages: Sequence[Passage]) -> list[tuple[Passage, int]]:
    """(passage, index of line) of the lines that are worth embedding, in order of the passages.

    All of them if they are few; else those that hold words of the question, that stand in the first
    passages, or at the head of one.
    """
    every = [(passage, at) for passage in passages for at in range(len(passage.lines))]

    def promise(item: tuple[Passage, int]) -> float:
        passage, at = item
        return coverage(weights, passage.lines[at]) + 1 / (1 + passage.rank) + 0.1 / (1 + at)

    chosen: set[tuple[int, int]] = set()
    room = MAX_BYTES
    for passage, at in sorted(every, key=promise, reverse=True):
        room -= len(passage.lines[at].embedded.encode("utf-8", "replace"))
        if len(chosen) == MAX_LINES or (room < 0 and chosen):
            break
        chosen.add((passage.rank, at))
    return [(passage, at) for passage, at in every if (passage.rank, at) in chosen]


def _lines(passages: Sequence[Passage]) -> list[Line]:
    return [line for passage in passages for line in passage.lines]


def _scored(
    question: Question, weights: Mapping[str, float], candidates: Sequence[Candidate]
) -> list[Scored]:
    matrix = feature_matrix(question, weights, candidates)
    scored = [
        Scored(c, score_of(row, question.language, c.passage.language) + corrected(question, c))
        for c, row in zip(candidates, matrix, strict=True)
    ]
    return sorted(scored, key=lambda s: (-s.score, s.candidate.passage.rank, s.candidate.at))
