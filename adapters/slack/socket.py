"""Socket Mode: Slack's events over a connection that this server opens."""

from __future__ import annotations

import asyncio
from typing import Final, Self

import aiohttp
import structlog
from slack_bolt.adapter.socket_mode.aiohttp import AsyncSocketModeHandler
from slack_bolt.async_app import AsyncApp
from slack_sdk.errors import SlackApiError

from adapters.ports import Refused
from adapters.slack.clients import make_client
from adapters.slack.errors import code_of
from adapters.slack.settings import SlackSettings

log = structlog.get_logger()

#: Seconds that closing may take.
_CLOSE: Final = 5.0
_WHY: Final = {
    "invalid_auth": "SLACK_APP_TOKEN is not valid. Copy the app-level token (xapp-…) again.",
    "not_allowed_token_type": "SLACK_APP_TOKEN is no app-level token. It begins with xapp-.",
    "missing_scope": "SLACK_APP_TOKEN lacks the scope connections:write. Make a new one that has it.",
    "forbidden_team": "Socket Mode is not switched on for this app. Switch it on in the app's settings.",
}


class SocketMode:
    """Connected while the context is open; a connection that breaks is made again."""

    def __init__(self, app: AsyncApp, settings: SlackSettings) -> None:
        assert settings.app_token
        self._token = settings.app_token
        self._client = make_client(None, settings)
        self._handler = AsyncSocketModeHandler(app, settings.app_token, web_client=self._client)

    async def __aenter__(self) -> Self:
        """Raises `Refused` where Slack does not take the token."""
        try:
            await self._client.apps_connections_open(app_token=self._token)
        except SlackApiError as error:
            code = code_of(error)
            raise Refused(_WHY.get(code, f"Slack refuses Socket Mode: {code or 'no answer'}.")) from error
        except (aiohttp.ClientError, OSError, TimeoutError) as error:
            raise Refused("Slack can't be reached. Check the network, and try again.") from error
        await self._handler.connect_async()
        return self

    async def __aexit__(self, *_: object) -> None:
        try:
            async with asyncio.timeout(_CLOSE):
                await self._handler.close_async()
        except TimeoutError:
            log.warning("slack_socket_not_closed")
