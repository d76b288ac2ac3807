"""Which configurations are worth choosing among: those that none beats in quality and in every cost."""

from __future__ import annotations

from collections.abc import Sequence


def pareto_front(points: Sequence[tuple[float, ...]]) -> list[bool]:
    """Whether each point is on the front. The first coordinate is a quality, greater is better; the others
    are costs, less is better. Of equal points all are on it.
    """
    return [not any(_beats(other, point) for other in points) for point in points]


def _beats(one: tuple[float, ...], other: tuple[float, ...]) -> bool:
    """At least as good in everything and better in something."""
    no_worse = one[0] >= other[0] and all(a <= b for a, b in zip(one[1:], other[1:], strict=True))
    return no_worse and one != other
