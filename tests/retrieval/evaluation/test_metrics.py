import math

import pytest
from hypothesis import given
from hypothesis import strategies as st

from retrieval.evaluation.metrics import ndcg, recall, reciprocal_rank

NAMES = st.lists(st.sampled_from("abcdefghijkl"), unique=True)


def test_by_hand() -> None:
    relevant = {"a": 2, "b": 1}
    assert ndcg(["b", "x", "a"], relevant) == pytest.approx((1 + 2 / 2) / (2 + 1 / math.log2(3)))
    assert recall(["b", "x"], relevant) == 0.5
    assert reciprocal_rank(["x", "b"], relevant) == 0.5
    assert ndcg(["x"] * 10 + ["a"], {"a": 1}) == reciprocal_rank(["x"] * 10 + ["a"], {"a": 1}) == 0


@given(NAMES, st.dictionaries(st.sampled_from("abcdefghijkl"), st.integers(0, 3)))
def test_bounds_and_the_perfect_order(ranking: list[str], relevant: dict[str, int]) -> None:
    for metric in (ndcg, recall, reciprocal_rank):
        assert 0 <= metric(ranking, relevant) <= 1 + 1e-12
    best = sorted(relevant, key=lambda doc: -relevant[doc])
    assert ndcg(best, relevant) == pytest.approx(1.0 if any(relevant.values()) else 0.0)
