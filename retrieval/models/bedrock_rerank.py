"""Cohere's rerank on Amazon Bedrock, through boto3 (the extra `bedrock`)."""

from __future__ import annotations

import asyncio
import json
from typing import Any, Protocol

from retrieval.models import errors
from retrieval.models.errors import BadAnswer, decoding
from retrieval.models.protocol import ModelError, Usage
from retrieval.models.reranking import HostedReranker, RerankLimits, searches
from retrieval.models.retry import Failure, RetryPolicy
from retrieval.models.retry_after import from_headers
from retrieval.models.spec import Spec

_NO_CREDENTIALS = {
    "NoCredentialsError",
    "PartialCredentialsError",
    "CredentialRetrievalError",
    "TokenRetrievalError",
    "UnauthorizedSSOTokenError",
    "SSOTokenLoadError",
    "ProfileNotFound",
}
_TIMEOUTS = {"ReadTimeoutError", "ConnectTimeoutError"}
_UNREACHABLE = {"EndpointConnectionError", "ConnectionClosedError", "ProxyConnectionError", "SSLError"}
_EXPIRED = {"ExpiredTokenException", "UnrecognizedClientException", "InvalidSignatureException"}


class BedrockClient(Protocol):
    """The part of boto3's bedrock-runtime client that is used."""

    def invoke_model(self, *, modelId: str, body: str) -> dict[str, Any]: ...  # noqa: N803

    def close(self) -> None: ...


def connect(
    spec: Spec, region: str | None = None, *, timeout: float = 60.0, endpoint: str | None = None
) -> BedrockClient:
    """A client with the credentials that AWS tools find by themselves: variables, profile, role.

    `timeout` (seconds) ends the thread of a call that is given up. Raises `ModelError`
    (misconfigured) without boto3 or without a region.
    """
    try:
        import boto3.session  # pyright: ignore[reportMissingImports]
        from botocore.config import Config  # pyright: ignore[reportMissingImports]
        from botocore.exceptions import BotoCoreError  # pyright: ignore[reportMissingImports]
    except ImportError:
        raise ModelError(
            "misconfigured", f"{spec} needs boto3: install footnote-kb[bedrock].", model=str(spec)
        ) from None
    errors.quiet("boto3", "botocore", "urllib3")
    config = Config(
        connect_timeout=min(10.0, timeout),
        read_timeout=timeout,
        retries={"total_max_attempts": 1, "mode": "standard"},
        max_pool_connections=8,
    )
    try:
        # Its own session: the default one is shared by everything in the process.
        session = boto3.session.Session(region_name=region)
        client: Any = session.client("bedrock-runtime", endpoint_url=endpoint, config=config)
        return client
    except BotoCoreError as error:
        message = f"{spec.label} can't be set up ({type(error).__name__}). Set AWS_REGION."
    raise ModelError("misconfigured", message, model=str(spec))


class BedrockReranker(HostedReranker):
    """A `Reranker`, for instance `bedrock:cohere.rerank-v3-5:0`. boto3 blocks, so it works in threads."""

    def __init__(
        self,
        spec: Spec,
        client: BedrockClient,
        *,
        policy: RetryPolicy | None = None,
        limits: RerankLimits | None = None,
    ) -> None:
        super().__init__(spec, policy, limits)
        self._client = client

    async def aclose(self) -> None:
        await asyncio.to_thread(self._client.close)

    async def _request(
        self, query: str, passages: list[str], top: int
    ) -> tuple[list[tuple[int, float]], Usage]:
        asked: dict[str, Any] = {"query": query, "documents": passages, "top_n": top}
        if "cohere" in self.spec.model:
            asked["api_version"] = 2
        body = await asyncio.to_thread(self._invoke, json.dumps(asked))
        with decoding():
            results = json.loads(body)["results"]
            scores = [(int(one["index"]), float(one["relevance_score"])) for one in results]
        return scores, Usage(searches=searches(len(passages)))

    def _invoke(self, body: str) -> bytes:
        return self._client.invoke_model(modelId=self.spec.model, body=body)["body"].read()

    def _explain(self, error: Exception) -> Failure | None:
        """By name and shape: boto3 makes its exception classes at run time, and may be missing."""
        name = type(error).__name__
        response = getattr(error, "response", None)
        if isinstance(response, dict):
            return self._from_response(response)
        if isinstance(error, TimeoutError) or name in _TIMEOUTS:
            return errors.timed_out(self.spec)
        if name in _UNREACHABLE:
            return errors.unreachable(self.spec)
        if name in _NO_CREDENTIALS:
            message = f"No AWS credentials were found for {self.name} ({name})."
            return Failure(ModelError("misconfigured", message, model=self.name))
        if isinstance(error, BadAnswer) or name in ("ResponseStreamingError", "HTTPClientError"):
            return errors.bad_answer(self.spec)
        return None

    def _from_response(self, response: dict[str, Any]) -> Failure:
        code = str(response.get("Error", {}).get("Code", ""))
        text = str(response.get("Error", {}).get("Message", ""))
        sent = response.get("ResponseMetadata", {})
        status = int(sent.get("HTTPStatusCode") or 500)
        if code in _EXPIRED:
            status = 401
        after = from_headers(sent.get("HTTPHeaders"))
        return errors.from_status(self.spec, status, text=text, code=code, after=after)
