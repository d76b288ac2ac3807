"""`/api/messages` over HTTP: what each thing that arrives is answered with."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncGenerator, Callable
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from typing import Any

import pytest
from aiohttp import ClientSession, web
from aiohttp.test_utils import TestServer
from redis.asyncio import Redis

from adapters.teams.activity import NoActivity
from adapters.teams.auth import Authenticator, Keys
from adapters.teams.context import InvokeAnswer
from adapters.teams.endpoint import MAX_BYTES, PATH, Endpoint
from adapters.teams.settings import TeamsSettings
from tests.adapters.teams.site import World, open_site, settings_for
from tests.doubles.teams import Fails, TeamsDouble

Does = Callable[[dict[str, Any]], Any]


@dataclass
class Receives:
    """Keeps what it is given; `does` gives its answer, or raises."""

    does: Does = lambda _activity: None
    gate: asyncio.Event | None = None
    got: list[dict[str, Any]] = field(default_factory=list[dict[str, Any]])

    async def receive(self, activity: dict[str, Any]) -> InvokeAnswer | None:
        self.got.append(activity)
        if self.gate is not None:
            await self.gate.wait()
        return self.does(activity)


@dataclass
class Site:
    teams: TeamsDouble
    world: World
    receives: Receives
    url: str
    session: ClientSession

    def activity(self, **more: Any) -> dict[str, Any]:
        double, world = self.teams, self.world
        place, person = double.world.conversations[world.direct], double.world.people[world.ann]
        return double.payloads.activity("message", place, person, text="How often?") | more

    async def post(self, activity: dict[str, Any] | None = None, **more: Any) -> tuple[int, bytes, str]:
        activity = activity or self.activity()
        headers = {"Authorization": str(self.teams.authorization(activity)), **more.pop("headers", {})}
        given = {"json": activity} if "data" not in more else {}
        async with self.session.post(self.url, headers=headers, **given, **more) as answer:
            return answer.status, await answer.read(), answer.content_type


@asynccontextmanager
async def opened(teams: TeamsDouble, world: World, settings: TeamsSettings) -> AsyncGenerator[Site]:
    receives = Receives()
    async with ClientSession() as session:
        keys = Keys(session, teams.openid_url)
        endpoint = Endpoint(Authenticator(keys, settings.app_id), receives, settings)
        application = web.Application()
        application.add_routes([web.post(PATH, endpoint.handle)])
        async with TestServer(application) as server:
            yield Site(teams, world, receives, str(server.make_url(PATH)), session)
        await keys.close()


@pytest.fixture
async def site(teams: TeamsDouble, world: World) -> AsyncGenerator[Site]:
    async with opened(teams, world, settings_for(teams)) as site:
        yield site


async def test_what_is_received_is_the_activity_as_it_was_sent(site: Site) -> None:
    sent = site.activity(more={"ä": [1, None, "😀"]})
    assert await site.post(sent) == (201, b"", "application/octet-stream")
    assert site.receives.got == [sent]


@pytest.mark.parametrize(
    ("answer", "status", "body", "kind"),
    [
        (InvokeAnswer(), 200, b"", "application/octet-stream"),
        (InvokeAnswer(501), 501, b"", "application/octet-stream"),
        (InvokeAnswer(body={}), 200, b"{}", "application/json"),
        (
            InvokeAnswer(body={"task": {"type": "message"}}),
            200,
            b'{"task": {"type": "message"}}',
            "application/json",
        ),
    ],
)
async def test_an_invoke_has_its_own_answer(
    site: Site, answer: InvokeAnswer, status: int, body: bytes, kind: str
) -> None:
    site.receives.does = lambda _: answer
    assert await site.post(site.activity(type="invoke")) == (status, body, kind)


def _raise(error: Exception) -> Does:
    def does(_: Any) -> None:
        raise error

    return does


@pytest.mark.parametrize(
    ("error", "status"),
    [(NoActivity("no"), 400), (RuntimeError("s3cret"), 500), (ValueError(), 500), (TimeoutError(), 504)],
    ids=repr,
)
async def test_what_could_not_be_kept_is_told_so_that_it_comes_again(
    site: Site, error: Exception, status: int
) -> None:
    site.receives.does = _raise(error)
    assert (await site.post())[:2] == (status, b"")


async def test_what_takes_too_long_is_answered_before_teams_gives_up(
    site: Site, monkeypatch: pytest.MonkeyPatch
) -> None:
    site.receives.gate = asyncio.Event()
    monkeypatch.setattr("adapters.teams.endpoint.DEADLINE", 0.0)
    assert (await site.post(site.activity(type="invoke")))[0] == 504


@pytest.mark.parametrize("method", ["GET", "PUT", "DELETE", "PATCH", "OPTIONS"])
async def test_other_methods_are_405(site: Site, method: str) -> None:
    async with site.session.request(method, site.url) as answer:
        assert answer.status == 405
    assert site.receives.got == []


@pytest.mark.parametrize(
    "kind", ["text/plain", "application/x-www-form-urlencoded", "application/jsonp", ""]
)
async def test_other_content_types_are_415(site: Site, kind: str) -> None:
    status, _, _ = await site.post(data=b"{}", headers={"Content-Type": kind or "x"})
    assert status == 415
    assert site.receives.got == []


@pytest.mark.parametrize(
    "body", [b"", b"{", b"[]", b"7", b"null", b"\xff\xfe{}", b'"x"', b'{"a":' * 50_000]
)
async def test_what_is_no_object_is_400(site: Site, body: bytes) -> None:
    status, _, _ = await site.post(data=body, headers={"Content-Type": "application/json"})
    assert status == 400
    assert site.receives.got == []


async def test_a_body_without_a_length_has_a_bound_too(site: Site) -> None:
    async def endless() -> AsyncGenerator[bytes]:
        for _ in range(MAX_BYTES // 65_536 + 1):
            yield b" " * 65_536

    status, _, _ = await site.post(data=endless(), headers={"Content-Type": "application/json"})
    assert status == 413
    assert site.receives.got == []


async def test_halves_of_characters_arrive_as_text(site: Site) -> None:
    """Text that was cut between the halves of a pair could not be kept anywhere."""
    status, _, _ = await site.post(site.activity(text="cut \ud83d", more={"\udc00": ["\udfff", "😀"]}))
    assert status == 201
    [got] = site.receives.got
    assert got["text"] == "cut ?"
    assert got["more"] == {"?": ["?", "😀"]}


async def test_an_activity_of_another_channel_is_401(site: Site) -> None:
    assert (await site.post(site.activity(channelId="directline")))[0] == 401
    assert site.receives.got == []


async def test_nothing_is_read_of_a_body_that_nobody_signed(site: Site) -> None:
    read = 0

    async def body() -> AsyncGenerator[bytes]:
        nonlocal read
        for _ in range(10_000):
            read += 1
            yield b" " * 65_536

    headers = {
        "Authorization": "Bearer x.y.z",
        "Content-Type": "application/json",
        "Expect": "100-continue",
    }
    async with site.session.post(site.url, data=body(), headers=headers) as answer:
        assert answer.status == 401
    assert read < 100


async def test_without_keys_nothing_can_be_said_and_it_comes_again(site: Site) -> None:
    site.teams.faults.next("keys", Fails(500), times=9)
    assert (await site.post())[0] == 503
    assert (await site.post(headers={"Authorization": "Bearer x.y.z"}))[0] == 401
    assert site.receives.got == []


@pytest.mark.parametrize(
    ("allowed", "status"), [("", 201), ("{mine}", 201), ("another", 403), ("another {mine}", 201)]
)
async def test_tenants_that_are_served(teams: TeamsDouble, world: World, allowed: str, status: int) -> None:
    listed = frozenset(allowed.format(mine=world.tenant).split())
    async with opened(teams, world, settings_for(teams, allowed_tenants=listed)) as site:
        assert (await site.post())[0] == status
        capital = site.activity(channelData={"tenant": {"id": world.tenant.upper()}})
        assert (await site.post(capital))[0] == status
        assert len(site.receives.got) == (2 if status == 201 else 0)
        if listed:
            nowhere = site.activity(channelData={}, conversation={"id": world.direct})
            assert (await site.post(nowhere))[0] == 400


async def test_without_credentials_this_machine_is_believed(teams: TeamsDouble, world: World) -> None:
    async with opened(teams, world, TeamsSettings()) as site:
        async with site.session.post(site.url, json=site.activity()) as answer:
            assert answer.status == 201
        assert len(site.receives.got) == 1


async def test_without_credentials_nobody_else_is_believed(
    teams: TeamsDouble, world: World, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("adapters.teams.endpoint.is_local", lambda _remote: False)
    async with opened(teams, world, TeamsSettings()) as site:
        assert (await site.post())[0] == 401
        assert site.receives.got == []


async def test_before_the_adapter_runs_nothing_is_let_in(
    redis: Redis, teams: TeamsDouble, world: World, tmp_path: Any
) -> None:
    async with open_site(redis, teams, tmp_path) as running:
        activity = teams.payloads.activity(
            "message", teams.world.conversations[world.direct], teams.world.people[world.ann]
        )
        running.adapter._close()  # pyright: ignore[reportPrivateUsage]
        status, _ = await teams.outbox.post(activity, teams.authorization(activity))
        assert status == 503
