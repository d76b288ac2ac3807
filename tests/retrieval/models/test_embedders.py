"""Every embedder over the network: the real SDKs against strict doubles."""

from __future__ import annotations

import asyncio
import json
from collections.abc import AsyncIterator
from dataclasses import dataclass
from typing import Any

import numpy as np
import pytest

from retrieval.models import gemini_client, openai_client
from retrieval.models.embedding import BatchLimits, HostedEmbedder, fingerprint_of
from retrieval.models.gemini_embedder import GeminiEmbedder
from retrieval.models.meter import metered
from retrieval.models.openai_embedder import OpenAICompatibleEmbedder
from retrieval.models.protocol import ErrorKind, ModelError, Vectors
from retrieval.models.spec import parse
from tests.doubles.gemini import GeminiDouble
from tests.doubles.http import Fail, Hang, HttpDouble, Raw
from tests.doubles.openai_compatible import OpenAICompatibleDouble
from tests.retrieval.models.support import SECRET, FakeTime, assert_silent

BGE = "scaleway:bge-multilingual-gemma2"


@dataclass
class Served:
    name: str
    double: HttpDouble
    embedder: HostedEmbedder
    time: FakeTime

    def sent(self, number: int = -1) -> list[str]:
        """The texts of a request."""
        body = self.double.requests[number].json
        if self.name == "openai":
            return body["input"]
        return [one["content"]["parts"][0]["text"] for one in body["requests"]]


def openai_embedder(double: OpenAICompatibleDouble, spec: str = BGE, **options: Any) -> HostedEmbedder:
    connection = openai_client.connect(double.key, double.url)
    return OpenAICompatibleEmbedder(parse(spec), connection, policy=FakeTime().policy(), **options)


@pytest.fixture(params=["openai", "gemini"])
async def served(request: pytest.FixtureRequest) -> AsyncIterator[Served]:
    time = FakeTime()
    if request.param == "openai":
        async with OpenAICompatibleDouble() as double:
            connection = openai_client.connect(double.key, double.url)
            embedder = OpenAICompatibleEmbedder(parse(BGE), connection, policy=time.policy())
            yield Served("openai", double, embedder, time)
            await embedder.aclose()
    else:
        async with GeminiDouble() as double:
            connection = gemini_client.connect(double.key, double.url)
            spec = parse("gemini:gemini-embedding-001")
            embedder = GeminiEmbedder(spec, connection, policy=time.policy())
            yield Served("gemini", double, embedder, time)
            await embedder.aclose()


async def test_vectors_are_float32_normalised_and_in_order(served: Served) -> None:
    texts = [f"passage number {number} about keys" for number in range(150)]
    with metered() as meter:
        passages = await served.embedder.embed_passages(texts)
    query = await served.embedder.embed_queries(["passage number 77"])
    assert passages.shape == (150, served.embedder.fingerprint.dimension)
    assert passages.dtype == query.dtype == np.float32
    np.testing.assert_allclose(np.linalg.norm(passages, axis=1), 1.0, rtol=1e-5)
    assert int((passages @ query[0]).argmax()) == 77
    assert len(served.double.requests) > 2
    assert meter.usage.input_tokens > 150
    assert served.embedder.fingerprint.model == served.embedder.name


async def test_queries_and_passages_are_told_apart(served: Served) -> None:
    await served.embedder.embed_queries(["how often?"])
    await served.embedder.embed_passages(["every 90 days"])
    first, second = (received.json for received in served.double.requests)
    if served.name == "gemini":
        assert first["requests"][0]["taskType"] == "RETRIEVAL_QUERY"
        assert second["requests"][0]["taskType"] == "RETRIEVAL_DOCUMENT"
    else:
        assert first["input"][0].startswith("<instruct>")
        assert first["input"][0].endswith("\n<query>how often?")
        assert second["input"] == ["every 90 days"]


async def test_nothing_asks_nobody(served: Served) -> None:
    vectors = await served.embedder.embed_passages([])
    assert vectors.shape == (0, served.embedder.fingerprint.dimension)
    assert not served.double.requests


async def test_odd_texts_can_be_embedded(served: Served) -> None:
    odd = ["", "   ", "\0", "lone \ud800 surrogate", "\ufdfa" * 20_000, "word " * 50_000, "🙂"]
    vectors = await served.embedder.embed_passages(odd)
    assert vectors.shape[0] == len(odd)
    assert np.isfinite(vectors).all()


@pytest.mark.parametrize("vector", ["[NaN, 1.0]", "[0.0, 0.0]", "[]", "[1e999, 1.0]", '["a", "b"]', "7"])
async def test_vectors_that_would_harm_an_index_are_errors(served: Served, vector: str) -> None:
    openai = f'{{"data": [{{"index": 0, "embedding": {vector}}}], "usage": {{"prompt_tokens": 1}}}}'
    gemini = f'{{"embeddings": [{{"values": {vector}}}]}}'
    served.double.always(lambda _: Raw(openai if served.name == "openai" else gemini))
    with pytest.raises(ModelError):
        await served.embedder.embed_passages(["text"])


@pytest.mark.parametrize(
    ("answer", "kind", "attempts"),
    [
        (Fail(500), "unavailable", 3),
        (Fail(429), "rate_limited", 3),
        (Fail(403), "misconfigured", 1),
        (Raw("{not json"), "unavailable", 3),
        (Raw("{}"), "unavailable", 3),
        (Raw('{"data": [], "embeddings": []}'), "unavailable", 3),
        (Raw('{"data": [{"index": 5, "embedding": [1.0]}], "embeddings": [5]}'), "unavailable", 3),
    ],
)
async def test_failures_have_a_kind_and_bounded_attempts(
    served: Served, answer: Any, kind: ErrorKind, attempts: int
) -> None:
    served.double.always(lambda _: answer)
    with pytest.raises(ModelError) as caught:
        await served.embedder.embed_queries([SECRET])
    assert caught.value.kind == kind
    assert len(served.double.requests) == attempts
    assert_silent(caught.value, "test-key")


async def test_bulk_work_is_bounded_and_queries_pass_it(served: Served) -> None:
    served.double.always(lambda received: Hang() if "bulk" in json.dumps(received.json) else None)
    work = asyncio.ensure_future(served.embedder.embed_passages(["bulk"] * 1000))
    await served.double.came(4)
    assert (await served.embedder.embed_queries(["how often?"])).shape[0] == 1
    assert len(served.double.requests) == 5
    work.cancel()
    with pytest.raises(asyncio.CancelledError):
        await work


async def test_the_first_failure_of_a_batch_ends_the_others(served: Served) -> None:
    served.double.script(Fail(403))
    served.double.always(lambda _: Hang())
    with pytest.raises(ModelError) as caught:
        await served.embedder.embed_passages(["text"] * 300)
    assert caught.value.kind == "misconfigured"


# -- batches -----------------------------------------------------------------------------------
@pytest.mark.parametrize("limits", [{"max_batch": 3}, {"max_batch_tokens": 10}, {"max_batch": 1}])
async def test_a_batch_that_the_server_finds_too_large_is_split(limits: dict[str, int]) -> None:
    async with OpenAICompatibleDouble(**limits) as double:  # pyright: ignore[reportArgumentType]
        embedder = openai_embedder(double)
        texts = [f"the text {number}" for number in range(20)]
        vectors = await embedder.embed_passages(texts)
        alone = [(await embedder.embed_passages([text]))[0] for text in texts]
        await embedder.aclose()
    np.testing.assert_allclose(vectors, np.stack(alone), atol=1e-6)
    assert double.refusals


async def test_a_text_that_the_server_finds_too_long_is_cut() -> None:
    async with OpenAICompatibleDouble(context=50) as double:
        embedder = openai_embedder(double)
        vectors = await embedder.embed_passages(["short", "word " * 400, "short"])
        await embedder.aclose()
    assert vectors.shape[0] == 3


async def test_a_server_that_takes_nothing_is_an_error_in_the_end() -> None:
    async with OpenAICompatibleDouble(context=0) as double:
        embedder = openai_embedder(double)
        with pytest.raises(ModelError) as caught:
            await embedder.embed_passages(["word " * 400] * 4)
        await embedder.aclose()
    assert caught.value.kind == "too_long"
    assert len(double.requests) < 60


async def test_requests_keep_to_the_limits() -> None:
    async with OpenAICompatibleDouble() as double:
        embedder = openai_embedder(double, limits=BatchLimits(texts=10, tokens=100))
        await embedder.embed_passages(["word " * 20] * 25)
        await embedder.aclose()
    sizes = [len(received.json["input"]) for received in double.requests]
    assert sum(sizes) == 25
    assert max(sizes) <= 4


async def test_vectors_come_packed_where_the_server_can_and_as_lists_where_not() -> None:
    async with OpenAICompatibleDouble() as double, OpenAICompatibleDouble(knows=()) as older:
        vectors: list[Vectors] = []
        for server in (double, older):
            embedder = openai_embedder(server)
            vectors.append(await embedder.embed_passages(["one text"]))
            await embedder.embed_passages(["another text"])
            await embedder.aclose()
    np.testing.assert_array_equal(vectors[0], vectors[1])
    assert [one.json["encoding_format"] for one in double.requests] == ["base64"] * 2
    assert [one.json["encoding_format"] for one in older.requests] == ["base64", "float", "float"]


@pytest.mark.parametrize("packed", ["!!!", "AAA", "AAAA", ""])
async def test_a_broken_packing_is_an_error(packed: str) -> None:
    async with OpenAICompatibleDouble() as double:
        double.always(lambda _: Raw(f'{{"data": [{{"index": 0, "embedding": "{packed}"}}]}}'))
        embedder = openai_embedder(double)
        with pytest.raises(ModelError) as caught:
            await embedder.embed_passages(["one text"])
        await embedder.aclose()
    assert caught.value.kind == "unavailable"


# -- dimensions --------------------------------------------------------------------------------
async def test_an_unknown_dimension_is_learned_with_one_call() -> None:
    async with OpenAICompatibleDouble(embedding_models={"house-model": 96}) as double:
        embedder = openai_embedder(double, "openai:house-model")
        fingerprint = await fingerprint_of(embedder)
        assert (await embedder.embed_passages(["text"])).shape == (1, 96)
        assert await fingerprint_of(embedder) == fingerprint
        await embedder.aclose()
    assert fingerprint.dimension == 96
    assert len(double.requests) == 2


async def test_a_known_dimension_needs_no_call_and_is_held_to() -> None:
    async with OpenAICompatibleDouble(embedding_models={"bge-multilingual-gemma2": 96}) as double:
        embedder = openai_embedder(double)
        assert (await fingerprint_of(embedder)).dimension == 3584
        assert not double.requests
        with pytest.raises(ModelError, match="96 dimensions instead of 3584") as caught:
            await embedder.embed_passages(["text"])
        await embedder.aclose()
    assert caught.value.kind == "misconfigured"
