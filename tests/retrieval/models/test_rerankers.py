"""Every reranker: the real SDKs against strict doubles over HTTP."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import AsyncIterator
from dataclasses import dataclass
from typing import Any

import pytest

from retrieval.models import bedrock_rerank, cohere_rerank, openai_client
from retrieval.models.bedrock_rerank import BedrockReranker
from retrieval.models.cohere_rerank import CohereReranker
from retrieval.models.meter import metered
from retrieval.models.openai_rerank import OpenAICompatibleReranker
from retrieval.models.protocol import ErrorKind, ModelError, Ranked, Reranker, Usage
from retrieval.models.retry import RetryPolicy
from retrieval.models.spec import parse
from tests.doubles import bedrock
from tests.doubles.bedrock import BedrockDouble
from tests.doubles.cohere_rerank import CohereDouble
from tests.doubles.http import Fail, Hang, HttpDouble, Raw
from tests.doubles.openai_compatible import OpenAICompatibleDouble
from tests.retrieval.models.support import SECRET, FakeTime, assert_silent

SPECS = {
    "cohere": "cohere:rerank-v4.0-fast",
    "scaleway": "scaleway:qwen3-embedding-8b",
    "bedrock": f"bedrock:{bedrock.MODEL}",
}
DOUBLES = {"cohere": CohereDouble, "scaleway": OpenAICompatibleDouble, "bedrock": BedrockDouble}
PASSAGES = ["Lunch is at noon.", "Rotate the API key every 90 days.", "The key opens the door."]
QUERY = f"rotate the API key {SECRET}"


@dataclass
class Served:
    name: str
    double: HttpDouble
    reranker: Reranker
    time: FakeTime

    async def failed(self) -> ModelError:
        try:
            ranked = await self.reranker.rerank(QUERY, PASSAGES, limit=2)
        except ModelError as error:
            return error
        raise AssertionError(f"it answered: {ranked}")


def build(name: str, url: str, key: str, policy: RetryPolicy) -> Reranker:
    spec = parse(SPECS[name])
    if name == "cohere":
        return CohereReranker(spec, cohere_rerank.connect(key, url), policy=policy)
    if name == "scaleway":
        return OpenAICompatibleReranker(spec, openai_client.connect(key, url), policy=policy)
    # The key is in AWS_ACCESS_KEY_ID: boto3 finds it by itself.
    client = bedrock_rerank.connect(spec, "eu-central-1", timeout=5, endpoint=url)
    return BedrockReranker(spec, client, policy=policy)


@pytest.fixture(params=list(SPECS))
async def served(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> AsyncIterator[Served]:
    name: str = request.param
    if name == "bedrock":
        pytest.importorskip("boto3")
        monkeypatch.setenv("AWS_ACCESS_KEY_ID", "AKIATESTKEY")
        monkeypatch.setenv("AWS_SECRET_ACCESS_KEY", "aws-test-key")
    time = FakeTime()
    async with DOUBLES[name]() as double:
        key: str = getattr(double, "key", "")
        reranker = build(name, double.url, key, time.policy())
        yield Served(name, double, reranker, time)
        await reranker.aclose()


async def test_the_best_passages_come_first(served: Served) -> None:
    with metered() as meter:
        ranked = await served.reranker.rerank(QUERY, PASSAGES, limit=2)
    assert [one.index for one in ranked] == [1, 2]
    assert 1 >= ranked[0].score > ranked[1].score > 0
    assert len(served.double.requests) == 1
    expected = {"scaleway": meter.usage.input_tokens > 10}
    assert expected.get(served.name, meter.usage == Usage(searches=1))


async def test_nothing_to_rank_asks_nobody(served: Served) -> None:
    assert await served.reranker.rerank(QUERY, [], limit=3) == []
    assert await served.reranker.rerank(QUERY, PASSAGES, limit=0) == []
    assert not served.double.requests


async def test_scores_are_clamped_and_ties_keep_their_order(served: Served) -> None:
    served.double.script([0.5, -0.2, 1.7, 0.5])
    ranked = await served.reranker.rerank(QUERY, ["a", "b", "c", "d"], limit=9)
    assert ranked == [Ranked(2, 1.0), Ranked(0, 0.5), Ranked(3, 0.5), Ranked(1, 0.0)]


async def test_what_is_sent_fits(served: Served) -> None:
    odd = ["", "\0", "lone \ud800 surrogate", "word " * 20_000, *["filler"] * 2000]
    ranked = await served.reranker.rerank("", odd, limit=5)
    assert len(ranked) == 5
    sent = served.double.requests[0].json
    assert len(sent["documents"]) == 1000
    assert max(len(text) for text in sent["documents"]) < 20_000
    assert all(sent["documents"])
    assert sent["query"]


FAILURES: list[tuple[object, ErrorKind, int]] = [
    (Fail(500), "unavailable", 3),
    (Fail(503), "unavailable", 3),
    (Fail(429), "rate_limited", 3),
    (Fail(504), "timeout", 3),
    (Fail(400), "misconfigured", 1),
    (Fail(403), "misconfigured", 1),
    (Fail(404), "misconfigured", 1),
    (Fail(400, "too many tokens: the maximum is 4096 tokens"), "too_long", 1),
    (Raw("{not json"), "unavailable", 3),
    (Raw("[]"), "unavailable", 3),
    (Raw("{}"), "unavailable", 3),
    (Raw('{"results": [{"index": 9, "relevance_score": 0.5}]}'), "unavailable", 3),
    (Raw('{"results": [{"index": 0, "relevance_score": "high"}]}'), "unavailable", 3),
    (Raw('{"results": [{"index": 0, "relevance_score": NaN}]}'), "unavailable", 3),
    (Raw('{"results": []}'), "unavailable", 3),
]


@pytest.mark.parametrize(("answer", "kind", "attempts"), FAILURES)
async def test_failures_have_a_kind_and_bounded_attempts(
    served: Served, answer: Any, kind: ErrorKind, attempts: int
) -> None:
    served.double.always(lambda _: answer)
    error = await served.failed()
    assert error.kind == kind
    assert error.model == SPECS[served.name]
    assert len(served.double.requests) == attempts
    assert_silent(error, "test-key")


async def test_the_wait_that_the_server_asks_for_is_kept(served: Served) -> None:
    served.double.script(Fail(429, headers={"Retry-After": "3"}))
    assert (await served.reranker.rerank(QUERY, PASSAGES, limit=1))[0].index == 1
    assert served.time.slept == [3.5]
    assert len(served.double.requests) == 2


async def test_a_slow_answer_times_out_and_can_be_cancelled(served: Served) -> None:
    served.double.always(lambda _: Hang())
    call = asyncio.ensure_future(served.failed())
    for attempt in (1, 2, 3):
        await served.double.came(attempt)
        served.time.expire()
    assert (await call).kind == "timeout"
    call = asyncio.ensure_future(served.failed())
    await served.double.came(4)
    call.cancel()
    with pytest.raises(asyncio.CancelledError):
        await call


@pytest.mark.parametrize(
    ("name", "variable"),
    [("cohere", "COHERE_API_KEY"), ("scaleway", "SCW_API_KEY"), ("bedrock", "AWS_ACCESS_KEY_ID")],
)
async def test_a_bad_key_names_the_variable_and_never_the_key(
    name: str, variable: str, caplog: pytest.LogCaptureFixture, monkeypatch: pytest.MonkeyPatch
) -> None:
    caplog.set_level(logging.DEBUG)
    key = "wrong-key-123"
    if name == "bedrock":
        pytest.importorskip("boto3")
        monkeypatch.setenv("AWS_ACCESS_KEY_ID", key)
        monkeypatch.setenv("AWS_SECRET_ACCESS_KEY", key)
    async with DOUBLES[name]() as double:
        reranker = build(name, double.url, key, FakeTime().policy())
        with pytest.raises(ModelError, match=variable) as caught:
            await reranker.rerank(QUERY, PASSAGES, limit=2)
        await reranker.aclose()
    assert caught.value.kind == "misconfigured"
    assert len(double.requests) == 1
    assert_silent(caught.value, key)
    assert key not in caplog.text
    assert SECRET not in caplog.text


async def test_an_address_that_nobody_listens_on_is_unavailable(
    served: Served, monkeypatch: pytest.MonkeyPatch
) -> None:
    async with CohereDouble() as gone:
        url = gone.url
    reranker = build(served.name, url, "key", served.time.policy())
    with pytest.raises(ModelError, match="can't be reached"):
        await reranker.rerank(QUERY, PASSAGES, limit=2)
    await reranker.aclose()


async def test_an_embedding_model_that_reranks_gets_its_instruction() -> None:
    async with OpenAICompatibleDouble() as double:
        reranker = build("scaleway", double.url, double.key, FakeTime().policy())
        await reranker.rerank("how often?", PASSAGES, limit=1)
        await reranker.aclose()
    assert double.requests[0].json["query"].startswith("Instruct: ")
    assert double.requests[0].json["query"].endswith("\nQuery:how often?")
    assert double.requests[0].json["documents"] == PASSAGES


async def test_a_used_up_trial_key_is_not_tried_again() -> None:
    async with CohereDouble() as double:
        double.always(lambda _: Fail(429, "You are using a Trial key, limited to 1000 calls / month."))
        reranker = build("cohere", double.url, double.key, FakeTime().policy())
        with pytest.raises(ModelError, match="used up"):
            await reranker.rerank(QUERY, PASSAGES, limit=2)
        await reranker.aclose()
    assert len(double.requests) == 1


def test_bedrock_without_boto3_says_what_to_install(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(__import__("sys").modules, "boto3", None)
    with pytest.raises(ModelError, match=r"footnote-kb\[bedrock\]"):
        bedrock_rerank.connect(parse(SPECS["bedrock"]), "eu-central-1")


async def test_bedrock_without_a_region_or_credentials_says_so(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Any
) -> None:
    pytest.importorskip("boto3")
    for name in ("AWS_REGION", "AWS_DEFAULT_REGION", "AWS_ACCESS_KEY_ID", "AWS_SECRET_ACCESS_KEY"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setenv("AWS_CONFIG_FILE", str(tmp_path / "none"))
    monkeypatch.setenv("AWS_SHARED_CREDENTIALS_FILE", str(tmp_path / "none"))
    monkeypatch.setenv("AWS_EC2_METADATA_DISABLED", "true")
    spec = parse(SPECS["bedrock"])
    with pytest.raises(ModelError, match="AWS_REGION"):
        bedrock_rerank.connect(spec)
    reranker = BedrockReranker(spec, bedrock_rerank.connect(spec, "eu-central-1"))
    with pytest.raises(ModelError, match="No AWS credentials") as caught:
        await reranker.rerank(QUERY, PASSAGES, limit=1)
    await reranker.aclose()
    assert caught.value.kind == "misconfigured"
