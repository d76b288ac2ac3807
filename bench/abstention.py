"""Fits and measures the extractive answerer: what it finds, and when it says that nothing answers.

    python -m bench.abstention ../shared/data/retrieval/xquad [--cache DIR] [--every N] [--fit]

Each question is asked twice: with its paragraph among the sources, and with the next best ones in its
place, which mostly come from the same article. "kept" are the questions that are answered in the first
case, "false" those in the second (some of them rightly: another paragraph may say it too). With `--fit`
it also prints new constants for `retrieval/answer/extractive/weights.py`, fitted on all questions, and
the figures are those of constants fitted on the other half of the articles.
"""

from __future__ import annotations

import argparse
import asyncio
import tempfile
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from bench.cached_embedder import CachedEmbedder
from bench.xquad import Case, cases
from retrieval.answer.extractive import weights as fitted
from retrieval.answer.extractive.features import NAMES, feature_matrix, rarity
from retrieval.answer.extractive.passages import read_passage
from retrieval.answer.extractive.question import read_question
from retrieval.answer.extractive.rank import Ranker
from retrieval.models.local import E5Embedder

SAME = ("en", "de", "es", "zh", "ar", "th")
OTHER = ("de", "es", "zh", "ar", "th")


@dataclass(frozen=True, slots=True)
class Turn:
    """Features of the candidates, shape (lines, features), and whether each holds the answer."""

    features: np.ndarray
    holds: np.ndarray


@dataclass(frozen=True, slots=True)
class Pair:
    article: int
    with_gold: Turn
    without_gold: Turn


async def read(case: Case, ranker: Ranker) -> Pair:
    question = read_question(case.question)

    async def turn(gold: bool) -> Turn:
        sources = case.with_gold if gold else case.without_gold
        passages = [read_passage(source, rank) for rank, source in enumerate(sources)]
        candidates = await ranker.candidates(question, passages)
        weights = rarity(question, [line for passage in passages for line in passage.lines])
        holds = [
            c.passage.source.chunk.chunk_id == str(case.gold)
            and any(answer in c.line.unit.of(c.passage.text) for answer in case.answers)
            for c in candidates
        ]
        return Turn(feature_matrix(question, weights, candidates), np.array(holds, bool))

    return Pair(case.article, await turn(True), await turn(False))


def fit(pairs: list[Pair], *, ridge: float = 1e-2) -> np.ndarray:
    """Slopes and bias of a ridge logistic regression over all lines, by Newton's method."""
    features = np.vstack([t.features for p in pairs for t in (p.with_gold, p.without_gold)])
    labels = np.concatenate([t.holds for p in pairs for t in (p.with_gold, p.without_gold)]).astype(float)
    mean, spread = features.mean(0), features.std(0) + 1e-9
    design = np.c_[(features - mean) / spread, np.ones(len(features))]
    penalty = ridge * len(labels) * np.r_[np.ones(features.shape[1]), 0]
    solution = np.zeros(design.shape[1])
    for _ in range(30):
        odds = 1 / (1 + np.exp(-design @ solution))
        gradient = design.T @ (odds - labels) + penalty * solution
        curvature = (design * (odds * (1 - odds))[:, None]).T @ design + np.diag(penalty)
        solution -= np.linalg.solve(curvature, gradient)
    slopes = solution[:-1] / spread
    return np.r_[slopes, solution[-1] - slopes @ mean]


def crossed(pairs: list[Pair], groups: list[list[Pair]]) -> list[list[tuple[np.ndarray, np.ndarray]]]:
    """Scores of each pair of each group, by constants fitted on the articles of the other half."""
    halves = [fit([p for p in pairs if p.article % 2 == half]) for half in (0, 1)]
    return [[_scores(pair, halves[1 - pair.article % 2]) for pair in group] for group in groups]


def _scores(pair: Pair, constants: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    a, b = (t.features @ constants[:-1] + constants[-1] for t in (pair.with_gold, pair.without_gold))
    return a, b


def report(name: str, group: list[Pair], scores: list[tuple[np.ndarray, np.ndarray]]) -> None:
    found = [
        np.mean(
            [
                pair.with_gold.holds[np.argsort(-a)[:n]].any()
                for pair, (a, _) in zip(group, scores, strict=True)
            ]
        )
        for n in (1, 2, 3)
    ]
    true = np.array([a.max() for a, _ in scores])
    false = np.array([b.max() for _, b in scores])
    at_80 = np.mean(false >= np.quantile(true, 0.2))
    at_90 = np.mean(false >= np.quantile(true, 0.1))
    kept, wrong = np.mean(true >= fitted.THRESHOLD), np.mean(false >= fitted.THRESHOLD)
    print(
        f"{name:8} n={len(group):5} answer in the best 1/2/3 lines: "
        + " ".join(f"{value:.3f}" for value in found)
        + f" | false at 80 % kept {at_80:.3f}, at 90 % {at_90:.3f}"
        + f" | at {fitted.THRESHOLD}: kept {kept:.3f} false {wrong:.3f}"
    )


async def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("folder", type=Path)
    parser.add_argument("--cache", type=Path, default=Path(tempfile.gettempdir()) / "footnote-bench")
    parser.add_argument("--every", type=int, default=1, help="take each Nth question")
    parser.add_argument("--fit", action="store_true")
    options = parser.parse_args()
    embedder = CachedEmbedder(E5Embedder(options.cache / "model"), options.cache)
    ranker = Ranker(embedder)
    for title, couples, stored in (
        ("SAME", [(code, code) for code in SAME], (*fitted.SAME, fitted.SAME_BIAS)),
        ("OTHER", [(code, "en") for code in OTHER], (*fitted.OTHER, fitted.OTHER_BIAS)),
    ):
        groups: list[list[Pair]] = []
        for asked, written in couples:
            found = await cases(options.folder, asked, written, embedder, every=options.every)
            groups.append([await read(case, ranker) for case in found])
            embedder.save()
        pairs = [pair for group in groups for pair in group]
        if options.fit:
            constants = fit(pairs)
            print(f"{title}: Final = ({', '.join(f'{value:.3f}' for value in constants[:-1])})")
            print(f"{title}_BIAS: Final = {constants[-1]:.3f}")
            print("   " + ", ".join(NAMES))
            scored = crossed(pairs, groups)
        else:
            scored = [[_scores(pair, np.array(stored)) for pair in group] for group in groups]
        for (asked, written), group, scores in zip(couples, groups, scored, strict=True):
            report(f"{asked}>{written}", group, scores)


if __name__ == "__main__":
    asyncio.run(main())
