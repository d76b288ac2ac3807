"""Microsoft Graph: what is asked, and how often, and what becomes of a refusal."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Awaitable, Callable
from dataclasses import dataclass, field, replace
from typing import Any

import pytest
from aiohttp import ClientSession, web
from aiohttp.test_utils import TestServer

from adapters.teams.credentials import Credentials
from adapters.teams.errors import NoGraph
from adapters.teams.graph import FRESH, REFUSED, GraphClient
from adapters.teams.reference import Reference
from adapters.teams.settings import TeamsSettings

Serve = Callable[[web.Request], Awaitable[web.StreamResponse]]
ROOT = "/v1.0/teams/g-1/channels/19:c@thread.tacv2/messages/100"
CHAT = "/v1.0/chats/19:chat@thread.v2/messages"
MEMBERS = "/v1.0/teams/g-1/members"
THREAD = Reference(
    service_url="https://smba.example",
    tenant="t-1",
    conversation="19:c@thread.tacv2;messageid=100",
    kind="public_channel",
    bot="28:app-1",
    team_group="g-1",
)
GROUP = Reference(
    service_url="https://smba.example",
    tenant="t-1",
    conversation="19:chat@thread.v2",
    kind="group",
    bot="28:app-1",
)


@dataclass
class Site:
    """Entra ID and Graph in one."""

    answers: dict[str, Serve] = field(default_factory=dict[str, Serve])
    #: Path with query, and token, of what was asked of Graph.
    asked: list[tuple[str, str]] = field(default_factory=list[tuple[str, str]])
    tokens: int = 0
    now: float = 0.0
    url: str = ""
    graph: GraphClient = field(init=False)

    async def serve(self, request: web.Request) -> web.StreamResponse:
        if request.path.endswith("/oauth2/v2.0/token"):
            self.tokens += 1
            form = await request.post()
            if form["client_secret"] != "secret":
                return web.json_response({"error": "invalid_client"}, status=401)
            assert form["scope"] == "https://graph.microsoft.com/.default"
            token = f"{request.path.split('/')[1]}-{self.tokens}"
            return web.json_response({"access_token": token, "expires_in": 3600})
        self.asked.append((request.path_qs, request.headers.get("Authorization", "")))
        answer = self.answers.get(request.path)
        return web.json_response({}, status=404) if answer is None else await answer(request)

    def tells(self, path: str, *values: Any, **more: Any) -> None:
        self.answers[path] = lambda _: _json({"value": list(values), **more})

    def fails(self, path: str, *statuses: int, then: Any = None, **headers: str) -> None:
        """One after the other, then tells `then`."""
        left = list(statuses)

        async def answer(_: web.Request) -> web.StreamResponse:
            if left:
                return web.json_response({}, status=left.pop(0), headers=headers)
            return web.json_response(then)

        self.answers[path] = answer


async def _json(body: Any) -> web.StreamResponse:
    return web.json_response(body)


@pytest.fixture
async def site(monkeypatch: pytest.MonkeyPatch) -> AsyncIterator[Site]:
    monkeypatch.setattr("adapters.teams.graph._PAUSES", (0.0, 0.0))
    site = Site()
    app = web.Application()
    app.router.add_route("*", "/{path:.*}", site.serve)
    async with TestServer(app) as server, ClientSession() as session:
        site.url = str(server.make_url("")).rstrip("/")
        settings = TeamsSettings(
            app_id="app-1", app_password="secret", login_url=site.url, graph_url=f"{site.url}/v1.0"
        )
        site.graph = GraphClient(settings, session, Credentials(settings, session), now=lambda: site.now)
        yield site


def ids(messages: list[dict[str, Any]]) -> list[str]:
    return [message["id"] for message in messages]


async def test_a_thread_is_its_root_and_its_replies_in_order(site: Site) -> None:
    site.answers[ROOT] = lambda _: _json({"id": "100"})
    site.tells(f"{ROOT}/replies", {"id": "130"}, {"id": "99999"}, {"id": "120"}, "odd")
    assert ids(await site.graph.replies(THREAD)) == ["100", "120", "130", "99999"]
    assert {token for _, token in site.asked} == {"Bearer t-1-1"}


async def test_a_chat_is_asked_for_by_when_things_were_said(site: Site) -> None:
    site.tells(CHAT, {"id": "3"}, {"id": "2"})
    assert ids(await site.graph.chat(GROUP, limit=2)) == ["2", "3"]
    # As typed; without it Graph sorts by when somebody edited or liked a message.
    assert site.asked[0][0].endswith("$top=2&$orderby=createdDateTime%20desc")


async def test_pages_are_followed_up_to_the_limit_with_the_mark_as_it_stands(site: Site) -> None:
    page = 0

    async def answer(request: web.Request) -> web.StreamResponse:
        nonlocal page
        page += 1
        following = f"{site.url}{CHAT}?$skiptoken=a%2Bb%3D{page}"
        return web.json_response({"value": [{"id": str(900 - page)}], "@odata.nextLink": following})

    site.answers[CHAT] = answer
    assert ids(await site.graph.chat(GROUP, limit=3)) == ["897", "898", "899"]
    assert [path for path, _ in site.asked][1:] == [f"{CHAT}?$skiptoken=a%2Bb%3D{n}" for n in (1, 2)]


async def test_empty_pages_without_end_are_left(site: Site) -> None:
    site.tells(CHAT, **{"@odata.nextLink": f"{site.url}{CHAT}?again"})
    assert await site.graph.chat(GROUP) == []
    assert len(site.asked) == 40


@pytest.mark.parametrize("link", ["http://elsewhere.example/v1.0/x", "/v1.0/x", 7, "", None])
async def test_a_next_page_elsewhere_gets_no_token(site: Site, link: Any) -> None:
    site.tells(CHAT, {"id": "1"}, **{"@odata.nextLink": link})
    assert ids(await site.graph.chat(GROUP)) == ["1"]
    assert len(site.asked) == 1


async def test_a_next_page_at_a_host_that_only_begins_alike_gets_no_token(site: Site) -> None:
    site.tells(CHAT, {"id": "1"}, **{"@odata.nextLink": f"{site.url}.example/v1.0/x"})
    assert ids(await site.graph.chat(GROUP)) == ["1"]


async def test_a_redirect_is_not_followed(site: Site) -> None:
    site.fails(CHAT, 302, Location="http://127.0.0.1:1/")
    with pytest.raises(NoGraph, match="302"):
        await site.graph.chat(GROUP)


@pytest.mark.parametrize("status", [429, 500, 502, 503, 504])
async def test_a_failure_is_tried_again(site: Site, status: int) -> None:
    site.fails(CHAT, status, status, then={"value": [{"id": "1"}]}, **{"Retry-After": "0"})
    assert ids(await site.graph.chat(GROUP)) == ["1"]


async def test_a_long_wait_is_not_waited_for(site: Site) -> None:
    site.fails(CHAT, 429, then={"value": []}, **{"Retry-After": "60"})
    with pytest.raises(NoGraph, match="429"):
        await site.graph.chat(GROUP)
    assert len(site.asked) == 1


async def test_a_token_that_holds_no_more_is_renewed_once(site: Site) -> None:
    site.fails(CHAT, 401, then={"value": [{"id": "1"}]})
    assert ids(await site.graph.chat(GROUP)) == ["1"]
    assert [token for _, token in site.asked] == ["Bearer t-1-1", "Bearer t-1-2"]


@pytest.mark.parametrize(
    ("statuses", "seconds"), [((403,), REFUSED), ((401, 401), REFUSED), ((503,) * 3, FRESH)]
)
async def test_a_refusal_is_remembered_for_a_while(
    site: Site, statuses: tuple[int, ...], seconds: float
) -> None:
    site.fails(CHAT, *statuses, then={"value": [{"id": "1"}]})
    for _ in range(3):
        with pytest.raises(NoGraph):
            await site.graph.chat(GROUP)
    assert len(site.asked) == len(statuses)
    site.now = seconds + 1
    assert ids(await site.graph.chat(GROUP)) == ["1"]


async def test_what_is_too_slow_is_waited_for_once(site: Site) -> None:
    begun, over = asyncio.Event(), asyncio.Event()

    async def answer(_: web.Request) -> web.StreamResponse:
        begun.set()
        await over.wait()
        return web.json_response({"value": []})

    site.answers[CHAT] = answer
    waiting = asyncio.create_task(site.graph.chat(GROUP))
    await begun.wait()
    waiting.cancel()
    await asyncio.wait([waiting])
    with pytest.raises(NoGraph, match="lately"):
        await site.graph.chat(GROUP)
    over.set()
    site.now = FRESH + 1
    assert await site.graph.chat(GROUP) == []


async def test_refusals_are_told_apart(site: Site) -> None:
    """By team or chat, and by what is consented to apart."""
    site.fails(MEMBERS, 403)
    with pytest.raises(NoGraph):
        await site.graph.owners(THREAD)
    site.answers[ROOT] = lambda _: _json({"id": "100"})
    site.tells(f"{ROOT}/replies")
    site.tells(CHAT)
    assert ids(await site.graph.replies(THREAD)) == ["100"]
    assert await site.graph.chat(GROUP) == []


async def test_a_thread_that_is_gone_does_not_close_its_team(site: Site) -> None:
    with pytest.raises(NoGraph, match="404"):
        await site.graph.replies(THREAD.in_thread("99"))
    site.answers[ROOT] = lambda _: _json({"id": "100"})
    site.tells(f"{ROOT}/replies")
    assert ids(await site.graph.replies(THREAD)) == ["100"]


async def test_owners_are_kept_for_a_minute(site: Site) -> None:
    site.tells(
        MEMBERS,
        {"userId": "aad-ann", "roles": ["owner"]},
        {"userId": "aad-ben", "roles": []},
        {"userId": None, "roles": ["owner"]},
        {"userId": "aad-cem", "roles": 7},
    )
    for _ in range(3):
        assert await site.graph.owners(THREAD) == {"aad-ann"}
    assert len(site.asked) == 1
    site.now = FRESH + 1
    site.tells(MEMBERS)
    assert await site.graph.owners(THREAD) == set()


async def test_without_a_group_nothing_is_asked(site: Site) -> None:
    unknown = THREAD.model_copy(update={"team_group": None})
    for ask in (site.graph.owners, site.graph.replies):
        with pytest.raises(NoGraph):
            await ask(unknown)
    assert site.asked == []


@pytest.mark.parametrize("url", [None, "", "http://graph.example/v1.0"])
async def test_where_it_is_not_set_up_nothing_is_asked(site: Site, url: str | None) -> None:
    settings = TeamsSettings(app_id="app-1", app_password="secret", login_url=site.url, graph_url=url)
    async with ClientSession() as session:
        graph = GraphClient(settings, session, Credentials(settings, session))
        with pytest.raises(NoGraph, match=r"not set up|not https"):
            await graph.chat(GROUP)
    assert site.tokens == 0


async def test_without_a_token_nothing_is_asked(site: Site) -> None:
    async with ClientSession() as session:
        refused = TeamsSettings(
            app_id="app-1", app_password="x", login_url=site.url, graph_url=f"{site.url}/v1.0"
        )
        nobody = replace(refused, app_id="")
        for settings in (refused, nobody):
            graph = GraphClient(settings, session, Credentials(settings, session))
            with pytest.raises(NoGraph, match=r"invalid_client|credentials"):
                await graph.chat(GROUP)
    assert site.asked == []


@pytest.mark.parametrize("body", [[], "text", {"value": None}, {"value": {}}, {"value": [1, None]}, {}])
async def test_odd_answers_are_read_as_nothing(site: Site, body: Any) -> None:
    site.answers[CHAT] = lambda _: _json(body)
    assert await site.graph.chat(GROUP) == []


async def test_an_answer_that_is_no_json_is_none(site: Site) -> None:
    async def answer(_: web.Request) -> web.StreamResponse:
        return web.Response(text="<html>")

    site.answers[CHAT] = answer
    with pytest.raises(NoGraph):
        await site.graph.chat(GROUP)


async def test_an_address_and_its_headers(site: Site) -> None:
    address, headers = await site.graph.content(THREAD, "/shares/u!x/driveItem/content")
    assert address == f"{site.url}/v1.0/shares/u!x/driveItem/content"
    assert headers == {"Authorization": "Bearer t-1-1"}
