from hypothesis import given
from hypothesis import strategies as st

from retrieval.evaluation.pareto import pareto_front

POINTS = st.lists(st.tuples(*[st.integers(0, 4).map(float)] * 3), min_size=1, max_size=12)


@given(POINTS)
def test_front(points: list[tuple[float, float, float]]) -> None:
    front = pareto_front(points)
    assert any(front)
    for point, on in zip(points, front, strict=True):
        beaten = any(
            q >= point[0] and a <= point[1] and b <= point[2] and (q, a, b) != point for q, a, b in points
        )
        assert on is not beaten
