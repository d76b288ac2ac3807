"""Measures what is searched for a follow-up question, with and without a language model.

    python -m bench.follow_ups [../shared/data/retrieval] [--cache DIR] [--sets mtrag ...] [--prompts]

nDCG@10 of a hybrid search (reciprocal rank fusion) on each set of `bench/conversations.py`: for the
question as asked ("last"), with the question before it ("previous + last"), with every earlier question,
and as `CarryOverRephraser` has it; differences with 95 % intervals of a paired bootstrap over
conversations. Rules and constants were chosen on the conversations of "dev" alone. "touched" is the share
of questions that are changed, of those to which a person has added no word and of the others.

With `--prompts`: what a model that rewrites perfectly could do with the parts of a thread that it is given:
the share of the words added by a person that stand in them, the tokens that they cost, and nDCG@10 of the
question with just those words.
"""

from __future__ import annotations

import argparse
import asyncio
import math
import os
import tempfile
from collections.abc import Callable, Sequence
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from bench.cached_embedder import CachedEmbedder
from bench.conversations import NAMES, Conversations, FollowUp, read
from bench.xquad import bm25, ranks
from retrieval.answer.budget import estimate_tokens, rephrase_turns
from retrieval.answer.extractive.question import content_terms
from retrieval.answer.extractive.rephrase import CarryOverRephraser
from retrieval.answer.language import language_of
from retrieval.answer.queries import plan_queries
from retrieval.models.local import E5Embedder
from retrieval.trace import Step

Floats = NDArray[np.float64]
DRAWS = 2000
#: Constant of reciprocal rank fusion.
SMOOTHING = 60

#: What of a thread a model could be given.
CONTEXTS: dict[str, Callable[[FollowUp], list[str]]] = {
    "last question": lambda task: task.asked[-1:],
    "first and last question": lambda task: [*task.asked[:1], *task.asked[-1:]],
    "all questions": lambda task: task.asked,
    "last question and answer": lambda task: [*task.asked[-1:], *task.answers[-1:]],
    "all questions, last answer": lambda task: [*task.asked, *task.answers[-1:]],
    "as prompted": lambda task: [turn.text for turn in rephrase_turns(task.history)],
    "everything": lambda task: [turn.text for turn in task.history],
}


class Searched:
    """One set with its texts embedded."""

    def __init__(self, data: Conversations, embedder: CachedEmbedder) -> None:
        self.data = data
        self._embedder = embedder

    async def scores(self, queries: Sequence[Sequence[str]]) -> Floats:
        """nDCG@10 of each follow-up, searched by all of its queries at once."""
        texts = self.data.texts
        flat = list(dict.fromkeys(query for each in queries for query in each))
        passages = await self._embedder.embed_passages(texts)
        dense = await self._embedder.embed_queries(flat) @ passages.T
        sparse = bm25(flat, texts, "en")
        fused = 1 / (SMOOTHING + ranks(dense)) + (sparse > 0) / (SMOOTHING + ranks(sparse))
        at = {query: row for row, query in enumerate(flat)}
        return np.array(
            [
                _ndcg(fused[[at[query] for query in each]].sum(0), task.relevant)
                for each, task in zip(queries, self.data.follow_ups, strict=True)
            ]
        )

    def difference(self, one: Floats, other: Floats, chosen: NDArray[np.bool_]) -> str:
        """Mean of one - other over the chosen follow-ups, with its interval."""
        groups: dict[str, list[int]] = {}
        for place in np.flatnonzero(chosen):
            groups.setdefault(self.data.follow_ups[place].conversation, []).append(int(place))
        sums = np.array([(one - other)[places].sum() for places in groups.values()])
        counts = np.array([len(places) for places in groups.values()])
        drawn = np.random.default_rng(0).integers(0, len(sums), (DRAWS, len(sums)))
        low, high = np.quantile(sums[drawn].sum(1) / counts[drawn].sum(1), [0.025, 0.975])
        return f"{sums.sum() / counts.sum():+.3f} [{low:+.3f} {high:+.3f}]"


async def searched_for(task: FollowUp) -> list[str]:
    """What is searched for a follow-up without a model, by default."""
    step = Step(name="rephrase", start_ms=0)
    rephrased = await CarryOverRephraser().rephrase(task.question, task.history, alternatives=1, step=step)
    return plan_queries(task.question.strip(), rephrased)


async def compare(searched: Searched) -> None:
    tasks = searched.data.follow_ups
    carried = [await searched_for(task) for task in tasks]
    queries: dict[str, list[list[str]]] = {
        "last": [[task.question] for task in tasks],
        "previous + last": [[" ".join([*task.asked[-1:], task.question])] for task in tasks],
        "all questions": [[" ".join([*task.asked, task.question])] for task in tasks],
        "carried over": carried,
    }
    if tasks[0].rewrite is not None:
        queries["by a person"] = [[task.rewrite or ""] for task in tasks]
    results = {name: await searched.scores(each) for name, each in queries.items()}
    for part in ("dev", "test"):
        chosen = np.array([task.part == part for task in tasks])
        for name, scores in results.items():
            print(
                f"{searched.data.name:18} {part:4} n={chosen.sum():3} {name:16} {scores[chosen].mean():.4f}"
                f"  vs last {searched.difference(scores, results['last'], chosen)}"
                f"  vs previous + last {searched.difference(scores, results['previous + last'], chosen)}",
                flush=True,
            )
    touched = np.array([each != [task.question.strip()] for each, task in zip(carried, tasks, strict=True)])
    if tasks[0].rewrite is None:
        print(f"{searched.data.name:18} touched {touched.mean():.3f} of all")
        return
    left = np.array([not _keys(task.rewrite or "") - _keys(task.question) for task in tasks])
    print(
        f"{searched.data.name:18} touched {touched[left].mean():.3f} of the {left.sum()} to which a person "
        f"added nothing, {touched[~left].mean():.3f} of the others"
    )


async def prompts(searched: Searched) -> None:
    tasks = searched.data.follow_ups
    wanted = [_keys(task.rewrite or "") - _keys(task.question) for task in tasks]
    for name, context in CONTEXTS.items():
        parts = [" ".join(context(task)) for task in tasks]
        held = [len(keys & _keys(part)) for keys, part in zip(wanted, parts, strict=True)]
        queries = [
            [_completed(task, keys & _keys(part))]
            for task, keys, part in zip(tasks, wanted, parts, strict=True)
        ]
        scores = await searched.scores(queries)
        share = sum(held) / sum(map(len, wanted))
        tokens = np.mean([estimate_tokens(part) for part in parts])
        print(
            f"{searched.data.name:18} {name:26} holds {share:.3f} of the words, {tokens:5.0f} tokens, "
            f"nDCG@10 {scores.mean():.4f}",
            flush=True,
        )


def _completed(task: FollowUp, keys: frozenset[str]) -> str:
    """The question with those words of its rewrite that have these keys."""
    text = task.rewrite or ""
    words = [text[t.start : t.end] for t in content_terms(text, language_of(text)) if t.key in keys]
    return " ".join([task.question, *dict.fromkeys(words)])


def _keys(text: str) -> frozenset[str]:
    return frozenset(term.key for term in content_terms(text, "en"))


def _ndcg(scores: Floats, relevant: frozenset[int], cut: int = 10) -> float:
    order = np.argsort(-scores, kind="stable")[:cut].tolist()
    gained = sum(1 / math.log2(place + 2) for place, row in enumerate(order) if row in relevant)
    return gained / sum(1 / math.log2(place + 2) for place in range(min(cut, len(relevant))))


async def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    beside = Path(os.environ.get("FOOTNOTE_DATA") or Path(__file__).parents[2] / "shared" / "data")
    parser.add_argument("folder", type=Path, nargs="?", default=beside / "retrieval")
    parser.add_argument("--cache", type=Path, default=Path(tempfile.gettempdir()) / "footnote-bench")
    parser.add_argument("--sets", nargs="+", choices=NAMES, default=NAMES)
    parser.add_argument("--prompts", action="store_true")
    options = parser.parse_args()
    embedder = CachedEmbedder(E5Embedder(options.cache / "model"), options.cache)
    for name in options.sets:
        searched = Searched(read(options.folder, name), embedder)
        if not options.prompts:
            await compare(searched)
        elif name != "mtrag":
            await prompts(searched)
        embedder.save()


if __name__ == "__main__":
    asyncio.run(main())
