"""Fits and measures the extractive answerer: what it finds, and when it says that nothing answers.

    python -m bench.abstention ../shared/data/retrieval/xquad [--cache DIR] [--every N] [--fit]

Each question is asked three times: with its paragraph among the sources, with the next best ones in its
place, which mostly come from the same article ("near"), and without any of its article ("far"). "kept"
are the questions that are answered in the first case, the others are false answers (some near ones are
right: another paragraph may say it too). With `--fit` it also prints new constants for
`retrieval/answer/extractive/weights.py`, fitted on all questions; the figures are then those of constants
fitted on the other half of the articles.
"""

from __future__ import annotations

import argparse
import asyncio
import tempfile
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from bench.cached_embedder import CachedEmbedder
from bench.xquad import Case, cases
from retrieval.answer.events import Source
from retrieval.answer.extractive.features import NAMES, Candidate, feature_matrix, rarity
from retrieval.answer.extractive.passages import read_passage
from retrieval.answer.extractive.question import Question, read_question
from retrieval.answer.extractive.rank import Ranker, Scored, score_of
from retrieval.answer.extractive.render import render
from retrieval.answer.extractive.select import select
from retrieval.models.local import E5Embedder

Floats = NDArray[np.float64]
#: Languages of question and passage, and the share of answered questions that the level keeps.
GROUPS = {
    "SAME": ([(code, code) for code in ("en", "de", "es", "zh", "ar", "th")], 0.86),
    "OTHER": ([(code, "en") for code in ("de", "es", "zh", "ar", "th")], 0.78),
}


@dataclass(frozen=True, slots=True)
class Turn:
    candidates: list[Candidate]
    #: Shape (candidates, len(NAMES)).
    features: Floats
    #: Whether each candidate holds the answer.
    holds: NDArray[np.bool_]


@dataclass(frozen=True, slots=True)
class Asked:
    """A question with its turns: with its paragraph, without it, without its article."""

    case: Case
    question: Question
    gold: Turn
    near: Turn
    far: Turn


@dataclass(frozen=True, slots=True)
class Constants:
    slopes: Floats
    #: By the language that `score_of` looks it up by.
    levels: dict[str, float]


async def ask(case: Case, ranker: Ranker) -> Asked:
    question = read_question(case.question)

    async def turn(sources: Sequence[Source]) -> Turn:
        passages = [read_passage(source, rank) for rank, source in enumerate(sources)]
        candidates = await ranker.candidates(question, passages)
        weights = rarity(question, [line for passage in passages for line in passage.lines])
        holds = [
            c.passage.source.chunk.chunk_id == str(case.gold)
            and any(answer in c.line.unit.of(c.passage.text) for answer in case.answers)
            for c in candidates
        ]
        return Turn(candidates, feature_matrix(question, weights, candidates), np.array(holds, bool))

    return Asked(
        case,
        question,
        await turn(case.with_gold),
        await turn(case.without_gold),
        await turn(case.without_article),
    )


def fit(groups: dict[str, list[Asked]], keep: float, *, ridge: float = 1e-2) -> Constants:
    """Ridge logistic regression over all lines by Newton's method, then the level of each language."""
    turns = [turn for group in groups.values() for asked in group for turn in (asked.gold, asked.near)]
    features = np.vstack([turn.features for turn in turns])
    labels = np.concatenate([turn.holds for turn in turns]).astype(float)
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
    levels = {
        language: -float(np.quantile([(a.gold.features @ slopes).max() for a in group], 1 - keep))
        for language, group in groups.items()
    }
    return Constants(slopes, levels)


def scores(turn: Turn, language: str, constants: Constants | None, asked: str, written: str) -> Floats:
    if constants is None:
        return np.array([score_of(row, asked, written) for row in turn.features])
    return turn.features @ constants.slopes + constants.levels[language]


def reply(asked: Asked, values: Floats) -> tuple[str, int]:
    """The text of a concise answer without its labels, and how many lines it quotes."""
    pairs = zip(asked.gold.candidates, values, strict=True)
    ranked = sorted((Scored(c, float(v)) for c, v in pairs), key=lambda s: -s.score)
    excerpts = select(asked.question, ranked, "concise")
    text = " ".join(render(excerpt) for excerpt in excerpts)
    return text, sum(len(excerpt.at) for excerpt in excerpts)


def report(
    name: str, group: list[Asked], gold: list[Floats], near: list[Floats], far: list[Floats]
) -> None:
    found = [
        np.mean([a.gold.holds[np.argsort(-v)[:n]].any() for a, v in zip(group, gold, strict=True)])
        for n in (1, 2, 3)
    ]
    replies = [reply(asked, values) for asked, values in zip(group, gold, strict=True)]
    right = np.mean(
        [
            any(" ".join(answer.split()) in text for answer in asked.case.answers)
            for asked, (text, _) in zip(group, replies, strict=True)
        ]
    )
    best, false, alien = (np.array([v.max() for v in values]) for values in (gold, near, far))
    at_80 = np.mean(false >= np.quantile(best, 0.2))
    print(
        f"{name:6} n={len(group):4} | answer in the best 1/2/3 lines "
        + " ".join(f"{value:.3f}" for value in found)
        + f" | in the reply {right:.3f} of {np.mean([n for _, n in replies]):.2f} lines"
        + f" | false near at 80 % kept {at_80:.3f}"
        + f" | as set: kept {np.mean(best >= 0):.3f}, false near {np.mean(false >= 0):.3f},"
        + f" far {np.mean(alien >= 0):.3f}",
        flush=True,
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
    for title, (couples, keep) in GROUPS.items():
        groups: dict[str, list[Asked]] = {}
        for asked, written in couples:
            found = await cases(options.folder, asked, written, embedder, every=options.every)
            groups[asked] = [await ask(case, ranker) for case in found]
            embedder.save()
        halves: list[Constants | None] = [None, None]
        if options.fit:
            constants = fit(groups, keep)
            print(f"{title}: Final = ({', '.join(f'{value:.3f}' for value in constants.slopes)})")
            print(f"{title}_LEVELS: Final = { {k: round(v, 2) for k, v in constants.levels.items()} }")
            print("   " + ", ".join(NAMES))
            halves = [
                fit({k: [a for a in g if a.case.article % 2 == half] for k, g in groups.items()}, keep)
                for half in (1, 0)
            ]
        for asked, written in couples:
            group = groups[asked]
            columns = [
                [scores(turn(a), asked, halves[a.case.article % 2], asked, written) for a in group]
                for turn in (lambda a: a.gold, lambda a: a.near, lambda a: a.far)
            ]
            report(f"{asked}>{written}", group, *columns)


if __name__ == "__main__":
    asyncio.run(main())
