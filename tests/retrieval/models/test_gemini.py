"""What only Gemini does: thinking, block reasons, RetryInfo, structured output by JSON Schema."""

from __future__ import annotations

from typing import Any

import pytest

from retrieval.models.gemini import GeminiText
from retrieval.models.gemini_client import connect
from retrieval.models.gemini_thinking import Thinking, thinking_config
from retrieval.models.spec import parse
from tests.doubles.gemini import Blocked, Finished, GeminiDouble
from tests.doubles.http import Fail
from tests.retrieval.models.served import serve
from tests.retrieval.models.support import ANSWER, PROMPT, FakeTime, Rewrites, collect

RETRY_INFO = {
    "error": {
        "code": 429,
        "message": "Please retry in 7s.",
        "status": "RESOURCE_EXHAUSTED",
        "details": [{"@type": "type.googleapis.com/google.rpc.RetryInfo", "retryDelay": "7s"}],
    }
}


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
    spec: str, thinking: Thinking, sent: dict[str, Any], limit: int
) -> None:
    async with GeminiDouble() as double:
        connection = connect(double.key, double.url)
        model = GeminiText(parse(spec), connection, policy=FakeTime().policy(), thinking=thinking)
        await model.complete(PROMPT, max_tokens=100)
        await model.aclose()
    config = double.requests[0].json["generationConfig"]
    assert config["thinkingConfig"] == sent
    assert config["maxOutputTokens"] == limit


def test_models_that_do_not_think_get_no_thinking_and_those_that_must_get_little() -> None:
    assert thinking_config("gemini-2.0-flash", "low") is None
    old = thinking_config("gemini-2.5-pro", "minimal")
    new = thinking_config("gemini-3-pro-preview", "minimal")
    assert old
    assert old.thinking_budget == 128
    assert new
    assert new.thinking_level == "LOW"


async def test_thinking_counts_as_output() -> None:
    async with serve("gemini") as served:
        served.double.script(ANSWER, Finished(ANSWER, thoughts=40), Finished(ANSWER, thoughts=40))
        plain = await served.model.complete(PROMPT)
        thought = await served.model.complete(PROMPT)
        _, usage, _ = await collect(served.model.stream(PROMPT))
    assert thought.usage.output_tokens == plain.usage.output_tokens + 40
    assert usage == thought.usage


async def test_an_answer_cut_by_the_token_limit_is_kept() -> None:
    async with serve("gemini") as served:
        served.double.always(lambda _: Finished("Every 90", reason="MAX_TOKENS"))
        assert (await served.model.complete(PROMPT)).text == "Every 90"
        texts, usage, error = await collect(served.model.stream(PROMPT))
    assert "".join(texts) == "Every 90"
    assert usage
    assert error is None


async def test_structured_output_sends_the_schema() -> None:
    async with serve("gemini") as served:
        served.double.script(Rewrites(question="a", alternatives=[]).model_dump_json())
        await served.model.structured(PROMPT, Rewrites)
    config = served.double.requests[0].json["generationConfig"]
    assert config["responseMimeType"] == "application/json"
    assert config["responseJsonSchema"]["properties"].keys() == {"question", "alternatives"}


async def test_a_block_in_the_middle_of_a_stream_ends_it_with_the_reason() -> None:
    async with serve("gemini") as served:
        served.double.script(Blocked("candidate", text="The way to do that is"))
        texts, usage, error = await collect(served.model.stream(PROMPT))
    assert texts
    assert usage is None
    assert error is not None
    assert error.kind == "refused"
    assert "SAFETY" in str(error)


async def test_the_wait_in_a_retry_info_is_kept() -> None:
    async with serve("gemini") as served:
        served.double.script(Fail(429, body=RETRY_INFO), ANSWER)
        assert (await served.model.complete(PROMPT)).text == ANSWER
    assert served.time.slept == [7.5]
