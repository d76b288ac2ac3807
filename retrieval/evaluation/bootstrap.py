"""Intervals by resampling the questions.

Efron, "Bootstrap Methods: Another Look at the Jackknife", Annals of Statistics 1979 (percentile
intervals); for paired comparisons of rankings Sakai, "Evaluating Evaluation Metrics based on the
Bootstrap", SIGIR 2006.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

Floats = NDArray[np.float64]

RESAMPLES = 2000
SEED = 7
#: Resamples drawn at once: bounds the memory at some 8 bytes times this times the questions.
_BLOCK = 100


@dataclass(frozen=True, slots=True)
class Interval:
    """An estimate, and the bounds of its 95 % interval."""

    mean: float
    low: float
    high: float

    @property
    def sign(self) -> int:
        """1 or -1 where the interval lies on one side of zero, else 0."""
        return 1 if self.low > 0 else -1 if self.high < 0 else 0


def mean_interval(
    values: Sequence[float], *, resamples: int = RESAMPLES, seed: int = SEED, level: float = 0.95
) -> Interval:
    """Of the mean of `values`; of differences it is the interval of a paired comparison.

    The same values and seed give the same interval. Raises `ValueError` for no values.
    """
    return average_interval([values], resamples=resamples, seed=seed, level=level)


def average_interval(
    groups: Sequence[Sequence[float]], *, resamples: int = RESAMPLES, seed: int = SEED, level: float = 0.95
) -> Interval:
    """Of the plain average of the groups' means, where each group is resampled on its own: a set of
    3,000 questions counts as much as one of 300.
    """
    if not groups or not all(len(group) for group in groups):
        raise ValueError("There is nothing to resample.")
    rng = np.random.default_rng(seed)
    means = np.stack([_means(np.asarray(group, dtype=np.float64), resamples, rng) for group in groups])
    low, high = np.quantile(means.mean(axis=0), [(1 - level) / 2, (1 + level) / 2])
    mean = float(np.mean([np.mean(group) for group in groups]))
    return Interval(mean, float(low), float(high))


def _means(values: Floats, resamples: int, rng: np.random.Generator) -> Floats:
    """Means of resamples with replacement, shape (resamples,)."""
    size = len(values)
    parts: list[Floats] = []
    for start in range(0, resamples, _BLOCK):
        drawn = rng.integers(0, size, (min(_BLOCK, resamples - start), size))
        parts.append(values[drawn].mean(axis=1))
    return np.concatenate(parts)
