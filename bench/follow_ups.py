"""Measures what is searched for a follow-up question when there is no language model.

    python -m bench.follow_ups ../shared/data/retrieval/mtrag_un_pool [--cache DIR]

nDCG@10 of a hybrid search (reciprocal rank fusion) for the question as asked, with the question before it,
and as `CarryOverRephraser` has it.
"""

from __future__ import annotations

import argparse
import asyncio
import math
import tempfile
from pathlib import Path
from typing import Any

import numpy as np

from bench.cached_embedder import CachedEmbedder
from bench.mtrag import Mtrag, carried
from retrieval.models.local import E5Embedder


async def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("folder", type=Path)
    parser.add_argument("--cache", type=Path, default=Path(tempfile.gettempdir()) / "footnote-bench")
    options = parser.parse_args()
    data = Mtrag(options.folder)
    embedder = CachedEmbedder(E5Embedder(options.cache / "model"), options.cache)
    followed = np.array([bool(task["history"]) for task in data.tasks])
    for name, queries in {
        "question as asked": [task["text"] for task in data.tasks],
        "question before it, too": [f"{_before(task)} {task['text']}" for task in data.tasks],
        "carried over": [await carried(task) for task in data.tasks],
    }.items():
        found = await data.search(queries, embedder)
        scores = np.array(
            [_ndcg(row, data.relevant(task)) for row, task in zip(found, data.tasks, strict=True)]
        )
        print(f"{name:24} all {scores.mean():.4f} ({len(scores)})", end="  ")
        print(f"follow-ups {scores[followed].mean():.4f} ({followed.sum()})", flush=True)
        embedder.save()


def _before(task: dict[str, Any]) -> str:
    return next((turn["text"] for turn in reversed(task["history"]) if turn["role"] == "user"), "")


def _ndcg(scores: np.ndarray, relevant: np.ndarray, cut: int = 10) -> float:
    order = np.argsort(-scores, kind="stable")[:cut]
    gained = sum(1 / math.log2(place + 2) for place, row in enumerate(order) if relevant[row])
    return gained / sum(1 / math.log2(place + 2) for place in range(min(cut, int(relevant.sum()))))


if __name__ == "__main__":
    asyncio.run(main())
