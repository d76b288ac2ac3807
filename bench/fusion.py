"""Fusion against each list alone and against reciprocal ranks, on every set, with intervals.

    python -m bench.fusion [--every N] [--only NAME ...] [--cache DIR]

The sets lie under `$FOOTNOTE_DATA/retrieval`. Besides them: xquad's questions of each language over the
passages of each other; `mixed`, its questions over passages of which each article is in one of the
languages only; and `pool`, over the passages of all languages, where each translation is as good. The first
run embeds everything, which takes half an hour or more; the vectors stay in the cache.

Questions with an even number are the dev part, the others the test part. `CHANCE` is also chosen anew for
each family of sets, on the dev parts of the other families, to see what it is worth on a family that had no
part in it. nDCG@10; "best" is the best of dense, BM25 and RRF on the same questions; intervals are 95 %,
paired.
"""

from __future__ import annotations

import argparse
import asyncio
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from itertools import chain
from pathlib import Path
from statistics import fmean

from rich.console import Console
from rich.table import Table

from bench.cached_embedder import CachedEmbedder
from bench.ranked_lists import DEFAULT_CACHE, Passages, data_folder, embedder_of, shallower
from retrieval.evaluation.bootstrap import average_interval, mean_interval
from retrieval.evaluation.dataset import Dataset, load
from retrieval.evaluation.metrics import ndcg
from retrieval.index.fusion import CHANCE, RankedList, by_reciprocal_rank, by_score, combine, weigh
from retrieval.ingest.language import LanguageTagger

LANGUAGES = ("en", "de", "es", "zh", "th", "ar")
OTHERS = ("drcd_dev_zh-hant", "cmrc2018_dev_zh", "scifact", "nfcorpus_preprocessed", "mtrag_un_pool")
#: XQuAD has five paragraphs of each article, in order.
PARAGRAPHS = 5
#: Of sets with more questions than this, every third is taken.
MANY = 1500
GRID = (6.0, 7.0, 8.0, 9.0, 10.0, 12.0)
NAMES = ("dense", "BM25", "RRF", "new")


@dataclass(frozen=True, slots=True)
class Task:
    name: str
    family: str
    #: Text and gain of each relevant passage, by its number in `passages`.
    questions: Sequence[tuple[str, dict[str, int]]]
    passages: Sequence[str]
    languages: Sequence[str]


@dataclass(slots=True)
class Scores:
    """nDCG@10 of each question, by name of a configuration, and by value of `CHANCE`."""

    task: Task
    by_name: dict[str, list[float]] = field(default_factory=lambda: {name: [] for name in NAMES})
    by_chance: dict[float, list[float]] = field(default_factory=lambda: {value: [] for value in GRID})

    def best(self, part: slice) -> str:
        return max(NAMES[:3], key=lambda name: fmean(self.by_name[name][part]))


DEV, TEST, ALL = slice(0, None, 2), slice(1, None, 2), slice(None)


def tasks(folder: Path, every: int) -> Iterator[Task]:
    sets = {language: load(folder / "xquad" / language) for language in LANGUAGES}
    tags = {language: _tags(data) for language, data in sets.items()}
    for asked, data in sets.items():
        for written, corpus in sets.items():
            family = "xquad" if asked == written else "across"
            name = f"xquad {asked}" if asked == written else f"{asked} to {written}"
            yield Task(name, family, _questions(data)[::every], _texts(corpus), tags[written])
    turns = [LANGUAGES[number // PARAGRAPHS % len(LANGUAGES)] for number in range(len(_texts(sets["en"])))]
    texts = {language: _texts(data) for language, data in sets.items()}
    mixed = [texts[language][number] for number, language in enumerate(turns)]
    mixed_tags = [tags[language][number] for number, language in enumerate(turns)]
    size = len(turns)
    for asked, data in sets.items():
        yield Task(f"mixed {asked}", "mixed", _questions(data)[::every], mixed, mixed_tags)
        pooled = [
            (
                text,
                {str(int(key) + size * n): gain for key, gain in gains.items() for n in range(len(sets))},
            )
            for text, gains in _questions(data)[:: every * 3]
        ]
        everything, every_tag = (list(chain(*of.values())) for of in (texts, tags))
        yield Task(f"pool {asked}", "pool", pooled, everything, every_tag)
    for name in OTHERS:
        data = load(folder / name)
        questions = _questions(data)
        step = every * (3 if len(questions) > MANY else 1)
        yield Task(name, name, questions[::step], _texts(data), _tags(data))


def _questions(data: Dataset) -> list[tuple[str, dict[str, int]]]:
    numbers = {document.id: str(number) for number, document in enumerate(data.corpus)}
    return [
        (text, {numbers[d]: gain for d, gain in data.qrels[key].items() if d in numbers})
        for key, text in sorted(data.queries.items())
    ]


def _texts(data: Dataset) -> list[str]:
    """As a chunk's context is embedded."""
    return [f"{document.title}\n{document.text}" for document in data.corpus]


def _tags(data: Dataset) -> list[str]:
    tagger = LanguageTagger(_texts(data))
    return [tagger.tag(text) for text in _texts(data)]


async def score(task: Task, embedder: CachedEmbedder) -> Scores:
    passages = Passages(task.passages, task.languages, await embedder.embed_passages(task.passages))
    vectors = await embedder.embed_queries([text for text, _ in task.questions])
    embedder.save()
    scores = Scores(task)
    for (text, gains), vector in zip(task.questions, vectors, strict=True):
        lists = passages.search(text, vector)

        def add(of: list[float], order: Sequence[str], gains: dict[str, int] = gains) -> None:
            of.append(ndcg(order, gains))

        dense, *words = lists
        add(scores.by_name["dense"], [key for key, _ in dense.entries])
        add(scores.by_name["BM25"], [key for each in words for key, _ in each.entries])
        add(scores.by_name["RRF"], by_reciprocal_rank(shallower(lists), passages.languages).order())
        add(scores.by_name["new"], by_score(lists, passages.languages).order())
        for value in GRID:
            add(scores.by_chance[value], _with_chance(lists, passages, value))
    return scores


def _with_chance(lists: Sequence[RankedList], passages: Passages, value: float) -> list[str]:
    weights = [
        weight if each.terms is None else weight * CHANCE / value
        for each, weight in zip(lists, weigh(lists), strict=True)
    ]
    return combine(lists, weights, passages.languages).order()


def _row(scores: Scores) -> list[str]:
    means = [f"{fmean(scores.by_name[name]):.3f}" for name in NAMES]
    parts = [
        _difference(scores, scores.best(part) if against == "best" else against, part)
        for against, part in (("RRF", ALL), ("best", DEV), ("best", TEST), ("best", ALL))
    ]
    return [scores.task.name, str(len(scores.by_name["new"])), *means, *parts]


def _difference(scores: Scores, against: str, part: slice) -> str:
    pairs = zip(scores.by_name["new"][part], scores.by_name[against][part], strict=True)
    interval = mean_interval([new - old for new, old in pairs])
    return f"{interval.mean:+.3f} ({interval.low:+.3f} {interval.high:+.3f})"


def left_out(results: Sequence[Scores]) -> Table:
    """`CHANCE` chosen without a family, and what it gives there."""
    table = Table(
        title="CHANCE chosen on the dev parts of all other families; test part of the one left out"
    )
    for heading in ("family", "chosen", "nDCG@10", "minus RRF", f"with {CHANCE:g}", "worst set minus best"):
        table.add_column(heading, justify="right")
    families = list(dict.fromkeys(scores.task.family for scores in results))
    for family in families:
        others = [scores for scores in results if scores.task.family != family]
        own = [scores for scores in results if scores.task.family == family]
        chosen = max(GRID, key=lambda value: _worth(others, value)) if others else CHANCE
        gains = [
            [new - old for new, old in zip(s.by_chance[chosen][TEST], s.by_name["RRF"][TEST], strict=True)]
            for s in own
        ]
        over = average_interval(gains)
        worst = min(fmean(s.by_chance[chosen][TEST]) - fmean(s.by_name[s.best(TEST)][TEST]) for s in own)
        table.add_row(
            family,
            f"{chosen:g}",
            f"{fmean(fmean(s.by_chance[chosen][TEST]) for s in own):.3f}",
            f"{over.mean:+.3f} ({over.low:+.3f} {over.high:+.3f})",
            f"{fmean(fmean(s.by_name['new'][TEST]) for s in own):.3f}",
            f"{worst:+.3f}",
        )
    return table


def _worth(results: Sequence[Scores], value: float) -> float:
    """What is lost against the best of the old ways, where something is, each family alike."""
    by_family: dict[str, list[float]] = {}
    for scores in results:
        loss = fmean(scores.by_chance[value][DEV]) - fmean(scores.by_name[scores.best(DEV)][DEV])
        by_family.setdefault(scores.task.family, []).append(min(0.0, loss))
    return fmean(map(fmean, by_family.values()))


async def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--every", type=int, default=1, help="take every Nth question")
    parser.add_argument(
        "--only", nargs="+", metavar="NAME", help="sets whose name begins with one of these"
    )
    parser.add_argument("--cache", type=Path, default=DEFAULT_CACHE)
    options = parser.parse_args()
    folder = data_folder(parser)
    embedder = embedder_of(options.cache)
    console = Console(width=170)
    table = Table(title="nDCG@10")
    for heading in ("set", "questions", *NAMES, "new - RRF", "dev: - best", "test: - best", "- best"):
        table.add_column(heading, justify="left" if heading == "set" else "right")
    results: list[Scores] = []
    with console.status("") as status:
        for task in tasks(folder, options.every):
            if not options.only or task.name.startswith(tuple(options.only)):
                status.update(task.name)
                results.append(await score(task, embedder))
                table.add_row(*_row(results[-1]))
    await embedder.aclose()
    for name, against in (("all: new - RRF", "RRF"), ("all: new - best", "best")):
        gains = [
            [
                new - old
                for new, old in zip(
                    s.by_name["new"], s.by_name[s.best(ALL) if against == "best" else against], strict=True
                )
            ]
            for s in results
        ]
        over = average_interval(gains)
        table.add_row(name, "", *[""] * 7, f"{over.mean:+.4f} ({over.low:+.4f} {over.high:+.4f})")
    console.print(table)
    console.print(left_out(results))


if __name__ == "__main__":
    asyncio.run(main())
