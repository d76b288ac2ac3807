"""What every provider of text does alike: the real SDKs against strict doubles over HTTP."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator

import pytest

from retrieval.models.protocol import ModelError, Prompt, PromptMessage
from tests.doubles.http import Cut, ErrorInStream, Fail, Hang, Stall
from tests.retrieval.models.served import NAMES, Name, Served, serve
from tests.retrieval.models.support import ANSWER, PROMPT, Rewrites, assert_silent, collect

GOOD = Rewrites(question="How often are API keys rotated?", alternatives=["key rotation"])


@pytest.fixture(params=NAMES)
async def served(request: pytest.FixtureRequest) -> AsyncIterator[Served]:
    async with serve(request.param) as running:
        yield running


async def test_a_completion_has_text_and_usage(served: Served) -> None:
    served.double.script(ANSWER)
    done = await served.model.complete(PROMPT)
    assert done.text == ANSWER
    assert done.usage.input_tokens > 0
    assert done.usage.output_tokens > 0
    asked = served.asked(served.double.requests[0])
    assert PROMPT.system in asked
    assert all(message.content in asked for message in PROMPT.messages)


async def test_a_stream_yields_deltas_and_then_the_usage(served: Served) -> None:
    served.double.script(ANSWER)
    texts, usage, error = await collect(served.model.stream(PROMPT))
    assert error is None
    assert "".join(texts) == ANSWER
    assert len(texts) > 3
    assert usage is not None
    assert usage.output_tokens > 0


async def test_a_stream_can_be_left_early(served: Served) -> None:
    served.double.always(lambda _: ANSWER)
    for _ in range(20):  # more than the slots of a connection
        stream = served.model.stream(PROMPT)
        async for _piece in stream:
            break
        await stream.aclose()  # pyright: ignore[reportAttributeAccessIssue]
    assert (await served.model.complete(PROMPT)).text == ANSWER


async def test_calls_at_the_same_time_are_bounded(served: Served) -> None:
    served.double.always(lambda _: Hang())
    calls = [asyncio.ensure_future(served.model.complete(PROMPT)) for _ in range(40)]
    await served.double.came(16)
    for _ in range(100):
        await asyncio.sleep(0)  # room for more to come
    assert len(served.double.requests) == 16
    for call in calls:
        call.cancel()
    await asyncio.gather(*calls, return_exceptions=True)


async def test_a_prompt_with_odd_characters_is_sent(served: Served) -> None:
    odd = Prompt("", [PromptMessage("user", "lone \ud800 surrogate, NUL \0, \ufdfa, 🙂")])
    await served.model.complete(odd)
    _, _, error = await collect(served.model.stream(odd))
    assert error is None
    assert "🙂" in served.asked(served.double.requests[0])


# -- structured output -------------------------------------------------------------------------
@pytest.mark.parametrize(
    "text",
    [
        GOOD.model_dump_json(),
        f"```json\n{GOOD.model_dump_json(indent=2)}\n```",
        f"Of course! Here it is:\n{GOOD.model_dump_json()}\nAnything else?",
    ],
)
async def test_structured_output_is_validated(served: Served, text: str) -> None:
    served.double.script(text)
    value, usage = await served.model.structured(PROMPT, Rewrites)
    assert value == GOOD
    assert usage.output_tokens > 0
    assert len(served.double.requests) == 1


@pytest.mark.parametrize(
    "first",
    [
        "Here are 4 queries:",
        '{"question": "", "alternatives": []}',
        '{"question": "a", "alternatives": ["b", "c", "d"]}',
        '{"question": "a", "extra": 1, "alternatives": []}',
        '{"question": "a", "alternat',
        "",
    ],
)
async def test_invalid_output_is_repaired_once(served: Served, first: str) -> None:
    served.double.script(first, GOOD.model_dump_json())
    value, usage = await served.model.structured(PROMPT, Rewrites)
    assert value == GOOD
    assert "not valid" in served.asked(served.double.requests[1])
    assert usage.input_tokens > (await served.model.complete(PROMPT)).usage.input_tokens * 2


async def test_output_that_stays_invalid_is_an_error(served: Served) -> None:
    served.double.always(served.asked)
    with pytest.raises(ModelError) as caught:
        await served.model.structured(PROMPT, Rewrites)
    assert caught.value.kind == "invalid_output"
    assert len(served.double.requests) == 2
    assert_silent(caught.value, "test-key")


# -- retries -----------------------------------------------------------------------------------
@pytest.mark.parametrize(
    ("headers", "pause"), [({"Retry-After": "3"}, 3.5), ({"retry-after": "0"}, 0.5), ({}, 0.5)]
)
async def test_the_wait_that_the_server_asks_for_is_kept(
    served: Served, headers: dict[str, str], pause: float
) -> None:
    served.double.script(Fail(429, headers=headers), ANSWER)
    assert (await served.model.complete(PROMPT)).text == ANSWER
    assert served.time.slept == [pause]
    assert len(served.double.requests) == 2  # the SDK's own retries would make it more


async def test_a_wait_that_is_too_long_is_told_instead(served: Served) -> None:
    served.double.script(Fail(429, headers={"Retry-After": "7200"}))
    error = await served.failed()
    assert error.kind == "rate_limited"
    assert error.retry_after == 7200
    assert "2 hours" in str(error)
    assert not served.time.slept


async def test_a_stream_that_fails_before_its_first_text_is_retried(served: Served) -> None:
    served.double.script(Cut(""), Fail(503), ANSWER)
    texts, _, error = await collect(served.model.stream(PROMPT))
    assert error is None
    assert "".join(texts) == ANSWER


@pytest.mark.parametrize("end", [Cut(ANSWER), Cut(ANSWER, clean=True), ErrorInStream(ANSWER)])
async def test_a_stream_that_breaks_in_the_middle_is_an_error(
    served: Served, end: Cut | ErrorInStream
) -> None:
    served.double.script(end)
    texts, usage, error = await collect(served.model.stream(PROMPT))
    assert texts
    assert ANSWER.startswith("".join(texts))
    assert usage is None
    assert error is not None
    assert error.kind == "unavailable"
    assert len(served.double.requests) == 1


async def test_a_slow_answer_times_out(served: Served) -> None:
    served.double.always(lambda _: Hang())
    error = await served.timed_out(attempts=3)
    assert error.kind == "timeout"
    assert len(served.double.requests) == 3


async def test_a_stream_that_stalls_times_out(served: Served) -> None:
    served.double.always(lambda _: Stall("Every"))
    stream = served.model.stream(PROMPT)
    assert await anext(aiter(stream)) == "Every"
    rest = asyncio.ensure_future(collect(stream))
    await asyncio.sleep(0)  # lets it wait for the next piece
    served.time.expire()
    texts, _, error = await rest
    assert not texts
    assert error is not None
    assert error.kind == "timeout"
    assert len(served.double.requests) == 1


@pytest.mark.parametrize("streamed", [False, True])
async def test_cancelling_ends_at_once_and_is_not_retried(served: Served, streamed: bool) -> None:
    served.double.always(lambda _: Hang())
    call = collect(served.model.stream(PROMPT)) if streamed else served.model.complete(PROMPT)
    task = asyncio.ensure_future(call)
    await served.double.came(1)
    task.cancel()
    with pytest.raises(asyncio.CancelledError):
        await task
    assert len(served.double.requests) == 1


@pytest.mark.parametrize("name", NAMES)
async def test_a_connection_is_shared_and_closed_by_its_last_user(name: Name) -> None:
    async with serve(name) as served:
        kind = type(served.model)
        other = kind(served.model.spec, served.model._connection)  # pyright: ignore
        await other.aclose()
        assert (await served.model.complete(PROMPT)).text == "OK"
