"""One call over HTTP: what the server is told, and a name for whatever it answers."""

from __future__ import annotations

import asyncio

import pytest
from aiohttp import ClientSession, web
from aiohttp.test_utils import TestServer
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from adapters.teams.connector import BotConnector
from adapters.teams.credentials import Credentials
from adapters.teams.errors import NoEffect, NoPlace, RateLimited, TeamsError, Unclear
from adapters.teams.reference import Reference
from adapters.teams.rest import Rest
from tests.doubles.teams.errors import writes_blocked

TEXT = {"type": "message", "text": "Every 90 days."}


class Scripted:
    """Answers everything with one answer."""

    def __init__(self) -> None:
        self.status, self.body, self.headers = 200, b"{}", dict[str, str]()
        self.asked: list[tuple[str, str | None]] = []

    async def serve(self, request: web.BaseRequest) -> web.StreamResponse:
        self.asked.append((request.raw_path, request.headers.get("Authorization")))
        return web.Response(status=self.status, body=self.body, headers=self.headers)


class Given(Credentials):
    def __init__(self) -> None:
        self.asked = 0

    async def token(self, audience: str = "", *, tenant: str | None = None, refused: str = "") -> str:
        self.asked += 1
        return "secret"


PLACE = Reference(
    service_url="", tenant="t-1", conversation="19:a/b?c#d%2F@thread.v2", kind="group", bot="28:app"
)
HEADERS = st.dictionaries(
    st.sampled_from(["Retry-After", "Content-Type", "Location"]),
    st.sampled_from(
        ["0", "-1", "nan", "inf", "1e9", "٣", "", "x", "application/json", "http://127.0.0.1:9/"]
    ),
    max_size=3,
)
ODD = [
    b"", b"null", b"[]", b"{", b'"x"', b"\xff\xfe", b'{"id": 7}', b'{"id": null}', b'{"error": null}',
    b'{"error": [1]}', b'{"error": {"code": {"a": 1}, "message": 9}}',
    b'{"errorCode": 209, "message": "[]"}',
    b'{"errorCode": {}, "message": "{"}', b'{"errorCode": 1, "message": "{\\"subCode\\": null}"}',
    b'{"error": {"code": "BadGateway"}}', b"[" * 100_000,
]  # fmt: skip
BODIES = st.one_of(st.sampled_from(ODD), st.binary(max_size=40))


@pytest.fixture
def scripted(monkeypatch: pytest.MonkeyPatch) -> Scripted:
    monkeypatch.setattr("adapters.teams.rest.DEFAULT_WAIT", 0.0)
    return Scripted()


async def call(scripted: Scripted, *, url: str | None = None) -> str | Exception:
    """What sending comes to."""
    server = TestServer(web.Application())
    server.app.router.add_route("*", "/{rest:.*}", scripted.serve)
    async with server, ClientSession() as session:
        place = replace_url(PLACE, url or str(server.make_url("/smba/")))
        connector = BotConnector(Rest(session, Given(), 5.0), "app")
        try:
            return await connector.send(place, TEXT)
        except (TeamsError, Unclear) as error:
            return error


def replace_url(place: Reference, url: str) -> Reference:
    return place.model_copy(update={"service_url": url})


@given(status=st.integers(200, 599), body=BODIES, headers=HEADERS)
@settings(max_examples=60, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
def test_whatever_is_answered_has_a_name(
    scripted: Scripted, status: int, body: bytes, headers: dict[str, str]
) -> None:
    scripted.status, scripted.body, scripted.headers = status, body, headers
    found = asyncio.run(call(scripted))
    assert isinstance(found, str) == (status < 300)
    if 300 <= status < 500 and status not in (412, 429):
        assert isinstance(found, TeamsError)
    if isinstance(found, RateLimited):
        assert 0 <= found.seconds <= 3600


async def test_names_of_places_are_told_as_one_part_of_the_path(scripted: Scripted) -> None:
    await call(scripted)
    [(path, token)] = scripted.asked
    assert path == "/smba/v3/conversations/19%3Aa%2Fb%3Fc%23d%252F%40thread.v2/activities"
    assert token == "Bearer secret"


async def test_a_redirect_is_not_followed_with_the_token(scripted: Scripted) -> None:
    scripted.status, scripted.headers = 307, {"Location": "/elsewhere"}
    assert isinstance(await call(scripted), TeamsError)
    assert len(scripted.asked) == 1


@pytest.mark.parametrize(
    "url", ["http://smba.example/", "http://127.0.0.1.example/", "http://10.0.0.1/", "ftp://a/", "", "//h/"]
)
async def test_a_token_goes_over_https_only(scripted: Scripted, url: str) -> None:
    found = await call(scripted, url=url or "x")
    assert isinstance(found, TeamsError)
    assert found.code == "not https"
    assert scripted.asked == []


async def test_writing_that_is_blocked_is_told_within_the_message(scripted: Scripted) -> None:
    refusal = writes_blocked()
    scripted.status, scripted.body = 403, web.json_response(refusal.body).body  # pyright: ignore[reportAttributeAccessIssue]
    assert isinstance(found := await call(scripted), NoPlace)
    assert found.code == "MessageWritesBlocked"


async def test_nobody_there_is_no_effect(scripted: Scripted) -> None:
    server = TestServer(web.Application())
    await server.start_server()
    url = str(server.make_url("/"))
    await server.close()
    assert isinstance(found := await call(scripted, url=url), NoEffect)
    assert not isinstance(found, RateLimited)
