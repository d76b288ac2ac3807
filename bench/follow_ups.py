"""Measures what is searched for a follow-up question when there is no language model.

    python -m bench.follow_ups ../shared/data/retrieval/mtrag_un_pool [--cache DIR]

nDCG@10 of a hybrid search (reciprocal rank fusion) for the question as asked, with the question before it,
and as `CarryOverRephraser` has it. MTRAG: Katsis et al., "MTRAG: A Multi-Turn Conversational Benchmark for
Evaluating Retrieval-Augmented Generation Systems", TACL 2025; its questions that need or lack an answer.
"""

from __future__ import annotations

import argparse
import asyncio
import json
import math
import tempfile
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np

from bench.cached_embedder import CachedEmbedder
from bench.xquad import bm25, ranks
from retrieval.answer.extractive.rephrase import CarryOverRephraser
from retrieval.answer.protocol import HistoryTurn
from retrieval.models.local import E5Embedder
from retrieval.trace import Step


async def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("folder", type=Path)
    parser.add_argument("--cache", type=Path, default=Path(tempfile.gettempdir()) / "footnote-bench")
    options = parser.parse_args()
    corpus, tasks, judged = _load(options.folder)
    embedder = CachedEmbedder(E5Embedder(options.cache / "model"), options.cache)
    passages = await embedder.embed_passages([row["text"] for row in corpus])
    embedder.save()
    gains = [[row["_id"] in judged[task["_id"]] for row in corpus] for task in tasks]
    followed = np.array([bool(task["history"]) for task in tasks])
    for name, queries in {
        "question as asked": [task["text"] for task in tasks],
        "question before it, too": [f"{_before(task)} {task['text']}" for task in tasks],
        "carried over": [await _carried(task) for task in tasks],
    }.items():
        dense = await embedder.embed_queries(queries) @ passages.T
        sparse = bm25(queries, [row["text"] for row in corpus], "en")
        fused = 1 / (60 + ranks(dense)) + (sparse > 0) / (60 + ranks(sparse))
        scores = np.array([_ndcg(row, gain) for row, gain in zip(fused, gains, strict=True)])
        print(f"{name:24} all {scores.mean():.4f} ({len(scores)})", end="  ")
        print(f"follow-ups {scores[followed].mean():.4f} ({followed.sum()})", flush=True)
        embedder.save()


def _load(folder: Path) -> tuple[list[dict[str, Any]], list[dict[str, Any]], dict[str, set[str]]]:
    """Corpus; tasks with `history` as turns; relevant passages by task."""
    turns = {row["task_id"]: row["history"] for row in _rows(folder / "conversations.jsonl")}
    tasks = [row | {"history": turns[row["_id"]]} for row in _rows(folder / "queries.jsonl")]
    judged: dict[str, set[str]] = {}
    for line in (folder / "qrels.tsv").read_text(encoding="utf-8").splitlines()[1:]:
        task, passage, _ = line.split("\t")
        judged.setdefault(task, set()).add(passage)
    return _rows(folder / "corpus.jsonl"), tasks, judged


def _rows(path: Path) -> list[dict[str, Any]]:
    return [json.loads(line) for line in path.read_text(encoding="utf-8").splitlines()]


def _before(task: dict[str, Any]) -> str:
    return next((turn["text"] for turn in reversed(task["history"]) if turn["role"] == "user"), "")


async def _carried(task: dict[str, Any]) -> str:
    history = [
        HistoryTurn("person" if turn["role"] == "user" else "assistant", turn["text"])
        for turn in task["history"]
    ]
    step = Step(name="rephrase", start_ms=0)
    return (
        await CarryOverRephraser().rephrase(task["text"], history, alternatives=0, step=step)
    ).standalone


def _ndcg(scores: np.ndarray, gains: Sequence[bool], cut: int = 10) -> float:
    order = np.argsort(-scores, kind="stable")[:cut]
    gained = sum(1 / math.log2(place + 2) for place, row in enumerate(order) if gains[row])
    return gained / sum(1 / math.log2(place + 2) for place in range(min(cut, sum(gains))))


if __name__ == "__main__":
    asyncio.run(main())
