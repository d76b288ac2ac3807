"""The retry policy by itself: attempts, pauses, the deadline, streams."""

from __future__ import annotations

import asyncio
import random
from collections.abc import AsyncGenerator
from datetime import UTC, datetime, timedelta
from email.utils import format_datetime

import pytest
from hypothesis import given
from hypothesis import strategies as st

from retrieval.models.protocol import ModelError
from retrieval.models.retry import Failure, RetryPolicy, equal_jitter
from retrieval.models.retry_after import from_google, from_headers
from tests.retrieval.models.support import FakeTime


class Flaky:
    """Fails as often as told, then gives 7."""

    def __init__(self, failures: int, *, after: float | None = None, again: bool = True) -> None:
        self.calls = 0
        self.failures = failures
        self.after = after
        self.again = again

    async def __call__(self) -> int:
        self.calls += 1
        if self.calls <= self.failures:
            raise OSError(f"secret {self.calls}")
        return 7

    async def pieces(self) -> AsyncGenerator[int]:
        yield await self()

    def explain(self, error: Exception) -> Failure | None:
        if isinstance(error, OSError):
            failure = ModelError("unavailable", f"Attempt {self.calls}.", retry_after=self.after)
            return Failure(failure, again=self.again)
        return None


async def test_the_first_success_counts() -> None:
    time, flaky = FakeTime(), Flaky(2)
    assert await time.policy().run(flaky, flaky.explain) == 7
    assert time.slept == [0.5, 1.0]


async def test_attempts_are_bounded_and_the_last_error_is_raised_alone() -> None:
    time, flaky = FakeTime(), Flaky(99)
    with pytest.raises(ModelError, match="Attempt 3") as caught:
        await time.policy().run(flaky, flaky.explain)
    assert flaky.calls == 3
    assert caught.value.__cause__ is None
    assert caught.value.__context__ is None


async def test_what_cannot_get_better_is_not_tried_again() -> None:
    time, flaky = FakeTime(), Flaky(1, again=False)
    with pytest.raises(ModelError):
        await time.policy().run(flaky, flaky.explain)
    assert flaky.calls == 1


async def test_a_fault_of_ours_is_raised_as_it_is() -> None:
    async def broken() -> int:
        raise KeyError("a bug")

    with pytest.raises(KeyError):
        await FakeTime().policy().run(broken, Flaky(0).explain)


@pytest.mark.parametrize(("after", "slept"), [(4.0, [4.5, 4.5]), (0.0, [0.5, 0.5]), (31.0, [])])
async def test_a_wait_that_is_asked_for_is_kept_up_to_a_bound(after: float, slept: list[float]) -> None:
    time, flaky = FakeTime(), Flaky(99, after=after)
    with pytest.raises(ModelError):
        await time.policy(longest_retry_after=30.0).run(flaky, flaky.explain)
    assert time.slept == slept


async def test_no_attempt_begins_after_the_deadline() -> None:
    time, flaky = FakeTime(), Flaky(99)
    with pytest.raises(ModelError):
        await time.policy(attempts=50, deadline=20.0).run(flaky, flaky.explain)
    assert time.now < 20
    assert 3 < flaky.calls < 10


async def test_pauses_grow_to_a_bound() -> None:
    time, flaky = FakeTime(), Flaky(99)
    with pytest.raises(ModelError):
        await time.policy(attempts=8, deadline=1e9, longest_pause=4.0).run(flaky, flaky.explain)
    assert time.slept == [0.5, 1.0, 2.0, 4.0, 4.0, 4.0, 4.0]


async def test_an_attempt_gets_no_more_than_what_is_left_of_the_deadline() -> None:
    given_times: list[float] = []
    time = FakeTime()

    def limit(seconds: float) -> asyncio.Timeout:
        given_times.append(seconds)
        time.now += 6
        return asyncio.timeout(None)

    flaky = Flaky(99)
    policy = RetryPolicy(
        timeout=10, deadline=15, sleep=time.sleep, clock=lambda: time.now, jitter=float, limit=limit
    )
    with pytest.raises(ModelError):
        await policy.run(flaky, flaky.explain)
    assert given_times == [10, 8.5, 1.5]


@given(bound=st.floats(0, 1e6), seed=st.integers())
def test_jitter_stays_in_its_upper_half(bound: float, seed: int) -> None:
    random.seed(seed)
    assert bound / 2 <= equal_jitter(bound) <= bound


# -- streams -----------------------------------------------------------------------------------
async def test_a_stream_begins_again_only_while_nothing_was_yielded() -> None:
    time, flaky = FakeTime(), Flaky(2)
    assert [piece async for piece in time.policy().stream(flaky.pieces, flaky.explain)] == [7]
    assert flaky.calls == 3


async def test_a_stream_that_has_begun_is_not_begun_again() -> None:
    flaky, seen = Flaky(99), list[int]()

    async def pieces() -> AsyncGenerator[int]:
        yield 1
        await flaky()

    with pytest.raises(ModelError, match="Attempt 1"):
        seen.extend([piece async for piece in FakeTime().policy().stream(pieces, flaky.explain)])
    assert flaky.calls == 1


async def test_an_error_of_the_reader_is_not_taken_for_the_providers() -> None:
    closed: list[bool] = []

    async def pieces() -> AsyncGenerator[int]:
        try:
            for number in range(10):
                yield number
        finally:
            closed.append(True)

    stream = FakeTime().policy().stream(pieces, Flaky(0).explain)
    assert await anext(stream) == 0
    with pytest.raises(OSError, match="reader"):
        await stream.athrow(OSError("the reader failed"))
    assert closed == [True]


async def test_leaving_a_stream_closes_what_it_reads_from() -> None:
    closed: list[bool] = []

    async def pieces() -> AsyncGenerator[int]:
        try:
            yield 1
            yield 2
        finally:
            closed.append(True)

    stream = FakeTime().policy().stream(pieces, Flaky(0).explain)
    assert await anext(stream) == 1
    await stream.aclose()
    assert closed == [True]


# -- Retry-After -------------------------------------------------------------------------------
NOW = datetime(2026, 11, 30, 12, 0, tzinfo=UTC)


@pytest.mark.parametrize(
    ("headers", "seconds"),
    [
        ({"Retry-After": "120"}, 120),
        ({"retry-after": "1.5"}, 1.5),
        ({"RETRY-AFTER": format_datetime(NOW + timedelta(seconds=90), usegmt=True)}, 90),
        ({"Retry-After": format_datetime(NOW - timedelta(days=1), usegmt=True)}, 0),
        ({"Retry-After": "Mon, 30 Nov 2026 12:00:30 -0000"}, 30),
        ({"Retry-After": "-5"}, 0),
        ({"Retry-After": "nan"}, None),
        ({"Retry-After": "inf"}, None),
        ({"Retry-After": "soon"}, None),
        ({"Retry-After": ""}, None),
        ({"Retry-After": "9", "retry-after-ms": "250"}, 0.25),
        ({}, None),
        (None, None),
    ],
)
def test_retry_after_is_read(headers: dict[str, str] | None, seconds: float | None) -> None:
    assert from_headers(headers, now=NOW) == seconds


@given(st.text(max_size=40))
def test_any_retry_after_is_a_wait_or_nothing(value: str) -> None:
    seconds = from_headers({"Retry-After": value}, now=NOW)
    assert seconds is None or seconds >= 0


@given(
    st.recursive(
        st.none() | st.integers() | st.text(max_size=8),
        lambda inner: (
            st.lists(inner, max_size=3)
            | st.dictionaries(st.sampled_from(["error", "details", "@type", "retryDelay"]), inner)
        ),
    )
)
def test_any_google_error_is_a_wait_or_nothing(details: object) -> None:
    assert from_google(details) is None


@pytest.mark.parametrize(("delay", "seconds"), [("34s", 34), ("0.5s", 0.5), ("34", None), ("x", None)])
def test_a_google_retry_info_is_read(delay: str, seconds: float | None) -> None:
    entry = {"@type": "type.googleapis.com/google.rpc.RetryInfo", "retryDelay": delay}
    assert from_google({"error": {"details": [{"@type": "other"}, entry]}}) == seconds
