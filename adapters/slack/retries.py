"""When a call to Slack is tried again by itself: only where that can't do a thing twice."""

# ruff: noqa: ARG002 -- the SDK names the arguments
from __future__ import annotations

import asyncio
import random
from typing import Final

from aiohttp import (
    ClientConnectorCertificateError,
    ClientConnectorError,
    ClientOSError,
    ClientPayloadError,
    ConnectionTimeoutError,
    ServerDisconnectedError,
)
from slack_sdk.http_retry.async_handler import AsyncRetryHandler
from slack_sdk.http_retry.request import HttpRequest
from slack_sdk.http_retry.response import HttpResponse
from slack_sdk.http_retry.state import RetryState

from adapters.slack.errors import retry_after

#: Seconds that a client waits by itself when Slack says "later"; beyond, the caller decides.
LONGEST_WAIT: Final = 30.0
#: Methods that change nothing, or leave things the same when they are called twice.
READS: Final = frozenset({
    "apps.connections.open", "auth.test", "bots.info", "chat.getPermalink", "conversations.history",
    "conversations.info", "conversations.list", "conversations.members", "conversations.open",
    "conversations.replies", "files.info", "team.info", "usergroups.list", "usergroups.users.list",
    "users.conversations", "users.info", "users.list",
})  # fmt: skip


class _Waiting(AsyncRetryHandler):
    """Waits `_seconds` before the next try."""

    async def prepare_for_next_attempt_async(
        self,
        *,
        state: RetryState,
        request: HttpRequest,
        response: HttpResponse | None = None,
        error: Exception | None = None,
    ) -> None:
        state.next_attempt_requested = True
        await asyncio.sleep(self._seconds(state, response))
        state.increment_current_attempt()

    def _seconds(self, state: RetryState, response: HttpResponse | None) -> float:
        return 0.25 * 2**state.current_attempt * random.uniform(0.5, 1.5)  # noqa: S311


class RateLimitRetry(_Waiting):
    """Waits as told, unless that is too long to hold up the caller."""

    async def _can_retry_async(
        self,
        *,
        state: RetryState,
        request: HttpRequest,
        response: HttpResponse | None = None,
        error: Exception | None = None,
    ) -> bool:
        if response is None or response.status_code != 429:
            return False
        return retry_after(response.headers) <= LONGEST_WAIT

    def _seconds(self, state: RetryState, response: HttpResponse | None) -> float:
        return (1.0 if response is None else retry_after(response.headers)) + random.uniform(0, 0.5)  # noqa: S311


class ConnectRetry(_Waiting):
    """Tries again when no connection came about, so that the request can't have had an effect."""

    async def _can_retry_async(
        self,
        *,
        state: RetryState,
        request: HttpRequest,
        response: HttpResponse | None = None,
        error: Exception | None = None,
    ) -> bool:
        return isinstance(error, ClientConnectorError | ConnectionTimeoutError) and not isinstance(
            error, ClientConnectorCertificateError
        )


class ReadRetry(_Waiting):
    """Tries `READS` again after a 5xx, or when no answer came."""

    async def _can_retry_async(
        self,
        *,
        state: RetryState,
        request: HttpRequest,
        response: HttpResponse | None = None,
        error: Exception | None = None,
    ) -> bool:
        if request.url.rsplit("/", 1)[-1] not in READS:
            return False
        if error is None:
            return response is not None and response.status_code >= 500
        return isinstance(error, TimeoutError | ServerDisconnectedError | ClientPayloadError) or (
            isinstance(error, ClientOSError) and not isinstance(error, ClientConnectorError)
        )
