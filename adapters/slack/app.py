"""The Slack adapter, put together: one bolt app behind Socket Mode, HTTP, or both."""

from __future__ import annotations

from collections.abc import AsyncGenerator
from contextlib import AsyncExitStack, asynccontextmanager
from pathlib import Path
from typing import Any

import structlog
from aiohttp import web
from slack_bolt.async_app import AsyncApp
from slack_bolt.authorization import AuthorizeResult

from adapters.ports import Bot
from adapters.slack import (
    commands,
    feedback,
    greet,
    home,
    listen,
    passage,
    reply_menu,
    settings_modal,
    upload_modal,
    work,
)
from adapters.slack.clients import StaticClients
from adapters.slack.context import Clients, NotInstalled, Slack
from adapters.slack.http import slack_routes
from adapters.slack.people import SlackPeople
from adapters.slack.settings import SlackSettings
from adapters.slack.socket import SocketMode
from adapters.slack.threads import Threads
from adapters.slack.worker import handler

log = structlog.get_logger()


class SlackAdapter:
    """Give `routes` to the server, and keep `running` open."""

    def __init__(self, bot: Bot, settings: SlackSettings, *, spool: Path) -> None:
        clients: Clients = StaticClients(settings)
        self._settings = settings
        self.slack = Slack(bot, clients, SlackPeople(), settings, spool)
        self._threads = Threads(self.slack)
        self.app = AsyncApp(
            name="footnote",
            signing_secret=settings.signing_secret or "",
            authorize=_authorize(clients),
        )
        # Of the listeners of one event the first that fits is run: the Home tab's before the greeting's.
        surfaces = (commands, home, settings_modal, upload_modal, feedback, passage, reply_menu)
        for part in (*surfaces, greet):
            part.register(self.app, self.slack)
        listen.register(self.app, self.slack, self._threads)

    def routes(self) -> list[web.RouteDef]:
        """None without a signing secret: then Socket Mode is the only way in."""
        return slack_routes(self.app, self._settings) if self._settings.signing_secret else []

    @asynccontextmanager
    async def running(self) -> AsyncGenerator[None]:
        """Work the inbox, and listen where Socket Mode is set up. Raises `Refused` where Slack does not
        take the tokens."""
        async with AsyncExitStack() as stack:
            await stack.enter_async_context(
                self.slack.bot.inbox.serve(
                    work.PLATFORM,
                    handler(self.slack, self._threads),
                    concurrency=self._settings.concurrency,
                )
            )
            if self._settings.app_token:
                await stack.enter_async_context(SocketMode(self.app, self._settings))
            log.info("slack_ready", socket_mode=bool(self._settings.app_token))
            yield


def _authorize(clients: Clients) -> Any:
    async def authorize(enterprise_id: str | None, team_id: str | None) -> AuthorizeResult | None:
        """None where the app is not installed: bolt then drops the request."""
        try:
            installed = await clients.of(team_id or "", enterprise_id)
        except NotInstalled:
            log.warning("slack_not_installed", team=team_id)
            return None
        return AuthorizeResult(
            enterprise_id=enterprise_id,
            team_id=team_id,
            bot_token=installed.client.token,
            bot_id=installed.bot_id,
            bot_user_id=installed.bot_user,
        )

    return authorize
