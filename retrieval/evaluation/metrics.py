"""Ranking metrics over graded judgements.

nDCG as Järvelin and Kekäläinen, "Cumulated gain-based evaluation of IR techniques", TOIS 2002, with
linear gain as trec_eval's ndcg_cut computes it; MRR as in TREC-8's question answering track.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence


def ndcg(ranking: Sequence[str], relevant: Mapping[str, int], k: int = 10) -> float:
    """Discounted gain of the first `k` over the best possible; 0 where nothing is relevant."""
    gain = sum(relevant.get(doc, 0) / math.log2(rank + 1) for rank, doc in enumerate(ranking[:k], 1))
    best = sorted((g for g in relevant.values() if g > 0), reverse=True)[:k]
    ideal = sum(g / math.log2(rank + 1) for rank, g in enumerate(best, 1))
    return gain / ideal if ideal else 0.0


def recall(ranking: Sequence[str], relevant: Mapping[str, int], k: int = 10) -> float:
    """Share of the relevant documents among the first `k`."""
    wanted = {doc for doc, gain in relevant.items() if gain > 0}
    return len(wanted & set(ranking[:k])) / len(wanted) if wanted else 0.0


def reciprocal_rank(ranking: Sequence[str], relevant: Mapping[str, int], k: int = 10) -> float:
    """1/rank of the first relevant document among the first `k`, else 0."""
    for rank, doc in enumerate(ranking[:k], 1):
        if relevant.get(doc, 0) > 0:
            return 1 / rank
    return 0.0
