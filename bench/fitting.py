"""Logistic regression for the constants of the extractive answerer."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from retrieval.answer.events import Source
from retrieval.answer.extractive.features import NAMES, Candidate, feature_matrix, rarity
from retrieval.answer.extractive.passages import read_passages
from retrieval.answer.extractive.question import Question
from retrieval.answer.extractive.rank import Ranker

Floats = NDArray[np.float64]
#: Set by hand: lines that hold a date or a number are no better where questions ask for explanations,
#: but put the right one of two first where they ask for one.
OFFERS = 0.2


@dataclass(frozen=True, slots=True)
class Turn:
    candidates: list[Candidate]
    #: Shape (candidates, len(NAMES)).
    features: Floats
    #: Whether each candidate holds the answer: 1, 0, or nan where that can't be told.
    holds: Floats

    def best(self, slopes: Floats) -> float:
        return float((self.features @ slopes).max(initial=-99.0))


async def read_turn(question: Question, sources: Sequence[Source], ranker: Ranker) -> Turn:
    """A turn of which nothing holds the answer; see `Turn.holds` for the others."""
    passages = read_passages(sources)
    weights = rarity(question, [line for passage in passages for line in passage.lines])
    candidates = await ranker.candidates(question, passages, weights)
    return Turn(candidates, feature_matrix(question, weights, candidates), np.zeros(len(candidates)))


def fit(sets: Sequence[tuple[float, Sequence[Turn]]], *, ridge: float = 1e-2) -> Floats:
    """Slopes of a ridge logistic regression over all lines, by Newton's method.

    sets: turns, with the share that all of their lines have together in what is fitted.
    """
    features = np.vstack([turn.features for _, turns in sets for turn in turns])
    labels = np.concatenate([turn.holds for _, turns in sets for turn in turns])
    shares = np.concatenate([np.full(_lines(turns), share / _lines(turns)) for share, turns in sets])
    known = ~np.isnan(labels)
    features, labels, shares = features[known], labels[known], shares[known] / shares[known].mean()
    free = [column for column, name in enumerate(NAMES) if name != "offers"]
    mean, spread = features[:, free].mean(0), features[:, free].std(0) + 1e-9
    design = np.c_[(features[:, free] - mean) / spread, np.ones(len(features))]
    penalty = ridge * len(labels) * np.r_[np.ones(len(free)), 0]
    solution = np.zeros(design.shape[1])
    for _ in range(40):
        odds = 1 / (1 + np.exp(-design @ solution))
        gradient = design.T @ (shares * (odds - labels)) + penalty * solution
        curvature = (design * (shares * odds * (1 - odds))[:, None]).T @ design + np.diag(penalty)
        solution -= np.linalg.solve(curvature, gradient)
    slopes = np.full(len(NAMES), OFFERS)
    slopes[free] = solution[:-1] / spread
    return slopes


def _lines(turns: Sequence[Turn]) -> int:
    return sum(len(turn.holds) for turn in turns)
