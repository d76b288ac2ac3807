"""A strict double of a Qdrant server's REST API: the calls that we make, and no others.

Bodies are checked against the models of Qdrant's own API definition, in which an unknown field is an
error; what the server checks beyond that is checked here. The answers come from qdrant-client's local
mode, which is Qdrant's reference implementation.
"""

from __future__ import annotations

import re
import time
import warnings
from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from typing import Any, TypeVar

from aiohttp import web
from pydantic import BaseModel, TypeAdapter, ValidationError
from qdrant_client import AsyncQdrantClient
from qdrant_client import models as m
from qdrant_client.http.models import models as rest

from tests.doubles.http import HttpDouble, Received, Refused


@dataclass(frozen=True, slots=True)
class Lost:
    """The request is carried out, but its answer is lost on the way: the client sees status 502."""


M = TypeVar("M", bound=BaseModel)
Handler = Callable[["QdrantDouble", Received, str], Awaitable[Any]]


class QdrantDouble(HttpDouble):
    """`version` is what the server says it is; `api_key`, where given, must come with each request."""

    def __init__(self, version: str = "1.19.0", api_key: str | None = None) -> None:
        super().__init__()
        self.version = version
        self.api_key = api_key
        self.indexes: dict[str, dict[str, Any]] = {}
        self._store = AsyncQdrantClient(":memory:")

    def error_body(self, status: int, message: str, code: str = "") -> Any:
        return {"status": {"error": message}, "time": 0.001}

    async def handle(self, request: web.BaseRequest, received: Received) -> web.StreamResponse:
        answer = self.next_answer(received)
        scripted = await self.plain(answer)
        if scripted is not None:
            return scripted
        if self.api_key is not None and received.headers.get("api-key") != self.api_key:
            raise Refused(403, "Invalid API key or JWT")
        for method, path, handler in ROUTES:
            match = re.fullmatch(path.replace("{name}", "(?P<name>[^/]+)"), received.path)
            if match and method == received.method:
                response = await self._answer(handler, received, match.groupdict().get("name", ""))
                return web.Response(status=502) if isinstance(answer, Lost) else response
        raise Refused(404, f"no such call here: {received.method} {received.path}")

    async def _answer(self, handler: Handler, received: Received, name: str) -> web.StreamResponse:
        try:
            with warnings.catch_warnings(action="ignore"):
                result = await handler(self, received, name)
        except ValueError as error:
            status = 404 if "not found" in str(error) else 409 if "already exists" in str(error) else 400
            raise Refused(status, str(error)) from error
        if received.path != "/":
            result = {"result": _plain(result), "status": "ok", "time": 0.001}
        return web.json_response(result)

    # -- what the server checks ------------------------------------------------------------

    def body(self, shape: type[M], received: Received) -> M:
        try:
            return TypeAdapter(shape).validate_python(received.json)
        except ValidationError as error:
            raise Refused(400, f"Format error in JSON body: {error}") from error

    def written(self, received: Received) -> None:
        """Each of our writes waits until it can be read."""
        if received.query.get("wait") != "true":
            raise Refused(400, "the tests expect wait=true")

    # -- the calls -------------------------------------------------------------------------

    async def root(self, received: Received, name: str) -> Any:
        return {"title": "qdrant - vector search engine", "version": self.version, "commit": "0" * 40}

    async def exists(self, received: Received, name: str) -> Any:
        return {"exists": await self._store.collection_exists(name)}

    async def create(self, received: Received, name: str) -> Any:
        wanted = self.body(rest.CreateCollection, received)
        return await self._store.create_collection(
            name,
            vectors_config=wanted.vectors,
            sparse_vectors_config=wanted.sparse_vectors,
            metadata=wanted.metadata,
        )

    async def info(self, received: Received, name: str) -> Any:
        info = await self._store.get_collection(name)
        schema = {
            field: {"data_type": kind if isinstance(kind, str) else kind["type"], "points": 0}
            for field, kind in self.indexes.get(name, {}).items()
        }
        return info.model_dump(mode="json") | {"payload_schema": schema}

    async def remove(self, received: Received, name: str) -> Any:
        self.indexes.pop(name, None)
        return await self._store.delete_collection(name)

    async def collections(self, received: Received, name: str) -> Any:
        return await self._store.get_collections()

    async def aliases(self, received: Received, name: str) -> Any:
        return await self._store.get_aliases()

    async def change_aliases(self, received: Received, name: str) -> Any:
        wanted = self.body(rest.ChangeAliasesOperation, received)
        return await self._store.update_collection_aliases(wanted.actions)

    async def index(self, received: Received, name: str) -> Any:
        self.written(received)
        wanted = self.body(rest.CreateFieldIndex, received)
        self.indexes.setdefault(name, {})[wanted.field_name] = _plain(wanted.field_schema)
        return _completed()

    async def upsert(self, received: Received, name: str) -> Any:
        self.written(received)
        points = self.body(rest.PointsList, received).points
        return await self._store.upsert(name, points)

    async def payload(self, received: Received, name: str) -> Any:
        self.written(received)
        wanted = self.body(rest.SetPayload, received)
        if wanted.filter is None:
            raise Refused(400, "the tests expect a filter")
        return await self._store.set_payload(name, wanted.payload, wanted.filter)

    async def batch(self, received: Received, name: str) -> Any:
        self.written(received)
        operations = self.body(rest.UpdateOperations, received).operations
        return await self._store.batch_update_points(name, operations)

    async def query(self, received: Received, name: str) -> Any:
        searches = self.body(rest.QueryRequestBatch, received).searches
        for search in searches:
            for part in [search, *_listed(search.prefetch)]:
                if part.params is not None and part.params.idf is not None and part.using != "bm25":
                    raise Refused(400, "Bad request: idf needs a sparse vector with the IDF modifier")
        return [
            answer.model_dump(mode="json")
            for answer in await self._store.query_batch_points(name, searches)
        ]

    async def scroll(self, received: Received, name: str) -> Any:
        wanted = self.body(rest.ScrollRequest, received)
        points, following = await self._store.scroll(
            name, wanted.filter, wanted.limit or 10, with_payload=wanted.with_payload or False
        )
        return {"points": _plain(points), "next_page_offset": following}

    async def count(self, received: Received, name: str) -> Any:
        wanted = self.body(rest.CountRequest, received)
        return await self._store.count(name, wanted.filter, exact=bool(wanted.exact))

    async def facet(self, received: Received, name: str) -> Any:
        wanted = self.body(rest.FacetRequest, received)
        if wanted.key not in self.indexes.get(name, {}):
            raise Refused(400, f"Bad request: Index required but not found for {wanted.key!r}")
        return await self._store.facet(
            name, wanted.key, wanted.filter, limit=wanted.limit or 10, exact=bool(wanted.exact)
        )


ROUTES: list[tuple[str, str, Handler]] = [
    ("GET", "/", QdrantDouble.root),
    ("GET", "/aliases", QdrantDouble.aliases),
    ("GET", "/collections", QdrantDouble.collections),
    ("POST", "/collections/aliases", QdrantDouble.change_aliases),
    ("GET", "/collections/{name}/exists", QdrantDouble.exists),
    ("PUT", "/collections/{name}", QdrantDouble.create),
    ("GET", "/collections/{name}", QdrantDouble.info),
    ("DELETE", "/collections/{name}", QdrantDouble.remove),
    ("PUT", "/collections/{name}/index", QdrantDouble.index),
    ("PUT", "/collections/{name}/points", QdrantDouble.upsert),
    ("POST", "/collections/{name}/points/payload", QdrantDouble.payload),
    ("POST", "/collections/{name}/points/batch", QdrantDouble.batch),
    ("POST", "/collections/{name}/points/query/batch", QdrantDouble.query),
    ("POST", "/collections/{name}/points/scroll", QdrantDouble.scroll),
    ("POST", "/collections/{name}/points/count", QdrantDouble.count),
    ("POST", "/collections/{name}/facet", QdrantDouble.facet),
]


def _listed(prefetch: list[m.Prefetch] | m.Prefetch | None) -> list[m.Prefetch]:
    return [] if prefetch is None else prefetch if isinstance(prefetch, list) else [prefetch]


def _completed() -> dict[str, Any]:
    return {"operation_id": int(time.time()), "status": "completed"}


def _plain(value: Any) -> Any:
    if isinstance(value, BaseModel):
        return value.model_dump(mode="json", exclude_none=True)
    if isinstance(value, list):
        return [_plain(one) for one in value]
    return value
