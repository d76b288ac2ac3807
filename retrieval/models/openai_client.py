"""The client of OpenAI-compatible servers, and what their errors mean."""

from __future__ import annotations

import re

import openai

from retrieval.models import errors
from retrieval.models.connection import Connection
from retrieval.models.errors import BadAnswer
from retrieval.models.retry import Failure
from retrieval.models.retry_after import from_headers
from retrieval.models.spec import Spec

OpenAIConnection = Connection[openai.AsyncOpenAI]


def connect(key: str | None, base_url: str | None = None) -> OpenAIConnection:
    """A client without retries or timeouts of its own: `RetryPolicy` is the one that counts.

    Servers without keys (Ollama, vLLM) take any.
    """
    errors.quiet("openai", "httpx", "httpx2", "httpcore", "httpcore2")
    client = openai.AsyncOpenAI(api_key=key or "none", base_url=base_url, max_retries=0, timeout=None)
    return Connection(client, client.close)


def is_official(connection: OpenAIConnection) -> bool:
    """Whether it is OpenAI's own API, which differs in details from the servers that follow it."""
    host = connection.client.base_url.host
    return host == "api.openai.com" or host.endswith(".api.openai.com")


def explain(spec: Spec, error: Exception) -> Failure | None:
    """What an exception of the SDK means."""
    match error:
        case openai.APIStatusError():
            return _from_status(spec, error)
        case TimeoutError() | openai.APITimeoutError():
            return errors.timed_out(spec)
        case openai.APIConnectionError():
            return errors.unreachable(spec)
        case BadAnswer() | openai.APIError():
            return errors.bad_answer(spec)
        case _:
            return None


def said(error: openai.APIStatusError) -> str:
    """All that the server wrote, for looking at; it may repeat the prompt or the key."""
    return f"{error.message} {error.body}"


def _from_status(spec: Spec, error: openai.APIStatusError) -> Failure:
    code, text = str(error.code or ""), said(error)
    if code == "context_length_exceeded":
        return errors.too_long(spec)
    if code == "insufficient_quota":
        return errors.no_credit(spec)
    if code in ("content_filter", "content_policy_violation"):
        return Failure(errors.refused(spec, code))
    if error.status_code in (400, 403, 404) and re.search(r"invalid.{0,10}api.?key", text, re.I):
        return errors.bad_key(spec)
    after = from_headers(error.response.headers)
    return errors.from_status(spec, error.status_code, text=text, code=code, after=after)
