"""Text from Gemini: the real SDK against a strict double over HTTP."""

from __future__ import annotations

import asyncio
import json
import logging
from collections.abc import AsyncGenerator, AsyncIterator
from contextlib import asynccontextmanager
from typing import Any

import pytest

from retrieval.models.gemini import GeminiText
from retrieval.models.gemini_client import connect
from retrieval.models.gemini_thinking import Thinking, thinking_config
from retrieval.models.protocol import ErrorKind, ModelError, TextModel, Usage
from retrieval.models.spec import parse
from tests.doubles.gemini import Blocked, Finished, GeminiDouble, prompt_text
from tests.doubles.http import Cut, ErrorInStream, Fail, Hang, Raw, Stall
from tests.retrieval.models.support import ANSWER, PROMPT, FakeTime, Rewrites, assert_silent, collect

SPEC = "gemini:gemini-2.5-flash"
RETRY_INFO = {
    "error": {
        "code": 429,
        "message": "Please retry in 7s.",
        "status": "RESOURCE_EXHAUSTED",
        "details": [{"@type": "type.googleapis.com/google.rpc.RetryInfo", "retryDelay": "7s"}],
    }
}


@pytest.fixture
async def double() -> AsyncIterator[GeminiDouble]:
    async with GeminiDouble() as running:
        yield running


@pytest.fixture
def time() -> FakeTime:
    return FakeTime()


@asynccontextmanager
async def gemini(
    double: GeminiDouble,
    time: FakeTime,
    *,
    spec: str = SPEC,
    key: str | None = None,
    thinking: Thinking = "minimal",
    **policy: Any,
) -> AsyncGenerator[TextModel]:
    connection = connect(key or double.key, double.url)
    model = GeminiText(parse(spec), connection, policy=time.policy(**policy), thinking=thinking)
    try:
        yield model
    finally:
        await model.aclose()


async def test_a_completion_counts_thinking_as_output(double: GeminiDouble, time: FakeTime) -> None:
    double.script(Finished(ANSWER, thoughts=40))
    async with gemini(double, time) as model:
        done = await model.complete(PROMPT, max_tokens=100)
    assert done.text == ANSWER
    assert done.usage.output_tokens > 40
    assert done.usage.input_tokens > 0
    assert "Answer from the sources." in prompt_text(double.requests[0])
    assert [content["role"] for content in double.requests[0].json["contents"]] == ["user", "model", "user"]


@pytest.mark.parametrize(
    ("spec", "thinking", "sent", "limit"),
    [
        ("gemini:gemini-2.5-flash", "minimal", {"thinking_budget": 0}, 612),
        ("gemini:gemini-2.5-flash", "low", {"thinking_budget": 1024}, 2148),
        ("gemini:gemini-3-flash-preview", "minimal", {"thinking_level": "MINIMAL"}, 612),
        ("gemini:gemini-3-flash-preview", "high", {"thinking_level": "HIGH"}, 16_484),
    ],
)
async def test_thinking_is_sent_the_way_the_model_takes_it_and_has_its_own_room(
    double: GeminiDouble, time: FakeTime, spec: str, thinking: Thinking, sent: dict[str, Any], limit: int
) -> None:
    async with gemini(double, time, spec=spec, thinking=thinking) as model:
        await model.complete(PROMPT, max_tokens=100)
    config = double.requests[0].json["generationConfig"]
    assert config["thinkingConfig"] == sent
    assert config["maxOutputTokens"] == limit


def test_models_that_do_not_think_get_no_thinking() -> None:
    assert thinking_config("gemini-2.0-flash", "low") is None
    pro = thinking_config("gemini-2.5-pro", "minimal")
    assert pro
    assert pro.thinking_budget == 128


async def test_a_stream_yields_deltas_and_then_the_usage(double: GeminiDouble, time: FakeTime) -> None:
    double.script(ANSWER)
    async with gemini(double, time) as model:
        texts, usage, error = await collect(model.stream(PROMPT))
    assert error is None
    assert "".join(texts) == ANSWER
    assert len(texts) > 3
    assert usage is not None
    assert usage.output_tokens > 0


async def test_an_answer_cut_by_the_token_limit_is_kept(double: GeminiDouble, time: FakeTime) -> None:
    double.script(Finished("Every 90", reason="MAX_TOKENS"), Finished("Every 90", reason="MAX_TOKENS"))
    async with gemini(double, time) as model:
        assert (await model.complete(PROMPT)).text == "Every 90"
        assert "".join((await collect(model.stream(PROMPT)))[0]) == "Every 90"


async def test_thinking_that_used_up_the_limit_says_so(double: GeminiDouble, time: FakeTime) -> None:
    double.always(lambda _: Finished("", reason="MAX_TOKENS"))
    async with gemini(double, time) as model:
        with pytest.raises(ModelError, match="before it wrote"):
            await model.complete(PROMPT)
        _, _, error = await collect(model.stream(PROMPT))
    assert error is not None
    assert error.kind == "invalid_output"


# -- structured output -------------------------------------------------------------------------
GOOD = Rewrites(question="How often are API keys rotated?", alternatives=["key rotation"])


async def test_structured_output_sends_the_schema_and_validates(
    double: GeminiDouble, time: FakeTime
) -> None:
    double.script(GOOD.model_dump_json())
    async with gemini(double, time) as model:
        value, usage = await model.structured(PROMPT, Rewrites)
    assert value == GOOD
    assert usage.output_tokens > 0
    config = double.requests[0].json["generationConfig"]
    assert config["responseJsonSchema"]["properties"].keys() == {"question", "alternatives"}


@pytest.mark.parametrize(
    "first",
    [
        "Here are 4 queries:",
        '{"question": "", "alternatives": []}',
        '{"question": "a", "alternatives": ["b", "c", "d"]}',
        '{"question": "a", "alternat',
        "",
    ],
)
async def test_invalid_output_is_repaired_once(double: GeminiDouble, time: FakeTime, first: str) -> None:
    double.script(first, GOOD.model_dump_json())
    async with gemini(double, time) as model:
        value, usage = await model.structured(PROMPT, Rewrites)
    assert value == GOOD
    assert "not valid" in prompt_text(double.requests[1])
    assert usage.input_tokens > 20  # both calls are counted


async def test_output_that_stays_invalid_is_an_error(double: GeminiDouble, time: FakeTime) -> None:
    double.always(lambda received: f"no JSON: {prompt_text(received)}")
    async with gemini(double, time) as model:
        with pytest.raises(ModelError) as caught:
            await model.structured(PROMPT, Rewrites)
    assert caught.value.kind == "invalid_output"
    assert len(double.requests) == 2
    assert_silent(caught.value, double.key)


# -- what goes wrong ---------------------------------------------------------------------------
@pytest.mark.parametrize("reason", ["SAFETY", "PROHIBITED_CONTENT", "BLOCKLIST"])
@pytest.mark.parametrize("where", ["prompt", "candidate"])
async def test_a_safety_block_is_refused_without_a_retry(
    double: GeminiDouble, time: FakeTime, where: Any, reason: str
) -> None:
    double.always(lambda _: Blocked(where, reason))
    async with gemini(double, time) as model:
        with pytest.raises(ModelError) as caught:
            await model.complete(PROMPT)
        _, _, error = await collect(model.stream(PROMPT))
        with pytest.raises(ModelError) as structured:
            await model.structured(PROMPT, Rewrites)
    assert error is not None
    assert {caught.value.kind, error.kind, structured.value.kind} == {"refused"}
    assert len(double.requests) == 3
    assert reason in str(error)


async def test_a_block_in_the_middle_of_a_stream_ends_it(double: GeminiDouble, time: FakeTime) -> None:
    double.script(Blocked("candidate", text="The way to do that is"))
    async with gemini(double, time) as model:
        texts, _, error = await collect(model.stream(PROMPT))
    assert texts
    assert error is not None
    assert error.kind == "refused"


@pytest.mark.parametrize(
    ("answer", "kind", "attempts"),
    [
        (Fail(500), "unavailable", 3),
        (Fail(503), "unavailable", 3),
        (Fail(504), "timeout", 3),
        (Fail(429), "rate_limited", 3),
        (Fail(400), "misconfigured", 1),
        (Fail(403), "misconfigured", 1),
        (Raw("{not json"), "unavailable", 3),
        (Raw("[]"), "unavailable", 3),
        (Raw("{}"), "unavailable", 3),
        (Raw("null"), "unavailable", 3),
        (Raw('{"candidates": 5}'), "unavailable", 3),
        (Raw('{"candidates": [{"content": {"parts": "text"}}]}'), "unavailable", 3),
        (Raw("<html>proxy</html>", "text/html"), "unavailable", 3),
        (Finished("", reason="MALFORMED_FUNCTION_CALL"), "unavailable", 3),
    ],
)
async def test_failures_have_a_kind_and_bounded_attempts(
    double: GeminiDouble, time: FakeTime, answer: Any, kind: ErrorKind, attempts: int
) -> None:
    double.always(lambda _: answer)
    async with gemini(double, time) as model:
        with pytest.raises(ModelError) as caught:
            await model.complete(PROMPT)
        assert caught.value.kind == kind
        assert len(double.requests) == attempts
        _, _, error = await collect(model.stream(PROMPT))
    assert error is not None
    assert error.kind == kind
    assert len(double.requests) == 2 * attempts
    assert caught.value.model == SPEC
    assert_silent(caught.value, double.key)
    assert_silent(error, double.key)


@pytest.mark.parametrize(
    ("limited", "waits"),
    [
        (Fail(429, headers={"Retry-After": "3"}), [3.5]),
        (Fail(429, body=RETRY_INFO), [7.5]),
        (Fail(503), [0.5]),
    ],
)
async def test_the_wait_that_the_server_asks_for_is_kept(
    double: GeminiDouble, time: FakeTime, limited: Fail, waits: list[float]
) -> None:
    double.script(limited, ANSWER)
    async with gemini(double, time) as model:
        assert (await model.complete(PROMPT)).text == ANSWER
    assert time.slept == waits


async def test_a_wait_that_is_too_long_is_told_instead(double: GeminiDouble, time: FakeTime) -> None:
    double.script(Fail(429, headers={"Retry-After": "7200"}))
    async with gemini(double, time) as model:
        with pytest.raises(ModelError, match="2 hours") as caught:
            await model.complete(PROMPT)
    assert caught.value.kind == "rate_limited"
    assert caught.value.retry_after == 7200
    assert not time.slept


async def test_a_stream_that_fails_before_its_first_text_is_retried(
    double: GeminiDouble, time: FakeTime
) -> None:
    double.script(Cut(""), Fail(503), ANSWER)
    async with gemini(double, time) as model:
        texts, _, error = await collect(model.stream(PROMPT))
    assert error is None
    assert "".join(texts) == ANSWER


@pytest.mark.parametrize("end", [Cut(ANSWER), Cut(ANSWER, clean=True), ErrorInStream(ANSWER)])
async def test_a_stream_that_breaks_in_the_middle_is_an_error(
    double: GeminiDouble, time: FakeTime, end: Any
) -> None:
    double.script(end)
    async with gemini(double, time) as model:
        texts, usage, error = await collect(model.stream(PROMPT))
    assert ANSWER.startswith("".join(texts))
    assert texts
    assert usage is None
    assert error is not None
    assert error.kind == "unavailable"
    assert len(double.requests) == 1


async def test_a_slow_answer_times_out(double: GeminiDouble, time: FakeTime) -> None:
    double.always(lambda _: Hang())
    async with gemini(double, time) as model:
        call = asyncio.ensure_future(model.complete(PROMPT))
        for attempt in (1, 2, 3):
            await double.came(attempt)
            time.expire()
        with pytest.raises(ModelError) as caught:
            await call
    assert caught.value.kind == "timeout"


async def test_a_stream_that_stalls_times_out(double: GeminiDouble, time: FakeTime) -> None:
    double.always(lambda _: Stall("Every"))
    async with gemini(double, time) as model:
        stream = model.stream(PROMPT)
        assert await anext(aiter(stream)) == "Every"
        rest = asyncio.ensure_future(collect(stream))
        await asyncio.sleep(0)  # lets it wait for the next piece
        time.expire()
        texts, _, error = await rest
    assert not texts
    assert error is not None
    assert error.kind == "timeout"
    assert len(double.requests) == 1


async def test_an_address_that_nobody_listens_on_is_unavailable(time: FakeTime) -> None:
    async with GeminiDouble() as gone:
        url = gone.url
    model = GeminiText(parse(SPEC), connect("key", url), policy=time.policy())
    with pytest.raises(ModelError, match="can't be reached") as caught:
        await model.complete(PROMPT)
    assert caught.value.kind == "unavailable"
    assert len(time.slept) == 2
    await model.aclose()


async def test_a_bad_key_names_the_variable_and_never_the_key(
    double: GeminiDouble, time: FakeTime, caplog: pytest.LogCaptureFixture
) -> None:
    caplog.set_level(logging.DEBUG)
    async with gemini(double, time, key="AIzaWrongKey123") as model:
        with pytest.raises(ModelError, match="GEMINI_API_KEY") as caught:
            await model.complete(PROMPT)
        _, _, error = await collect(model.stream(PROMPT))
    assert caught.value.kind == "misconfigured"
    assert error is not None
    for seen in (caught.value, error):
        assert_silent(seen, "AIzaWrongKey123")
    assert "AIzaWrongKey123" not in caplog.text
    assert "merger" not in caplog.text
    assert "AIzaWrongKey123" not in repr(model)


async def test_an_unknown_model_is_named(double: GeminiDouble, time: FakeTime) -> None:
    async with gemini(double, time, spec="gemini:gemini-9") as model:
        with pytest.raises(ModelError, match="gemini-9") as caught:
            await model.complete(PROMPT)
    assert caught.value.kind == "misconfigured"
    assert len(double.requests) == 1


async def test_a_prompt_that_does_not_fit_is_too_long(time: FakeTime) -> None:
    async with GeminiDouble(input_tokens=3) as small, gemini(small, time) as model:
        with pytest.raises(ModelError) as caught:
            await model.complete(PROMPT)
    assert caught.value.kind == "too_long"
    assert len(small.requests) == 1


async def test_cancelling_ends_at_once_and_is_not_retried(double: GeminiDouble, time: FakeTime) -> None:
    double.always(lambda _: Hang())
    async with gemini(double, time) as model:
        task = asyncio.ensure_future(model.complete(PROMPT))
        await double.came(1)
        task.cancel()
        with pytest.raises(asyncio.CancelledError):
            await task
    assert len(double.requests) == 1


async def test_calls_at_the_same_time_share_a_bounded_client(double: GeminiDouble, time: FakeTime) -> None:
    double.always(lambda received: json.dumps(received.json["contents"][-1]["parts"][0]["text"]))
    connection = connect(double.key, double.url)
    roles = [GeminiText(parse(SPEC), connection, policy=time.policy()) for _ in range(3)]
    done = await asyncio.gather(*(role.complete(PROMPT) for role in roles for _ in range(20)))
    assert len({one.text for one in done}) == 1
    assert double.most_at_once <= 16
    await roles[0].aclose()
    await roles[1].aclose()
    assert (await roles[2].complete(PROMPT)).text  # still open for the last one
    await roles[2].aclose()
    assert isinstance(done[0].usage, Usage)
