"""Fits and measures the extractive answerer: what it finds, and when it says that nothing answers.

    python -m bench.abstention ../shared/data/retrieval [--cache DIR] [--every N] [--fit]

Each question of XQuAD is asked three times: with its paragraph among the sources, with the next best ones
in its place, which mostly come from the same article ("near"), and without any of its article ("far").
"kept" are the questions that are answered in the first case, the others are false answers (some near ones
are right: another paragraph may say it too). With `--fit` it also prints new constants for
`retrieval/answer/extractive/weights.py`, fitted on all questions and on MTRAG's, which are asked as people
ask; the figures are then those of constants fitted on the other half of XQuAD's articles.
"""

from __future__ import annotations

import argparse
import asyncio
import tempfile
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from bench.cached_embedder import CachedEmbedder
from bench.fitting import Floats, Turn, fit, read_turn
from bench.mtrag import Mtrag
from bench.xquad import Case, cases
from retrieval.answer.extractive.features import NAMES
from retrieval.answer.extractive.question import Question, read_question
from retrieval.answer.extractive.rank import Ranker, Scored, score_of
from retrieval.answer.extractive.render import render
from retrieval.answer.extractive.select import select
from retrieval.models.local import E5Embedder


@dataclass(frozen=True, slots=True)
class Group:
    #: Languages of question and passage.
    couples: list[tuple[str, str]]
    #: MTRAG's share in the fit.
    share: float
    #: Share of the questions with an answer that are answered at least.
    kept: float


GROUPS = {
    "SAME": Group([(code, code) for code in ("en", "de", "es", "zh", "ar", "th")], 0.2, 0.82),
    "OTHER": Group([(code, "en") for code in ("de", "es", "zh", "ar", "th")], 0.0, 0.84),
}
#: More are answered while the false answers to near questions are fewer than this ...
NEAR = 0.1
#: ... and fewer than `kept` where this share of the far questions would be answered, too.
FAR = 0.15


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
    gold, near, far = [
        await read_turn(question, sources, ranker)
        for sources in (case.with_gold, case.without_gold, case.without_article)
    ]
    for place, candidate in enumerate(gold.candidates):
        passage = candidate.passage
        if passage.source.chunk.chunk_id == str(case.gold):
            text = candidate.line.unit.of(passage.text)
            gold.holds[place] = any(answer in text for answer in case.answers)
    return Asked(case, question, gold, near, far)


def fit_groups(groups: dict[str, list[Asked]], others: Sequence[Turn], group: Group) -> Constants:
    turns = [turn for asked in groups.values() for a in asked for turn in (a.gold, a.near, a.far)]
    slopes = fit([(1 - group.share, turns), (group.share, others)] if others else [(1.0, turns)])
    levels = {language: _level(asked, slopes, group.kept) for language, asked in groups.items()}
    return Constants(slopes, levels)


def _level(group: list[Asked], slopes: Floats, kept: float) -> float:
    """What to add, so that a line that is to be quoted scores above 0."""
    true, near, far = [
        np.array([turn.best(slopes) for turn in turns])
        for turns in ([a.gold for a in group], [a.near for a in group], [a.far for a in group])
    ]
    lenient = min(np.quantile(near, 1 - NEAR), np.quantile(true, 1 - kept))
    return -float(max(lenient, np.quantile(far, 1 - FAR)))


def scores(turn: Turn, constants: Constants | None, asked: str, written: str) -> Floats:
    if constants is None:
        return np.array([score_of(row, asked, written) for row in turn.features])
    return turn.features @ constants.slopes + constants.levels[asked]


def reply(asked: Asked, values: Floats) -> tuple[str, int]:
    """The text of a concise answer, and how many lines it quotes."""
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
    mtrag: list[Turn] = []
    if options.fit:
        data = Mtrag(options.folder / "mtrag_un_pool")
        mtrag = [turn for pair in await data.turns(embedder, ranker) for turn in pair]
        embedder.save()
    for title, kind in GROUPS.items():
        groups: dict[str, list[Asked]] = {}
        for asked, written in kind.couples:
            found = await cases(options.folder / "xquad", asked, written, embedder, every=options.every)
            groups[asked] = [await ask(case, ranker) for case in found]
            embedder.save()
        others = mtrag if kind.share else []
        halves: list[Constants | None] = [None, None]
        if options.fit:
            constants = fit_groups(groups, others, kind)
            print(f"{title}: Final = ({', '.join(f'{value:.3f}' for value in constants.slopes)})")
            print(f"{title}_LEVELS: Final = { {k: round(v, 2) for k, v in constants.levels.items()} }")
            print("   " + ", ".join(NAMES))
            halves = [
                fit_groups(
                    {k: [a for a in g if a.case.article % 2 == half] for k, g in groups.items()},
                    others,
                    kind,
                )
                for half in (1, 0)
            ]
        for asked, written in kind.couples:
            group = groups[asked]
            columns = [
                [scores(turn, halves[a.case.article % 2], asked, written) for a, turn in turns]
                for turns in (
                    [(a, a.gold) for a in group],
                    [(a, a.near) for a in group],
                    [(a, a.far) for a in group],
                )
            ]
            report(f"{asked}>{written}", group, *columns)


if __name__ == "__main__":
    asyncio.run(main())
