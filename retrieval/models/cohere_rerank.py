"""Cohere's rerank, through its SDK."""

from __future__ import annotations

import re

import cohere
import httpx
from cohere.core.api_error import ApiError

from retrieval.models import errors
from retrieval.models.connection import Connection
from retrieval.models.errors import BadAnswer, decoding
from retrieval.models.protocol import Usage
from retrieval.models.reranking import ConnectedReranker, searches
from retrieval.models.retry import Failure
from retrieval.models.retry_after import from_headers

CohereConnection = Connection[cohere.AsyncClientV2]


def connect(key: str, base_url: str | None = None) -> CohereConnection:
    """A client without retries or timeouts of its own: `RetryPolicy` is the one that counts."""
    errors.quiet("cohere", "httpx", "httpcore")
    transport = httpx.AsyncClient(timeout=None)  # noqa: S113
    client = cohere.AsyncClientV2(
        key,
        base_url=base_url or "https://api.cohere.com",
        max_retries=0,
        httpx_client=transport,
        log_warning_experimental_features=False,
    )
    return Connection(client, transport.aclose)


class CohereReranker(ConnectedReranker[cohere.AsyncClientV2]):
    """A `Reranker`, for instance `cohere:rerank-v4.0-fast`. Billed by searches."""

    async def _request(
        self, query: str, passages: list[str], top: int
    ) -> tuple[list[tuple[int, float]], Usage]:
        with decoding():  # the SDK doesn't check what it was sent
            answer = await self._connection.client.rerank(
                model=self.spec.model, query=query, documents=passages, top_n=top
            )
            scores = [(int(one.index), float(one.relevance_score)) for one in answer.results]
            billed = answer.meta.billed_units if answer.meta else None
            units = billed.search_units if billed else None
        return scores, Usage(searches=round(units) if units else searches(len(passages)))

    def _explain(self, error: Exception) -> Failure | None:
        match error:
            case ApiError(status_code=int() as status) if status >= 400:
                return self._from_status(error, status)
            case TimeoutError() | httpx.TimeoutException():
                return errors.timed_out(self.spec)
            case httpx.RemoteProtocolError() | BadAnswer() | ApiError():
                return errors.bad_answer(self.spec)
            case httpx.TransportError():
                return errors.unreachable(self.spec)
            case _:
                return None

    def _from_status(self, error: ApiError, status: int) -> Failure:
        text = str(error.body)
        if status == 498:
            return errors.bad_key(self.spec)
        if status == 429 and re.search(r"trial key.*month", text, re.IGNORECASE | re.DOTALL):
            return errors.no_credit(self.spec)
        after = from_headers(error.headers)
        return errors.from_status(self.spec, status, text=text, after=after)
