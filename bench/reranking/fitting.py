"""A linear model of which candidate is relevant, learnt listwise.

Cao et al., "Learning to Rank: From Pairwise Approach to Listwise Approach", ICML 2007: the softmax of a
question's candidates against its judged gains. It is convex, so Newton's method finds the one solution.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

Matrix = NDArray[np.float64]


def fit(lists: Sequence[tuple[Matrix, Matrix, float]], *, ridge: float) -> Matrix:
    """Slopes, shape (features,).

    lists: of each question its features, shape (candidates, features), the gains, and how much it counts.
    Those without a relevant candidate teach nothing and are left out. ridge: weight of the slopes' squares,
    each feature measured by its spread within the lists.
    """
    kept = [(x - x.mean(axis=0), y / y.sum(), share) for x, y, share in lists if y.sum() > 0]
    total = sum(share for _, _, share in kept)
    spread = np.sqrt(sum(share * (x**2).mean(axis=0) for x, _, share in kept) / total) + 1e-9
    scaled = [(x / spread, y, share / total) for x, y, share in kept]
    slopes = np.zeros(len(spread))
    for _ in range(30):
        gradient, curvature = ridge * slopes, ridge * np.eye(len(slopes))
        for x, y, share in scaled:
            odds = np.exp(x @ slopes - (x @ slopes).max())
            odds /= odds.sum()
            mean = odds @ x
            gradient += share * (mean - y @ x)
            curvature += share * ((x * odds[:, None]).T @ x - np.outer(mean, mean))
        step = np.linalg.solve(curvature, gradient)
        slopes -= step / max(1.0, float(np.abs(step).max()))
        if np.abs(step).max() < 1e-6:
            break
    return slopes / spread
