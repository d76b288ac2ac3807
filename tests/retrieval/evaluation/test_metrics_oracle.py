"""The metrics against the plainest way to compute them."""

import math

from hypothesis import given
from hypothesis import strategies as st

from retrieval.evaluation.metrics import ndcg, recall, reciprocal_rank

RANKINGS = st.lists(st.sampled_from("abcdefghijklmnop"), unique=True)
JUDGED = st.dictionaries(st.sampled_from("abcdefghijklmnop"), st.integers(0, 3))
DEPTH = st.integers(1, 12)


def dcg(gains: list[int]) -> float:
    total = 0.0
    for place, gain in enumerate(gains):
        total += gain / math.log2(place + 2)
    return total


@given(RANKINGS, JUDGED, DEPTH)
def test_as_by_definition(ranking: list[str], judged: dict[str, int], k: int) -> None:
    top = ranking[:k]
    gains = [judged.get(doc, 0) for doc in top]
    best = dcg(sorted(judged.values(), reverse=True)[:k])
    assert math.isclose(ndcg(ranking, judged, k), dcg(gains) / best if best else 0.0)
    relevant = [doc for doc in judged if judged[doc] > 0]
    found = sum(doc in top for doc in relevant)
    assert recall(ranking, judged, k) == (found / len(relevant) if relevant else 0.0)
    first = next((1 / place for place, doc in enumerate(top, 1) if doc in relevant), 0.0)
    assert reciprocal_rank(ranking, judged, k) == first


@given(RANKINGS, JUDGED, DEPTH)
def test_a_deeper_look_finds_no_less(ranking: list[str], judged: dict[str, int], k: int) -> None:
    assert recall(ranking, judged, k) <= recall(ranking, judged, k + 1)
    assert reciprocal_rank(ranking, judged, k) <= reciprocal_rank(ranking, judged, k + 1)
