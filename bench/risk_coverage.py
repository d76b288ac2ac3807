"""What the extractive answerer risks: false answers for each share of true ones kept.

    python -m bench.risk_coverage [../shared/data/retrieval] [--cache DIR] [--sets en] [--every N]

MTRAG's questions over its pool of passages: those that it answers, and those that it doesn't
(`answerability`). XQuAD's over its paragraphs: with the paragraph of the question among those searched, and
without it. A threshold is chosen on half of the conversations or articles (dev), so that the share in the
first column of their answerable questions scores above it; then both shares are told for the other half
(test), with 95 % intervals of a bootstrap over conversations or articles. "as set" is the product's own.
"precision" is that of the answers to as many questions with an answer as without.
"""

from __future__ import annotations

import argparse
import asyncio
import os
import tempfile
from dataclasses import dataclass
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from bench.cached_embedder import CachedEmbedder
from bench.conversations import part_of
from bench.mtrag import SOURCES, Mtrag, carried
from bench.xquad import cases, make_chunk
from retrieval.answer.events import Source
from retrieval.answer.extractive.passages import read_passages
from retrieval.answer.extractive.question import Question, read_question, read_rewritten
from retrieval.answer.extractive.rank import Ranker
from retrieval.models.local import E5Embedder

KEPT = (0.95, 0.9, 0.8, 0.7, 0.6, 0.5)
DRAWS = 2000
#: Score of a question for which no line is at hand.
NOTHING = -99.0


@dataclass(frozen=True, slots=True)
class Asked:
    """A question and the score of its best line; above 0 the product answers."""

    group: str
    answerable: bool
    score: float


class Asker:
    def __init__(self, embedder: CachedEmbedder) -> None:
        self.embedder = embedder
        self._ranker = Ranker(embedder)

    async def score(self, question: Question, sources: tuple[Source, ...]) -> float:
        ranked = await self._ranker.rank(question, read_passages(sources))
        return ranked[0].score if ranked else NOTHING

    async def mtrag(self, folder: Path, every: int) -> list[Asked]:
        data = Mtrag(folder / "mtrag_un_pool")
        tasks = [
            *data.asked("ANSWERABLE")[::every],
            *data.asked("UNANSWERABLE")[::every],
        ]
        standalone = [await carried(task) for task in tasks]
        found: list[Asked] = []
        for task, query, scores in zip(
            tasks, standalone, await data.search(standalone, self.embedder), strict=True
        ):
            order = np.argsort(-scores, kind="stable")[:SOURCES].tolist()
            sources = tuple(
                Source(str(place), make_chunk(number, data.texts[number], "en"), 1 / place)
                for place, number in enumerate(order, 1)
            )
            score = await self.score(read_rewritten(task["text"], query), sources)
            found.append(Asked(task["_id"].split("<")[0], "ANSWERABLE" in task["answerability"], score))
        return found

    async def xquad(self, folder: Path, asked: str, written: str, every: int) -> list[Asked]:
        found: list[Asked] = []
        for case in await cases(folder / "xquad", asked, written, self.embedder, every=every):
            question = read_question(case.question)
            for answerable, sources in ((True, case.with_gold), (False, case.without_gold)):
                score = await self.score(question, sources)
                found.append(Asked(str(case.article), answerable, score))
        return found


def report(name: str, asked: list[Asked]) -> None:
    dev = np.array([part_of(each.group) == "dev" for each in asked])
    score = np.array([each.score for each in asked])
    true = np.array([each.answerable for each in asked])
    print(f"{name}: dev {dev.sum()}, test {(~dev).sum()} questions, {(~dev & true).sum()} with an answer")
    print("  kept on dev  threshold   kept on test           false answers on test    precision")
    test = [each for each in asked if part_of(each.group) == "test"]
    for kept in (*KEPT, None):
        threshold = 0.0 if kept is None else float(np.quantile(score[dev & true], 1 - kept))
        right, low, high = _share(test, threshold, answerable=True)
        false, least, most = _share(test, threshold, answerable=False)
        label = "as set" if kept is None else f"{kept:.2f}"
        print(
            f"  {label:11}  {threshold:+9.2f}   {right:.3f} [{low:.3f} {high:.3f}]"
            f"    {false:.3f} [{least:.3f} {most:.3f}]    {right / max(right + false, 1e-9):.3f}",
            flush=True,
        )


def _share(asked: list[Asked], threshold: float, *, answerable: bool) -> tuple[float, float, float]:
    """Share answered of the questions that have an answer, or have none, with its interval."""
    groups: dict[str, list[bool]] = {}
    for each in asked:
        if each.answerable == answerable:
            groups.setdefault(each.group, []).append(each.score >= threshold)
    sums: NDArray[np.int_] = np.array([sum(answered) for answered in groups.values()])
    counts: NDArray[np.int_] = np.array([len(answered) for answered in groups.values()])
    drawn = np.random.default_rng(0).integers(0, len(sums), (DRAWS, len(sums)))
    low, high = np.quantile(sums[drawn].sum(1) / counts[drawn].sum(1), [0.025, 0.975])
    return float(sums.sum() / counts.sum()), float(low), float(high)


async def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    beside = Path(os.environ.get("FOOTNOTE_DATA") or Path(__file__).parents[2] / "shared" / "data")
    parser.add_argument("folder", type=Path, nargs="?", default=beside / "retrieval")
    parser.add_argument("--cache", type=Path, default=Path(tempfile.gettempdir()) / "footnote-bench")
    parser.add_argument(
        "--sets", nargs="+", default=["mtrag", "en", "de", "es", "zh"], help='"de>en": asked in German'
    )
    parser.add_argument("--every", type=int, default=1, help="take each Nth question")
    options = parser.parse_args()
    asker = Asker(CachedEmbedder(E5Embedder(options.cache / "model"), options.cache))
    for name in options.sets:
        asked, _, written = name.partition(">")
        if name == "mtrag":
            found = await asker.mtrag(options.folder, options.every)
        else:
            found = await asker.xquad(options.folder, asked, written or asked, options.every)
        report(name, found)
        asker.embedder.save()


if __name__ == "__main__":
    asyncio.run(main())
