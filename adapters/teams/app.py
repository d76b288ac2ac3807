"""The Teams adapter, put together: an endpoint, and the inbox's work."""

from __future__ import annotations

from collections.abc import AsyncGenerator
from contextlib import AsyncExitStack, asynccontextmanager
from pathlib import Path

import structlog
from aiohttp import ClientSession, DummyCookieJar, web

from adapters.ports import Bot
from adapters.teams import work
from adapters.teams.auth import METADATA, Authenticator, Keys
from adapters.teams.connector import BotConnector
from adapters.teams.context import Teams
from adapters.teams.credentials import Credentials
from adapters.teams.endpoint import PATH, Endpoint
from adapters.teams.graph import GraphClient
from adapters.teams.groups import GroupGraph
from adapters.teams.invoke import answer_invoke
from adapters.teams.people import TeamsPeople
from adapters.teams.receive import Receiving
from adapters.teams.rest import Rest
from adapters.teams.settings import TeamsSettings
from adapters.teams.threads import Threads
from adapters.teams.worker import handler

log = structlog.get_logger()


class TeamsAdapter:
    """Give `routes` to the server, and keep `running` open: before that, nothing is let in."""

    def __init__(self, bot: Bot, settings: TeamsSettings, *, spool: Path) -> None:
        self._bot, self._settings, self._spool = bot, settings, spool
        self._endpoint: Endpoint | None = None

    def routes(self) -> list[web.RouteDef]:
        return [web.post(PATH, self._handle)]

    async def _handle(self, request: web.Request) -> web.Response:
        if self._endpoint is None:
            return web.Response(status=503, headers={"Retry-After": "2"})
        return await self._endpoint.handle(request)

    @asynccontextmanager
    async def running(self) -> AsyncGenerator[None]:
        """Work the inbox, and let activities in."""
        settings = self._settings
        async with AsyncExitStack() as stack:
            session = await stack.enter_async_context(ClientSession(cookie_jar=DummyCookieJar()))
            credentials = Credentials(settings, session)
            connector = BotConnector(Rest(session, credentials, settings.timeout), settings.app_id)
            graph = GroupGraph(GraphClient(settings, session, credentials), connector)
            people = TeamsPeople(connector, graph, settings.admins)
            teams = Teams(self._bot, connector, people, graph, settings, self._spool)
            threads = Threads(teams)
            keys = Keys(session, settings.openid_metadata_url or METADATA)
            stack.push_async_callback(keys.close)
            if settings.app_id:
                await keys.warm()
            handle = handler(teams, threads)
            for queue in (work.PLATFORM, work.DOCUMENTS):
                serving = self._bot.inbox.serve(queue, handle, concurrency=settings.concurrency)
                await stack.enter_async_context(serving)
            receiving = Receiving(teams, threads, answer_invoke)
            self._endpoint = Endpoint(Authenticator(keys, settings.app_id), receiving, settings)
            stack.callback(self._close)
            log.info("teams_ready", credentials=bool(settings.app_id))
            yield

    def _close(self) -> None:
        self._endpoint = None
