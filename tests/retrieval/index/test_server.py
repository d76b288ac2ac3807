"""The server index over HTTP, and what only a server can do: be old, slow, busy, or shared."""

import asyncio
from collections.abc import AsyncIterator
from typing import Any

import pytest
import stamina
from qdrant_client import AsyncQdrantClient
from qdrant_client import models as m

from retrieval.index import server_calls
from retrieval.index.payload import LIVE
from retrieval.index.protocol import Fingerprint, IndexMismatch, IndexUnavailable
from retrieval.index.server import ServerIndex
from tests.doubles.http import Fail, Hang, Raw, Received
from tests.doubles.qdrant import Lost, QdrantDouble
from tests.retrieval.index.support import ALL, MODEL, add, asked, chunks_of, found, meta_of, vectors


@pytest.fixture(autouse=True)
def _no_pauses() -> Any:
    stamina.set_testing(True, attempts=server_calls.ATTEMPTS, cap=True)
    yield
    stamina.set_testing(False)


@pytest.fixture
async def double() -> AsyncIterator[QdrantDouble]:
    async with QdrantDouble() as started:
        yield started


def client_of(double: QdrantDouble, **options: Any) -> AsyncQdrantClient:
    return AsyncQdrantClient(url=double.url, check_compatibility=False, **options)


@pytest.fixture
async def index(double: QdrantDouble) -> AsyncIterator[ServerIndex]:
    client = client_of(double)
    opened = ServerIndex(client, "footnote")
    await opened.open(MODEL)
    yield opened
    await client.close()


def sent(double: QdrantDouble, path: str) -> list[Received]:
    return [request for request in double.requests if request.path.endswith(path)]


async def test_a_life_of_a_document_over_http(double: QdrantDouble, index: ServerIndex) -> None:
    await add(index, chunks_of(meta_of(), ["amber birch", "cedar"]))
    await add(index, chunks_of(meta_of(version=2), ["amber two", "delta"]))
    hits = await index.search(ALL, [asked("amber")], limit=3)
    assert hits[0].chunk.text == "amber two"
    assert hits[0].lists["bm25:0"].rank == 1
    assert await index.neighbours(ALL, hits[0].chunk) == await index.get(
        ALL, [hit.chunk.chunk_id for hit in sorted(hits, key=lambda hit: hit.chunk.ordinal)]
    )
    await index.set_labels("w", "d", ["hr"])
    assert (await index.get(ALL, [hits[0].chunk.chunk_id]))[0].meta.labels == ("hr",)
    assert await index.versions("w") == {("d", "d-v2", True)}
    stats = await index.stats()
    assert (stats.chunks, stats.documents) == (2, 1)
    await index.delete_workspace("w")
    assert (await index.stats()).chunks == 0
    assert double.refusals == []


async def test_the_collection_is_made_as_it_must_be(double: QdrantDouble, index: ServerIndex) -> None:
    (created,) = [r for r in double.requests if r.method == "PUT" and r.path == "/collections/footnote"]
    assert created.json["vectors"] == {"dense": {"size": MODEL.dimension, "distance": "Cosine"}}
    assert created.json["sparse_vectors"] == {"bm25": {"modifier": "idf"}}
    assert created.json["metadata"]["footnote"]["fingerprint"] == MODEL.model_dump()
    fields = double.indexes["footnote"]
    assert fields[LIVE] == {"type": "keyword", "is_tenant": True}
    assert fields["uploaded"] == "integer"
    assert {"workspace", "audience", "labels", "document", "version", "language"} <= fields.keys()


async def test_a_search_is_one_request_with_one_flat_list(double: QdrantDouble, index: ServerIndex) -> None:
    await add(index, chunks_of(meta_of(), ["amber birch", "cedar"]))
    scope = ALL.model_copy(update={"labels": frozenset({"it", "hr"}), "knowledge_bases": frozenset({"kb"})})
    await index.languages(scope)
    before = len(double.requests)
    await index.search(scope, [asked("amber", 1), asked("cedar", 2)], limit=5)
    (request,) = double.requests[before:]
    assert request.path == "/collections/footnote/points/query/batch"
    lists = request.json["searches"]
    assert [part["using"] for part in lists] == ["dense", "bm25"] * 2
    where = [
        {"key": "live", "match": {"value": "w"}},
        {"key": "audience", "match": {"value": "workspace"}},
        {"key": "knowledge_base", "match": {"value": "kb"}},
        {"key": "labels", "match": {"any": ["hr", "it"]}},
    ]
    corpus = {"must": [{"key": "live", "match": {"value": "w"}}]}
    for part in lists:
        assert part["filter"] == {"must": where}
        assert part["limit"] >= 5
        assert "prefetch" not in part
        expected = {"idf": {"corpus": corpus}} if part["using"] == "bm25" else None
        assert {k: v for k, v in (part.get("params") or {}).items() if k == "idf"} == (expected or {})


async def test_publishing_is_one_request(double: QdrantDouble, index: ServerIndex) -> None:
    await add(index, chunks_of(meta_of(), ["amber"]))
    await index.stage(chunks_of(meta_of(version=2), ["amber"]), vectors(1))
    before = len(double.requests)
    await index.publish("w", "d", "d-v2")
    (written,) = [r for r in double.requests[before:] if r.path.endswith(("/batch", "/payload", "/points"))]
    assert [next(iter(operation)) for operation in written.json["operations"]] == ["set_payload", "delete"]
    assert written.query["wait"] == "true"


async def test_two_versions_in_one_answer_leave_the_newer(index: ServerIndex) -> None:
    """What a search of another process may see while a version is being replaced."""
    await add(index, chunks_of(meta_of(), ["amber one", "amber old"]))
    await index.stage(chunks_of(meta_of(version=2), ["amber two"]), vectors(1))
    new = m.Filter(must=[m.FieldCondition(key="version", match=m.MatchAny(any=['["w","d",2,"d-v2"]']))])
    await index.client.set_payload("footnote", {LIVE: "w"}, new)
    assert await found(index, "amber") == ["amber two"]


async def test_another_process_sees_new_languages_soon(double: QdrantDouble, index: ServerIndex) -> None:
    other = ServerIndex(client_of(double), "footnote")
    await other.open(MODEL)
    other.languages_ttl = 0.0
    assert await other.languages(ALL) == frozenset()
    await add(index, chunks_of(meta_of(), ["die Verbindungen"], "de"))
    assert await other.languages(ALL) == {"de"}
    assert await found(other, "Verbindung") == ["die Verbindungen"]


# -- opening ---------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("version", "fits"), [("1.18.9", False), ("1.9.0", False), ("1.19.0", True), ("2.0.1", True)]
)
async def test_a_server_that_is_too_old_is_refused(version: str, fits: bool) -> None:
    async with QdrantDouble(version) as double:
        index = ServerIndex(client_of(double), "footnote")
        if fits:
            await index.open(MODEL)
        else:
            with pytest.raises(IndexUnavailable, match=rf"{version}.*1\.19\.0 or later"):
                await index.open(MODEL)


async def test_another_model_is_refused(double: QdrantDouble, index: ServerIndex) -> None:
    other = Fingerprint(model="another", dimension=8, revision="1")
    with pytest.raises(IndexMismatch, match=r"test-model.*another.*kb reindex"):
        await ServerIndex(client_of(double), "footnote").open(other)
    before = len(double.requests)
    await ServerIndex(client_of(double), "footnote").open(MODEL)
    assert all(request.method == "GET" for request in double.requests[before:])


async def test_a_collection_of_somebody_else_is_refused(double: QdrantDouble) -> None:
    client = client_of(double)
    await client.create_collection("theirs", vectors_config=m.VectorParams(size=4, distance=m.Distance.DOT))
    with pytest.raises(IndexUnavailable, match="not made by Footnote"):
        await ServerIndex(client, "theirs").open(MODEL)


async def test_two_processes_may_open_at_once(double: QdrantDouble) -> None:
    indexes = [ServerIndex(client_of(double), "footnote") for _ in range(4)]
    await asyncio.gather(*(index.open(MODEL) for index in indexes))
    await add(indexes[0], chunks_of(meta_of(), ["amber"]))
    assert await found(indexes[3], "amber") == ["amber"]


# -- failures --------------------------------------------------------------------------------


@pytest.mark.parametrize("status", [429, 500, 502, 503])
async def test_a_passing_failure_is_tried_again(
    double: QdrantDouble, index: ServerIndex, status: int
) -> None:
    await add(index, chunks_of(meta_of(), ["amber"]))
    double.script(*[Fail(status, headers={"Retry-After": "1"} if status == 429 else {})] * 3)
    assert await found(index, "amber") == ["amber"]


@pytest.mark.parametrize(
    ("answer", "says", "attempts"),
    [
        (Fail(503), "status 503", server_calls.ATTEMPTS),
        (Fail(429, headers={"Retry-After": "1"}), "overloaded", server_calls.ATTEMPTS),
        (Fail(429, headers={"Retry-After": "3600"}), "overloaded", 1),
        (Fail(400), "status 400", 1),
        (Fail(401), "QDRANT_API_KEY", 1),
        (Fail(404), "restart this process", 1),
        (Raw("<html>"), "not an answer of Qdrant", server_calls.ATTEMPTS),
        (Raw("{}"), "not an answer of Qdrant", server_calls.ATTEMPTS),
    ],
)
async def test_a_lasting_failure_is_said(
    double: QdrantDouble, index: ServerIndex, answer: object, says: str, attempts: int
) -> None:
    await add(index, chunks_of(meta_of(), ["amber"]))
    await index.languages(ALL)
    before = len(double.requests)
    double.always(lambda _: answer)
    with pytest.raises(IndexUnavailable, match=says) as failure:
        await index.search(ALL, [asked("secret question")], limit=3)
    assert len(double.requests) - before == attempts
    assert "secret" not in str(failure.value)


async def test_a_server_that_hangs_is_given_up(
    double: QdrantDouble, index: ServerIndex, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(server_calls, "ATTEMPT_TIMEOUT", 0.05)
    double.always(lambda _: Hang())
    with pytest.raises(IndexUnavailable, match="in time"):
        await index.versions("w")


async def test_no_server_is_said() -> None:
    async with QdrantDouble() as double:
        client = client_of(double)
    with pytest.raises(IndexUnavailable, match="can't be reached"):
        await ServerIndex(client, "footnote").open(MODEL)


@pytest.mark.filterwarnings("ignore:Api key is used with an insecure connection")
async def test_the_key_goes_along_and_a_wrong_one_is_said() -> None:
    async with QdrantDouble(api_key="right") as double:
        await ServerIndex(client_of(double, api_key="right"), "footnote").open(MODEL)
        with pytest.raises(IndexUnavailable, match="refused the key"):
            await ServerIndex(client_of(double, api_key="wrong"), "footnote").open(MODEL)


async def test_a_write_whose_answer_is_lost_may_be_sent_again(
    double: QdrantDouble, index: ServerIndex
) -> None:
    repeated: set[int] = set()

    def lose_first_answer(request: Received) -> object:
        body = hash(str(request.json))
        if request.method == "GET" or body in repeated:
            return None
        repeated.add(body)
        return Lost()

    double.always(lose_first_answer)
    await add(index, chunks_of(meta_of(), ["amber"]))
    await add(index, chunks_of(meta_of(version=2), ["amber two"]))
    await index.set_labels("w", "d", ["hr"])
    assert await found(index, "amber") == ["amber two"]
    assert (await index.stats()).chunks == 1
    await index.delete_document("w", "d")
    assert (await index.stats()).chunks == 0
