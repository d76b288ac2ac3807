"""Tokens: by which way each kind of app gets them, how often they are asked for, and what goes wrong."""

from __future__ import annotations

import asyncio
import threading
from collections.abc import AsyncGenerator
from dataclasses import dataclass, field, replace
from typing import Any

import pytest
from aiohttp import ClientSession, web
from aiohttp.test_utils import TestServer

from adapters.teams.credentials import CONNECTOR, GRAPH, REFUSED, Credentials, NoToken
from adapters.teams.settings import TeamsSettings
from tests.adapters.teams.site import settings_for
from tests.doubles.teams import Breaks, Drops, Fails, TeamsDouble

APP = "11111111-2222-4333-8444-555555555555"


@pytest.fixture(autouse=True)
def _at_once(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("adapters.teams.credentials._PAUSE", 0.0)


@dataclass
class Site:
    """A token endpoint of its own, in the loop of the bot: who blocks the loop waits in vain."""

    settings: TeamsSettings = field(
        default_factory=lambda: TeamsSettings(app_id=APP, app_password="secret")
    )
    answer: web.Response | None = None
    seconds: Any = 3600
    gate: asyncio.Event = field(default_factory=asyncio.Event)
    asked: list[str] = field(default_factory=list[str])
    now: float = 0.0

    async def serve(self, request: web.BaseRequest) -> web.StreamResponse:
        self.asked.append(request.path)
        await self.gate.wait()
        if self.answer is not None:
            return web.Response(status=self.answer.status, body=self.answer.body)
        return web.json_response({"access_token": f"t-{len(self.asked)}", "expires_in": self.seconds})


@pytest.fixture
async def site() -> AsyncGenerator[tuple[Site, Credentials]]:
    site = Site()
    site.gate.set()
    server = TestServer(web.Application())
    server.app.router.add_route("*", "/{rest:.*}", site.serve)
    async with server, ClientSession() as session:
        url = str(server.make_url("/"))
        yield site, Credentials(replace(site.settings, login_url=url), session, now=lambda: site.now)
        site.gate.set()


# -- by which way --------------------------------------------------------------------------------------


async def test_an_app_of_one_tenant_asks_there(teams: TeamsDouble) -> None:
    teams.app.tenant = teams.world.first_tenant
    async with ClientSession() as session:
        given = settings_for(teams, app_type="SingleTenant", app_tenant=teams.world.first_tenant)
        credentials = Credentials(given, session)
        connector = await credentials.token()
        graph = await credentials.token(GRAPH)
    assert teams.login.given[connector].tenant == teams.world.first_tenant
    assert teams.login.given[connector].audience == "connector"
    assert teams.login.given[graph].audience == "graph"


async def test_an_app_of_many_tenants_asks_for_graph_where_the_conversation_is(teams: TeamsDouble) -> None:
    other = teams.world.add_tenant("Fabrikam").id
    async with ClientSession() as session:
        credentials = Credentials(settings_for(teams, app_tenant=teams.world.first_tenant), session)
        connector = await credentials.token()
        graph = await credentials.token(GRAPH, tenant=other.upper())
        assert await credentials.token(GRAPH, tenant=other) == graph
    assert teams.login.given[connector].tenant == "botframework.com"
    assert teams.login.given[graph].tenant == other


@pytest.mark.parametrize("where", ["app service", "machine"])
async def test_a_managed_identity_asks_azure_around_it_off_the_loop(
    teams: TeamsDouble, monkeypatch: pytest.MonkeyPatch, where: str
) -> None:
    """The double runs in the loop of the bot: a call that blocks it would not be answered."""
    teams.app.managed = True
    if where == "app service":
        monkeypatch.setenv("IDENTITY_ENDPOINT", f"{teams.base}/msi/token")
        monkeypatch.setenv("IDENTITY_HEADER", teams.login.identity_header)
    else:
        monkeypatch.setenv("AZURE_POD_IDENTITY_AUTHORITY_HOST", teams.base)
    async with ClientSession() as session:
        given = settings_for(teams, app_type="UserAssignedMSI", app_password=None, app_tenant="t")
        credentials = Credentials(given, session)
        token = await credentials.token()
        graph = await credentials.token(GRAPH, tenant="another")
        assert await credentials.token(GRAPH, tenant="a third") == graph
    assert teams.login.given[token].audience == "connector"
    assert teams.login.given[graph].audience == "graph"
    assert teams.login.requests == ["connector", "graph"]


async def test_a_managed_identity_outside_of_azure_is_no_token(
    teams: TeamsDouble, monkeypatch: pytest.MonkeyPatch
) -> None:
    given = settings_for(teams, app_type="UserAssignedMSI", app_password=None)
    monkeypatch.setenv("AZURE_POD_IDENTITY_AUTHORITY_HOST", "http://127.0.0.1:9")
    async with ClientSession() as session:
        with pytest.raises(NoToken):
            await Credentials(given, session).token()
        monkeypatch.setenv("AZURE_POD_IDENTITY_AUTHORITY_HOST", teams.base)  # which knows no such identity
        with pytest.raises(NoToken):
            await Credentials(given, session).token()


async def test_msals_own_client_has_a_time_limit(monkeypatch: pytest.MonkeyPatch) -> None:
    seen: list[Any] = []

    def get(self: Any, *_: Any, **named: Any) -> None:
        seen.append((named.get("timeout"), threading.current_thread() is threading.main_thread()))
        raise OSError("nobody there")

    monkeypatch.setattr("requests.Session.send", get)
    async with ClientSession() as session:
        given = TeamsSettings(app_id=APP, app_type="UserAssignedMSI")
        with pytest.raises(NoToken):
            await Credentials(given, session).token()
    assert seen
    assert all(0 < seconds <= 10 and not main for seconds, main in seen)


async def test_without_an_app_there_are_no_credentials() -> None:
    async with ClientSession() as session:
        assert await Credentials(TeamsSettings(), session).token() == ""


# -- how often -----------------------------------------------------------------------------------------


async def test_a_slow_token_stops_nobody_else_and_is_asked_for_once(site: tuple[Site, Credentials]) -> None:
    here, credentials = site
    here.gate.clear()
    tokens = [asyncio.create_task(credentials.token()) for _ in range(20)]
    beats = 0
    while not here.asked or beats < 100:
        await asyncio.sleep(0)
        beats += 1
    assert not any(token.done() for token in tokens)
    here.gate.set()
    assert await asyncio.gather(*tokens) == ["t-1"] * 20
    assert len(here.asked) == 1


async def test_a_token_is_kept_until_shortly_before_its_end(site: tuple[Site, Credentials]) -> None:
    here, credentials = site
    assert await credentials.token() == "t-1"
    here.now = 3600 - 301
    assert await credentials.token() == "t-1"
    here.now = 3600 - 299
    assert await credentials.token() == "t-2"


async def test_a_token_that_is_refused_is_replaced_once_for_all_that_held_it(
    site: tuple[Site, Credentials],
) -> None:
    here, credentials = site
    old = await credentials.token()
    assert await asyncio.gather(*[credentials.token(refused=old) for _ in range(20)]) == ["t-2"] * 20
    assert await credentials.token() == "t-2"
    assert len(here.asked) == 2


async def test_a_short_lived_token_is_used_nevertheless(site: tuple[Site, Credentials]) -> None:
    here, credentials = site
    here.seconds = "60"
    assert await credentials.token() == await credentials.token() == "t-1"


# -- what goes wrong -----------------------------------------------------------------------------------


@pytest.mark.parametrize("fault", [Fails(500), Fails(503), Breaks(), Drops(), Fails(429)], ids=repr)
async def test_an_endpoint_that_stumbles_is_asked_again(teams: TeamsDouble, fault: Any) -> None:
    teams.faults.next("token", fault, fault)
    async with ClientSession() as session:
        assert await Credentials(settings_for(teams), session).token()


@pytest.mark.parametrize(
    ("answer", "why"),
    [
        (web.json_response({"error": "invalid_client"}, status=401), "invalid_client"),
        (web.json_response({"access_token": 7}), "no readable answer"),
        (web.json_response({"access_token": ""}), "no readable answer"),
        (web.json_response([]), "no readable answer"),
        (web.json_response({"access_token": "t", "expires_in": "soon"}), "ValueError"),
        (web.Response(text="<html>Proxy</html>", status=407), "JSONDecodeError"),
        (web.Response(body=b"\xff", status=200), "UnicodeDecodeError"),
        (web.Response(status=302, headers={"Location": "/"}), "no readable answer"),
        (web.Response(status=500), "ClientError"),
    ],
    ids=lambda value: value if isinstance(value, str) else "",
)
async def test_whatever_is_no_token_has_a_word(
    site: tuple[Site, Credentials], answer: web.Response, why: str
) -> None:
    here, credentials = site
    here.answer = answer
    with pytest.raises(NoToken) as caught:
        await credentials.token()
    assert caught.value.why == why


async def test_a_refusal_is_kept_for_a_moment(site: tuple[Site, Credentials]) -> None:
    here, credentials = site
    here.answer = web.json_response({"error": "invalid_client"}, status=401)
    for result in await asyncio.gather(*[credentials.token() for _ in range(20)], return_exceptions=True):
        assert isinstance(result, NoToken)
        assert result.why == "invalid_client"
    assert len(here.asked) == 1
    here.answer, here.now = None, REFUSED + 1
    assert await credentials.token(CONNECTOR) == "t-2"


async def test_one_who_goes_away_leaves_the_others_their_token(site: tuple[Site, Credentials]) -> None:
    here, credentials = site
    here.gate.clear()
    first, second = asyncio.create_task(credentials.token()), asyncio.create_task(credentials.token())
    while not here.asked:  # noqa: ASYNC110
        await asyncio.sleep(0)
    first.cancel()
    here.gate.set()
    assert (await second).startswith("t-")
