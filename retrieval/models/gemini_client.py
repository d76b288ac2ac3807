"""The Gemini API's client, and what its errors mean."""

from __future__ import annotations

import aiohttp
from google import genai
from google.genai import errors as sdk
from google.genai import types

from retrieval.models import errors
from retrieval.models.connection import Connection
from retrieval.models.errors import BadAnswer
from retrieval.models.retry import Failure
from retrieval.models.retry_after import from_google, from_headers
from retrieval.models.spec import Spec

GeminiConnection = Connection[genai.Client]


def connect(key: str, base_url: str | None = None) -> GeminiConnection:
    """A client without retries or timeouts of its own: `RetryPolicy` is the one that counts.

    The SDK's timeout isn't used because it is sent on as a deadline, and the API refuses those
    under 10 seconds. `v1beta` is the API version that has the preview models and the `-latest` names.
    """
    errors.quiet("google_genai", "httpx", "httpx2")
    options = types.HttpOptions(
        base_url=base_url, api_version="v1beta", retry_options=types.HttpRetryOptions(attempts=1)
    )
    client = genai.Client(api_key=key, vertexai=False, http_options=options)

    async def close() -> None:
        await client.aio.aclose()
        client.close()  # the SDK opens a blocking client too

    return Connection(client, close)


def explain(spec: Spec, error: Exception) -> Failure | None:
    """What an exception of google-genai, or of aiohttp under it, means."""
    match error:
        case sdk.APIError():
            return _from_api(spec, error)
        case TimeoutError():
            return errors.timed_out(spec)
        case aiohttp.ClientConnectorError() | aiohttp.ClientOSError() | aiohttp.ServerDisconnectedError():
            return errors.unreachable(spec)
        case BadAnswer() | sdk.UnknownApiResponseError() | aiohttp.ClientError():
            return errors.bad_answer(spec)
        case _:
            return None


def _from_api(spec: Spec, error: sdk.APIError) -> Failure:
    reason = _reason(error.details)
    if reason == "API_KEY_INVALID" or (error.code == 400 and "API key" in str(error.message)):
        return errors.bad_key(spec)
    after = from_google(error.details)
    if after is None:
        after = from_headers(getattr(error.response, "headers", None))
    return errors.from_status(
        spec, error.code or 500, text=str(error.message), code=str(error.status or ""), after=after
    )


def _reason(details: object) -> str:
    """The `reason` of a google.rpc.ErrorInfo, such as API_KEY_INVALID."""
    error = details.get("error", details) if isinstance(details, dict) else {}
    entries = error.get("details") if isinstance(error, dict) else None
    for entry in entries if isinstance(entries, list) else []:
        if isinstance(entry, dict) and "reason" in entry:
            return str(entry["reason"])
    return ""
