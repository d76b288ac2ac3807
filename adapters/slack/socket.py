"""Socket Mode: the app opens the connection, so it needs no address that Slack can reach."""

from __future__ import annotations

import asyncio
import random
from types import TracebackType
from typing import Any, Final, Self, cast
from urllib.parse import urlsplit
from urllib.request import proxy_bypass

import structlog
from aiohttp import ClientError, ClientSession, TraceConfig
from slack_bolt.adapter.socket_mode.aiohttp import AsyncSocketModeHandler
from slack_bolt.app.async_app import AsyncApp
from slack_sdk.errors import SlackApiError
from slack_sdk.socket_mode.aiohttp import SocketModeClient
from slack_sdk.web.async_client import AsyncWebClient

from adapters.ports import Refused
from adapters.slack.clients import make_client
from adapters.slack.errors import NoPlace, RateLimited, Unclear, attempt, code_of
from adapters.slack.settings import SlackSettings

log = structlog.get_logger()

#: Seconds for the first connection; later ones are tried for as long as the context is open.
_OPEN_WITHIN: Final = 60.0
#: Seconds between tries to learn where to connect.
_PAUSES: Final = (1.0, 3.0)
#: Seconds between pings; also the SDK's pause before it connects again.
_PING: Final = 10.0
#: Seconds for saying goodbye.
_CLOSE_WITHIN: Final = 5.0

_MAKE_ONE: Final = (
    "Make one at https://api.slack.com/apps > Basic Information > App-Level Tokens, "
    "with the scope connections:write."
)
_TURN_ON: Final = (
    "Socket Mode is off for this Slack app. Turn it on at https://api.slack.com/apps > Socket Mode."
)
_WHAT_TO_DO: Final = {
    "invalid_auth": f"Slack does not know SLACK_APP_TOKEN. {_MAKE_ONE}",
    "not_authed": f"Slack does not know SLACK_APP_TOKEN. {_MAKE_ONE}",
    "token_revoked": f"SLACK_APP_TOKEN was revoked. {_MAKE_ONE}",
    "token_expired": f"SLACK_APP_TOKEN has expired. {_MAKE_ONE}",
    "account_inactive": f"SLACK_APP_TOKEN belongs to an app or a team that is gone. {_MAKE_ONE}",
    "not_allowed_token_type": f"SLACK_APP_TOKEN is no app-level token (xapp-…). {_MAKE_ONE}",
    "missing_scope": f"SLACK_APP_TOKEN lacks the scope connections:write. {_MAKE_ONE}",
    "forbidden": _TURN_ON,
    "connections_not_enabled": _TURN_ON,
    "socket_mode_not_enabled": _TURN_ON,
}


def connection_refused(error: SlackApiError | NoPlace) -> str:
    """What `apps.connections.open` refused, as one or two sentences with what to do."""
    code = code_of(error)
    return _WHAT_TO_DO.get(code) or (
        f"Slack refused the Socket Mode connection ({code or 'no readable answer'}). "
        "Check SLACK_APP_TOKEN, and Socket Mode at https://api.slack.com/apps."
    )


class SocketMode:
    """`async with SocketMode(app, settings)`: envelopes reach `app` while it is open.

    Opening ends when the connection stands, and raises `Refused` when Slack does not take the token or
    can't be reached. A connection that breaks, or that Slack asks to renew, is opened again.
    """

    def __init__(self, app: AsyncApp, settings: SlackSettings) -> None:
        self._app = app
        self._settings = settings
        self._handler: AsyncSocketModeHandler | None = None

    @property
    def client(self) -> SocketModeClient:
        """Only while open."""
        assert self._handler is not None
        return self._handler.client

    async def __aenter__(self) -> Self:
        client = make_client(None, self._settings)
        handler = AsyncSocketModeHandler(
            self._app, self._settings.app_token or "", web_client=client, ping_interval=_PING
        )
        self._handler = handler
        await self._prepare(handler.client)
        try:
            async with asyncio.timeout(_OPEN_WITHIN):
                # Asked here first: the SDK would log a refusal and try again for ever.
                cast("Any", handler.client).wss_uri = await self._address(client)
                await handler.connect_async()
        except (NoPlace, SlackApiError) as error:
            await self._close()
            raise Refused(connection_refused(error)) from error
        except (Unclear, TimeoutError) as error:
            await self._close()
            host = urlsplit(self._settings.api_url).hostname
            raise Refused(f"Slack can't be reached. Is {host} open from here, and wss:// too?") from error
        except BaseException:
            await self._close()
            raise
        return self

    async def _address(self, client: AsyncWebClient) -> str:
        """Where to connect, once. Raises as `attempt` does."""
        for pause in _PAUSES:
            try:
                return await self._asked(client)
            except Unclear as error:
                log.warning("slack_socket_address_unclear", error=str(error))
                told = error.seconds if isinstance(error, RateLimited) else pause
                await asyncio.sleep(told * random.uniform(1.0, 1.3))  # noqa: S311
        return await self._asked(client)

    async def _asked(self, client: AsyncWebClient) -> str:
        answer = await attempt(
            lambda: client.apps_connections_open(app_token=self._settings.app_token or "")
        )
        return str(answer["url"])

    async def _prepare(self, client: SocketModeClient) -> None:
        """The SDK tries a failed connection again at the same address, but an address works once."""

        async def forget(*_: object) -> None:
            cast("Any", client).wss_uri = None

        used = TraceConfig()
        used.on_request_start.append(forget)
        await client.aiohttp_client_session.close()
        client.aiohttp_client_session = ClientSession(trace_configs=[used])
        if client.proxy and proxy_bypass(urlsplit(self._settings.api_url).hostname or ""):
            client.proxy = None

    async def __aexit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        await self._close()

    async def _close(self) -> None:
        handler, self._handler = self._handler, None
        if handler is None:
            return
        client = handler.client
        tasks = [
            task
            for task in (client.message_processor, client.current_session_monitor, client.message_receiver)
            if task is not None
        ]
        try:
            async with asyncio.timeout(_CLOSE_WITHIN):
                await handler.close_async()
        except (TimeoutError, ClientError, OSError) as problem:
            log.warning("slack_socket_not_closed", error=type(problem).__name__)
            for task in tasks:
                task.cancel()
            await client.aiohttp_client_session.close()
        await asyncio.gather(*tasks, return_exceptions=True)
