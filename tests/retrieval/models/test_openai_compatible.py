"""What only OpenAI-compatible servers need: their dialects, reasoning effort, think blocks."""

from __future__ import annotations

import asyncio

import pytest
from hypothesis import given
from hypothesis import strategies as st

from retrieval.models.think_block import ThinkBlock, without_thinking
from tests.doubles.http import Fail
from tests.doubles.openai_compatible import EVERYTHING, prompt_text
from tests.retrieval.models.served import serve
from tests.retrieval.models.support import ANSWER, PROMPT, Rewrites, collect

GOOD = Rewrites(question="How often are API keys rotated?", alternatives=["key rotation"])
REASONING = "openai:gpt-5-mini"


async def test_only_reasoning_models_are_told_how_much_to_think_and_get_room_for_it() -> None:
    async with serve("openai") as served:
        await served.model.complete(PROMPT, max_tokens=100)
    assert served.double.requests[0].json["max_tokens"] == 100
    assert "reasoning_effort" not in served.double.requests[0].json
    async with serve("openai", spec=REASONING) as served:
        await served.model.complete(PROMPT, max_tokens=100)
    assert served.double.requests[0].json["reasoning_effort"] == "low"
    assert served.double.requests[0].json["max_tokens"] > 1000


async def test_structured_output_sends_a_strict_schema() -> None:
    async with serve("openai") as served:
        served.double.script(GOOD.model_dump_json())
        await served.model.structured(PROMPT, Rewrites)
    sent = served.double.requests[0].json["response_format"]["json_schema"]
    assert sent["strict"] is True
    assert sent["schema"]["additionalProperties"] is False


@pytest.mark.parametrize(
    "missing",
    [
        {"json_schema"},
        {"json_schema", "json_object"},
        {"reasoning_effort"},
        {"stream_options"},
        {"max_tokens"},
        {"json_schema", "json_object", "reasoning_effort", "stream_options", "max_tokens"},
    ],
)
async def test_what_a_server_does_not_know_is_left_out_and_remembered(missing: set[str]) -> None:
    knows = EVERYTHING - missing | ({"max_completion_tokens"} if "max_tokens" in missing else set[str]())
    async with serve("openai", spec=REASONING, knows=knows) as served:
        served.double.always(lambda _: f"```json\n{GOOD.model_dump_json()}\n```")
        assert (await served.model.structured(PROMPT, Rewrites))[0] == GOOD
        texts, _, error = await collect(served.model.stream(PROMPT))
        assert texts
        assert error is None
        learned = len(served.double.refusals)
        await served.model.structured(PROMPT, Rewrites)
        await collect(served.model.stream(PROMPT))
    assert 0 < learned <= len(missing) + 1
    assert len(served.double.refusals) == learned
    assert not served.time.slept  # not one of them was a failed attempt
    if "json_schema" in missing:
        assert "alternatives" in prompt_text(served.double.requests[-2])  # the schema, in words


async def test_calls_at_the_same_time_learn_the_same_thing() -> None:
    knows = (EVERYTHING - {"json_schema", "max_tokens"}) | {"max_completion_tokens"}
    async with serve("openai", knows=knows) as served:
        served.double.always(lambda _: GOOD.model_dump_json())
        values = await asyncio.gather(*(served.model.structured(PROMPT, Rewrites) for _ in range(8)))
    assert [value for value, _ in values] == [GOOD] * 8


async def test_a_server_that_refuses_every_way_is_asked_a_bounded_number_of_times() -> None:
    async with serve("openai", spec=REASONING, knows=()) as served:
        error = await served.failed()
        everything = "max_tokens max_completion_tokens response_format reasoning_effort stream_options"
        served.double.always(lambda _: Fail(400, everything))
        _, _, streamed = await collect(served.model.stream(PROMPT))
    assert error.kind == "misconfigured"
    assert streamed is not None
    assert streamed.kind == "misconfigured"
    assert len(served.double.requests) < 10


async def test_milliseconds_of_a_retry_are_kept() -> None:
    async with serve("openai") as served:
        served.double.script(Fail(429, headers={"retry-after-ms": "1500"}), ANSWER)
        assert (await served.model.complete(PROMPT)).text == ANSWER
    assert served.time.slept == [2.0]


async def test_a_scaleway_key_is_named_as_such() -> None:
    async with serve("openai", spec="scaleway:llama-3.3-70b-instruct", key="wrong") as served:
        assert "SCW_API_KEY" in str(await served.failed())


# -- think blocks ------------------------------------------------------------------------------
async def test_a_think_block_is_not_part_of_the_answer() -> None:
    async with serve("openai") as served:
        served.double.always(lambda _: f"<think>They want {{braces}}.</think>\n\n{ANSWER}")
        assert (await served.model.complete(PROMPT)).text == ANSWER
        texts, _, _ = await collect(served.model.stream(PROMPT))
    assert "".join(texts).strip() == ANSWER


@given(text=st.text(alphabet="<>/thinka \n", max_size=60), cuts=st.lists(st.integers(1, 5), max_size=60))
def test_a_think_block_is_cut_the_same_way_however_it_is_split(text: str, cuts: list[int]) -> None:
    block, out, rest = ThinkBlock(), "", text
    for cut in cuts:
        out += block.feed(rest[:cut])
        rest = rest[cut:]
    out += block.feed(rest) + block.end()
    assert out.strip() == without_thinking(text).strip()
    if not text.lstrip().startswith("<think>"):
        assert out == text
