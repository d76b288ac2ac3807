"""What rewrites add to a hybrid search, and what is kept of it where only weak searches wait for them.

    python -m bench.rewrites [--cache DIR]

200 questions of NFCorpus with the lines that a model returned for each, half of them dirty
(`nfcorpus_preprocessed/rewrites.jsonl`). The baseline is the hybrid search of the question alone. nDCG@10,
differences with paired 95 % intervals. Questions with an even number are the dev part, on which `STRONG`
was chosen, the others the test part. Without a reranker: none that installs offline is worth using.
"""

from __future__ import annotations

import argparse
import asyncio
import json
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from statistics import fmean

import numpy as np
from rich.console import Console
from rich.table import Table

from bench.cached_embedder import CachedEmbedder
from bench.fusion import tasks
from bench.ranked_lists import DEFAULT_CACHE, Floats, Passages, data_folder, embedder_of, shallower
from retrieval.answer.confidence import STRONG, confidence
from retrieval.answer.queries import clean_queries
from retrieval.documents import Chunk
from retrieval.evaluation.bootstrap import mean_interval
from retrieval.evaluation.dataset import load
from retrieval.evaluation.metrics import ndcg
from retrieval.index.fusion import Fused, Fusion, RankedList, by_reciprocal_rank, by_score
from retrieval.index.protocol import Hit, Hits
from retrieval.ingest.language import LanguageTagger

SET = "nfcorpus_preprocessed"
#: Sets in which a question has one right passage or a few: how many of their questions wait?
ELSEWHERE = ("xquad en", "xquad de", "xquad zh", "es to en", "en to zh", "mixed de", "mtrag")
RATES = (0.0, 0.1, 0.25, 0.4, 0.5, 0.6, 0.75, 0.9, 1.0)
_NO_CHUNK = Chunk.model_construct()


@dataclass(frozen=True, slots=True)
class Asked:
    question: str
    raw: list[str]
    gains: dict[str, int]

    @property
    def rewrites(self) -> list[str]:
        return list(clean_queries(self.raw))


class Rewritten:
    """The questions and the corpus; `lists` of any query."""

    def __init__(self, folder: Path, embedder: CachedEmbedder) -> None:
        data = load(folder)
        self._texts = [f"{document.title}\n{document.text}" for document in data.corpus]
        numbers = {document.id: str(number) for number, document in enumerate(data.corpus)}
        rows = [json.loads(line) for line in (folder / "rewrites.jsonl").read_text("utf-8").splitlines()]
        self.asked = [
            Asked(
                row["question"],
                row["raw"],
                {numbers[key]: gain for key, gain in data.qrels[row["_id"]].items() if key in numbers},
            )
            for row in rows
            if row["_id"] in data.qrels
        ]
        self._embedder = embedder
        self._known: dict[str, list[RankedList]] = {}

    async def prepare(self) -> None:
        tagger = LanguageTagger(self._texts)
        languages = [tagger.tag(text) for text in self._texts]
        vectors = await self._embedder.embed_passages(self._texts)
        passages = Passages(self._texts, languages, vectors)
        queries = {
            text
            for each in self.asked
            for text in (each.question, *each.raw, *each.rewrites)
            if text.strip()
        }
        texts = sorted(queries)
        for text, vector in zip(texts, await self._embedder.embed_queries(texts), strict=True):
            self._known[text] = passages.search(text, vector)
        self._embedder.save()
        self.languages = passages.languages

    def fused(self, queries: Sequence[str], fusion: Fusion = by_score) -> Fused:
        lists = [
            RankedList(f"{each.name}/{number}", number, each.entries, each.cut, each.terms, each.passages)
            for number, query in enumerate(queries)
            if query.strip()
            for each in self._known[query]
        ]
        return fusion(lists if fusion is by_score else shallower(lists), self.languages)

    def scores(self, queries: Callable[[Asked], Sequence[str]], fusion: Fusion = by_score) -> Floats:
        """nDCG@10 of each question, shape (questions,)."""
        return np.array(
            [ndcg(self.fused(queries(each), fusion).order(), each.gains) for each in self.asked]
        )

    def sure(self) -> Floats:
        return np.array([sureness(self.fused([each.question])) for each in self.asked])


def sureness(fused: Fused) -> float:
    """`confidence` as a turn has it."""
    hits = Hits([Hit(_NO_CHUNK, fused.scores[key]) for key in fused.order()[:12]], fused.weights)
    return confidence(hits) or 0.0


def gains_table(data: Rewritten, base: Floats) -> Table:
    table = Table(title="Rewrites with every question: nDCG@10, and what they add to the question alone")
    for heading in ("searched", "by score", "adds", "by rank (RRF)", "adds"):
        table.add_column(heading, justify="left" if heading == "searched" else "right")
    by_rank = data.scores(lambda each: [each.question], by_reciprocal_rank)
    kinds: dict[str, Callable[[Asked], Sequence[str]]] = {
        "the question": lambda each: [each.question],
        "and 1 rewrite": lambda each: [each.question, *each.rewrites[:1]],
        "and 2 rewrites": lambda each: [each.question, *each.rewrites[:2]],
        "and 4 rewrites": lambda each: [each.question, *each.rewrites[:4]],
        "and all lines as they came": lambda each: [each.question, *each.raw],
        "4 rewrites alone": lambda each: each.rewrites[:4],
    }
    for name, queries in kinds.items():
        row = [name]
        for fusion, alone in ((by_score, base), (by_reciprocal_rank, by_rank)):
            scores = data.scores(queries, fusion)
            row += [f"{scores.mean():.3f}", interval(scores - alone)]
        table.add_row(*row)
    return table


def curve(base: Floats, rewritten: Floats, sure: Floats) -> Table:
    table = Table(title="Only the least sure share of the questions waits for 4 rewrites: what that adds")
    for heading in ("waiting", "dev", "share of all", "test", "share of all", "test, at random", "all"):
        table.add_column(heading, justify="right")
    dev = np.arange(len(base)) % 2 == 0
    for rate in RATES:
        row = [f"{rate:.0%}"]
        for part in (dev, ~dev):
            gain = (rewritten - base)[part]
            kept = gain * (_ranks(sure[part]) < round(rate * part.sum()))
            row += [interval(kept), f"{kept.sum() / gain.sum():.0%}"]
        row += [f"{rate * (rewritten - base)[~dev].mean():+.4f}"]
        row += [interval((rewritten - base) * (_ranks(sure) < round(rate * len(base))))]
        table.add_row(*row)
    weak = sure < STRONG
    row = [f"below {STRONG:g}"]
    for part in (dev, ~dev):
        gain = (rewritten - base)[part]
        kept = gain * weak[part]
        row += [f"{weak[part].mean():.0%} wait: {interval(kept)}", f"{kept.sum() / gain.sum():.0%}"]
    row += [
        f"{weak[~dev].mean() * (rewritten - base)[~dev].mean():+.4f}",
        interval((rewritten - base) * weak),
    ]
    table.add_row(*row)
    return table


async def elsewhere(folder: Path, embedder: CachedEmbedder) -> Table:
    table = Table(title=f"Who waits elsewhere (confidence below {STRONG:g})")
    for heading in ("set", "best passage right", "of those, waiting", "of the others, waiting", "AUC"):
        table.add_column(heading, justify="left" if heading == "set" else "right")
    for task in tasks(folder, 4):
        if not task.name.startswith(ELSEWHERE):
            continue
        passages = Passages(task.passages, task.languages, await embedder.embed_passages(task.passages))
        right: list[bool] = []
        sure: list[float] = []
        vectors = await embedder.embed_queries([text for text, _ in task.questions])
        for (text, gains), vector in zip(task.questions, vectors, strict=True):
            fused = by_score(passages.search(text, vector), passages.languages)
            right.append(fused.order()[0] in gains)
            sure.append(sureness(fused))
        is_right, sureness_of = np.array(right), np.array(sure)
        waits = sureness_of < STRONG
        table.add_row(
            task.name,
            f"{is_right.mean():.0%}",
            f"{waits[is_right].mean():.0%}",
            f"{waits[~is_right].mean():.0%}",
            f"{_auc(sureness_of, is_right):.2f}",
        )
    return table


def interval(differences: Floats) -> str:
    over = mean_interval(differences.tolist())
    return f"{over.mean:+.4f} ({over.low:+.4f} {over.high:+.4f})"


def _ranks(values: Floats) -> Floats:
    return np.argsort(np.argsort(values, kind="stable")).astype(np.float64)


def _auc(values: Floats, positive: np.ndarray) -> float:
    """How often a right answer is surer than a wrong one."""
    return fmean(
        float(np.mean((value > values[~positive]) + 0.5 * (value == values[~positive])))
        for value in values[positive]
    )


async def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--cache", type=Path, default=DEFAULT_CACHE)
    options = parser.parse_args()
    folder = data_folder(parser)
    embedder = embedder_of(options.cache)
    data = Rewritten(folder / SET, embedder)
    await data.prepare()
    base = data.scores(lambda each: [each.question])
    rewritten = data.scores(lambda each: [each.question, *each.rewrites[:4]])
    console = Console(width=170)
    console.print(gains_table(data, base))
    console.print(curve(base, rewritten, data.sure()))
    console.print(await elsewhere(folder, embedder))
    await embedder.aclose()


if __name__ == "__main__":
    asyncio.run(main())
