import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from retrieval.evaluation.bootstrap import average_interval, mean_interval

VALUES = st.lists(st.floats(0, 1, width=32), min_size=1, max_size=40)


@settings(max_examples=40)
@given(VALUES, st.integers(0, 5))
def test_repeatable_ordered_and_within_the_values(values: list[float], seed: int) -> None:
    interval = mean_interval(values, resamples=200, seed=seed)
    assert interval == mean_interval(values, resamples=200, seed=seed)
    assert interval.mean == pytest.approx(float(np.mean(values)))
    assert min(values) - 1e-9 <= interval.low <= interval.high <= max(values) + 1e-9


def test_covers_the_truth_as_often_as_it_says() -> None:
    rng = np.random.default_rng(3)
    truth, runs = 0.3, 300
    covered = 0
    for _ in range(runs):
        interval = mean_interval(rng.binomial(1, truth, 120).tolist(), resamples=400)
        covered += interval.low <= truth <= interval.high
    # 95 % of the time: within four standard errors of 300 runs, which are some 0.013 each.
    assert 0.895 <= covered / runs <= 1.0


def test_pairs_tell_more_than_two_intervals() -> None:
    rng = np.random.default_rng(5)
    hard = rng.uniform(0, 1, 200)
    better = np.clip(hard + 0.02 + rng.normal(0, 0.01, 200), 0, 1.1)
    one, two = mean_interval(hard.tolist()), mean_interval(better.tolist())
    assert one.high > two.low
    assert mean_interval((better - hard).tolist()).sign == 1


def test_each_set_counts_the_same() -> None:
    interval = average_interval([[1.0] * 1000, [0.0] * 10])
    assert (interval.mean, interval.low, interval.high) == (0.5, 0.5, 0.5)


def test_no_values() -> None:
    with pytest.raises(ValueError, match="nothing to resample"):
        mean_interval([])
