"""Whether a search looks as if it had found the answer, by its scores alone.

Two things speak for it, and `bench/rewrites.py` shows how well they tell right answers from wrong ones:
both lists put the same passage first, and words beyond chance stand behind it; or the best passage stands
well apart from the second. A question that is answered in many passages has the one, a question about a
single fact in a language that no passage is written in has the other.
"""

from __future__ import annotations

from retrieval.index.protocol import Hits

#: From here on a hybrid search counts as good enough to go on without rewrites. Chosen on half of the 200
#: questions with rewrites in `bench/rewrites.py`, where it holds back half of the calls.
STRONG = 0.56
#: The same for the best score of a reranker, 0..1. Not fitted: cross-encoders of the usual providers score
#: passages that answer the question well above, and passages that merely share its topic below.
STRONG_RERANKED = 0.5


def confidence(hits: Hits) -> float | None:
    """0..2; None for a search of one kind of list only, of which too little is known.

    Takes the hits as the index returned them.
    """
    keywords = [each.weight for each in hits.weights if each.name.startswith("bm25")]
    if len(keywords) == len(hits.weights) or not keywords:
        return None if hits else 0.0
    if not hits:
        return 0.0
    second = hits[1].score if len(hits) > 1 else 0.0
    return hits[0].score * sum(keywords) + hits[0].score - second
