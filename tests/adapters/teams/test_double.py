"""The stand-in for Teams refuses what Teams refuses, and tells a bot what Teams tells it."""

from __future__ import annotations

from collections.abc import AsyncGenerator, AsyncIterator
from contextlib import asynccontextmanager
from typing import Any

import aiohttp
import jwt
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
        status = self.statuses.pop(0) if self.statuses else 201
        if self.told[-1]["type"] == "invoke":
            return web.Response(status=200) if self.answer is None else web.json_response(self.answer)
        return web.Response(status=status)


@asynccontextmanager
async def listening(teams: TeamsDouble) -> AsyncIterator[Bot]:
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


async def test_what_is_said_reaches_the_bot_and_its_answers_are_seen(teams: TeamsDouble, bot: Bot) -> None:
    ana = teams.world.add_person("Ana")
    asked = teams.ask(ana.aad, "How long is < 5 & 3 parental leave?")
    await teams.outbox.settled()
    [told] = bot.told
    assert told["id"] == asked
    assert told["conversation"]["conversationType"] == "personal"
    assert told["text"] == "How long is &lt; 5 &amp; 3 parental leave?"
    place = told["conversation"]["id"]

    status, answer = await bot.send(place, text="Twelve weeks.")
    assert status == 201
    status, _ = await bot.call(
        "PUT", f"conversations/{place}/activities/{answer['id']}", {"type": "message", "text": "Fourteen."}
    )
    assert status == 200
    [shown] = teams.answers(place)
    assert (shown.text, shown.edits, shown.by_bot) == ("Fourteen.", 1, True)
    assert (await bot.call("DELETE", f"conversations/{place}/activities/{answer['id']}"))[0] == 200
    assert teams.answers(place) == []
    assert teams.refusals == []


async def test_activities_are_signed_for_this_bot(teams: TeamsDouble, bot: Bot) -> None:
    teams.ask(teams.world.add_person("Ana").aad, "hi")
    await teams.outbox.settled()
    token = bot.headers[0].removeprefix("Bearer ")
    async with bot.session.get(teams.openid_url) as response:
        keys_url = (await response.json())["jwks_uri"]
    async with bot.session.get(keys_url) as response:
        [key] = (await response.json())["keys"]
    assert key["endorsements"] == ["msteams"]
    claims = jwt.decode(token, jwt.PyJWK(key).key, algorithms=["RS256"], audience=teams.app_id)
    assert claims["serviceurl"] == bot.told[0]["serviceUrl"] == teams.url
