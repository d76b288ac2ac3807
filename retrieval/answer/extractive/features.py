"""What speaks for a line being the answer, as numbers: meaning, words, kind of answer, place."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from retrieval.answer.extractive.passages import Line, Passage, columns
from retrieval.answer.extractive.question import Question, Wanted, offers
from retrieval.answer.extractive.terms import identifiers_of, terms_of

#: Columns of a feature matrix.
NAMES = (
    "above_anchors",  # similarity to the question, above that of sentences about nothing in particular
    "above_others",  # the same above the other lines at hand
    "best_above_anchors",  # the first, of the best line of the passage
    "words",  # share of the question's words in the line, weighted by rarity
    "words_near",  # ... in the line, its neighbours and its heading
    "words_passage",  # ... in the passage, its title and headings
    "offers",  # 1 if it holds the kind of answer that is asked for, -1 if not, 0 if that can't be told
    "rank",  # 1 for the first passage, 1/2 for the second, ...
)

#: Counts for as many lines as there are anchors, so that with few lines at hand their mean says little.
_ANCHOR_WEIGHT = 12
#: What a word of the question counts that stands only in the heading or in a longer word of the line.
_HALF = 0.7
_PART_CHARS = 5
#: The topic itself is in every line at hand, since they were searched by it: it counts all the same.
_LEAST_RARITY = 1.0
#: A word that the thread added: what the person wrote now counts for more.
_ADDED_WEIGHT = 0.5
#: Words of a row from which a question may mean it without its first cell.
_TOLD = 3
#: Items or rows before and after one that are read together with it.
_REACH = 6
_TYPED: tuple[Wanted, ...] = ("number", "time", "person", "place")


@dataclass(frozen=True, slots=True)
class Candidate:
    """A line of a passage whose similarity to the question is known."""

    passage: Passage
    #: Index into `passage.lines`.
    at: int
    similarity: float
    #: Mean similarity of the question to the anchors of the passage's language, and their spread.
    anchor: float
    spread: float

    @property
    def line(self) -> Line:
        return self.passage.lines[self.at]


def of_another(question: Question, candidate: Candidate) -> bool:
    """Whether it is the row of a table about an error code, part or the like by its first cell, which the
    question doesn't ask for: it names none, nor does it tell most of what the row says of it."""
    if question.identifiers or candidate.line.unit.kind != "row":
        return False
    (_, first), *others = columns(candidate.line.unit, candidate.passage.text) or [("", "")]
    if not identifiers_of(first):
        return False
    told = {term.key for _, value in others for term in terms_of(value)} & set(question.keys)
    return len(told) < _TOLD or 2 * len(told) <= len(question.keys)


def rarity(question: Question, lines: Sequence[Line]) -> dict[str, float]:
    """Weight of each of the question's words: above a least one, BM25's inverse document frequency with
    `lines` as the collection."""
    count = len(lines)
    seen = Counter(key for line in lines for key in question.keys if key in line.keys)
    return {
        key: (_LEAST_RARITY + math.log(1 + (count - seen[key] + 0.5) / (seen[key] + 0.5)))
        * (_ADDED_WEIGHT if key in question.added else 1.0)
        for key in question.keys
    }


def coverage(weights: Mapping[str, float], line: Line) -> float:
    """Share of the question's words that the line holds, by weight, from 0 to 1."""
    total = sum(weights.values())
    found = 0.0
    for key, weight in weights.items():
        if key in line.keys:
            found += weight
        elif key in line.heading_keys or (len(key) >= _PART_CHARS and key in line.folded):
            found += _HALF * weight
    return found / total if total else 0.0


def feature_matrix(
    question: Question, weights: Mapping[str, float], candidates: Sequence[Candidate]
) -> NDArray[np.float64]:
    """Features of each candidate, shape (len(candidates), len(NAMES))."""
    if not candidates:
        return np.zeros((0, len(NAMES)))
    mean = (sum(c.similarity for c in candidates) + _ANCHOR_WEIGHT * candidates[0].anchor) / (
        len(candidates) + _ANCHOR_WEIGHT
    )
    best: dict[int, float] = {}
    for candidate in candidates:
        rank = candidate.passage.rank
        if of_another(question, candidate):
            continue
        best[rank] = max(best.get(rank, -1.0), candidate.similarity)
    asked = frozenset(question.keys)
    typed: list[Wanted] = [kind for kind in _TYPED if kind in question.wanted]
    rows: list[list[float]] = []
    for c in candidates:
        rows.append(
            [
                (c.similarity - c.anchor) / c.spread,
                (c.similarity - mean) / c.spread,
                (best.get(c.passage.rank, c.similarity) - c.anchor) / c.spread,
                coverage(weights, c.line),
                _share(weights, _near(c)),
                _share(weights, c.passage.keys),
                _offers(question, typed, c, asked),
                1 / (1 + c.passage.rank),
            ]
        )
    return np.array(rows)


def _near(candidate: Candidate) -> frozenset[str]:
    """Words around a line: of its neighbours, and of the items or rows that make one list with it."""
    lines, at = candidate.passage.lines, candidate.at
    reach = _REACH if lines[at].unit.kind in ("item", "row") else 1
    around = [
        line
        for place, line in enumerate(lines[max(0, at - reach) : at + reach + 1], max(0, at - reach))
        if abs(place - at) <= 1 or line.unit.group == lines[at].unit.group
    ]
    return candidate.passage.heading_keys.union(*(line.keys for line in around))


def _share(weights: Mapping[str, float], keys: frozenset[str]) -> float:
    total = sum(weights.values())
    return sum(weight for key, weight in weights.items() if key in keys) / total if total else 0.0


def _offers(
    question: Question, typed: Sequence[Wanted], candidate: Candidate, asked: frozenset[str]
) -> float:
    if not typed:
        # Steps are told in numbered lists, but not only there.
        step = question.wants("steps") and candidate.line.unit.marker[:1].isdigit()
        return float(step)
    line, language = candidate.line, candidate.passage.language
    return 1.0 if any(offers(kind, line.text, line.terms, language, asked) for kind in typed) else -1.0
