"""A bot that only does what a test of the stand-in for Teams says."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager
from typing import Any

import aiohttp
import pytest
from aiohttp import web

from tests.doubles.teams import Clock, TeamsDouble

Json = dict[str, Any]


class Bot:
    """The smallest client of the Connector: calls with a token, and keeps what it is told."""

    def __init__(self, teams: TeamsDouble, session: aiohttp.ClientSession) -> None:
        self.teams, self.session = teams, session
        self.token: str | None = teams.login.give("connector")
        self.told: list[Json] = []
        self.headers: list[str] = []
        self.statuses: list[int] = []
        self.answer: Any = None
        #: Set, it answers when this is.
        self.hold: asyncio.Event | None = None

    async def call(self, method: str, path: str, body: Any = None, **more: Any) -> tuple[int, Any]:
        headers = {"Authorization": f"Bearer {self.token}"} if self.token else {}
        async with self.session.request(
            method, f"{self.teams.url}v3/{path}", json=body, headers=headers, **more
        ) as response:
            return response.status, await response.json()

    async def send(self, place: str, body: Any = None, **activity: Any) -> tuple[int, Any]:
        activity = {"type": "message"} | activity
        return await self.call("POST", f"conversations/{place}/activities", body or activity)

    async def serve(self, request: web.Request) -> web.Response:
        self.told.append(await request.json())
        self.headers.append(request.headers.get("Authorization", ""))
        if self.hold is not None:
            await self.hold.wait()
        status = self.statuses.pop(0) if self.statuses else 201
        if self.told[-1]["type"] == "invoke":
            return web.Response(status=200) if self.answer is None else web.json_response(self.answer)
        return web.Response(status=status)


@asynccontextmanager
async def listening(teams: TeamsDouble) -> AsyncGenerator[Bot]:
    async with aiohttp.ClientSession() as session:
        bot = Bot(teams, session)
        app = web.Application()
        app.router.add_post("/api/messages", bot.serve)
        runner = web.AppRunner(app)
        await runner.setup()
        site = web.TCPSite(runner, "127.0.0.1", 0)
        await site.start()
        teams.outbox.url = f"http://127.0.0.1:{runner.addresses[0][1]}/api/messages"
        yield bot
        await runner.cleanup()


@pytest.fixture
async def teams() -> AsyncGenerator[TeamsDouble]:
    async with TeamsDouble(clock=Clock(1_800_000_000.0)) as teams:
        yield teams


@pytest.fixture
async def bot(teams: TeamsDouble) -> AsyncGenerator[Bot]:
    async with listening(teams) as bot:
        yield bot
