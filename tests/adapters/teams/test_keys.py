"""The Bot Connector's keys: fetched rarely, by nobody's request alone, and kept when they can't be had."""

from __future__ import annotations

import asyncio
import json
import time
from collections.abc import AsyncGenerator
from dataclasses import dataclass, field
from typing import Any

import pytest
from aiohttp import ClientSession, web
from aiohttp.test_utils import TestServer
from hypothesis import given, settings
from hypothesis import strategies as st
from jwt.algorithms import RSAAlgorithm
from jwt.utils import base64url_encode

from adapters.teams.auth import ASK_AGAIN, FRESH, TRY_AGAIN, Authenticator, Keys, KeysUntold, Unauthorized
from tests.doubles.teams.keys import ISSUER, private_key

APP = "11111111-2222-4333-8444-555555555555"
URL = "https://smba.example/emea/"


@dataclass
class Site:
    """Microsoft's two documents. `broken` replaces one of them."""

    keys: Keys = field(init=False)
    named: dict[str, int] = field(default_factory=lambda: {"a": 1})
    broken: dict[str, Any] = field(default_factory=dict[str, Any])
    gate: asyncio.Event = field(default_factory=asyncio.Event)
    fetches: int = 0
    now: float = 0.0

    async def serve(self, request: web.Request) -> web.StreamResponse:
        self.fetches += request.path == "/openid"
        await self.gate.wait()
        if request.path in self.broken:
            return web.json_response(self.broken[request.path])
        if request.path == "/openid":
            return web.json_response({"jwks_uri": str(request.url.with_path("/keys"))})
        return web.json_response({"keys": [jwk(kid, number) for kid, number in self.named.items()]})


def jwk(kid: str, number: int) -> dict[str, Any]:
    public = json.loads(RSAAlgorithm.to_jwk(private_key(number).public_key()))
    return {**public, "kid": kid, "endorsements": ["msteams"]}


@pytest.fixture
async def site() -> AsyncGenerator[Site]:
    site = Site()
    site.gate.set()
    server = TestServer(web.Application())
    server.app.router.add_get("/{rest:.*}", site.serve)
    async with server, ClientSession() as session:
        site.keys = Keys(session, str(server.make_url("/openid")), now=lambda: site.now)
        yield site
        site.gate.set()
        await site.keys.close()


async def until_asked(site: Site, times: int) -> None:
    async with asyncio.timeout(5):
        while site.fetches < times:  # noqa: ASYNC110
            await asyncio.sleep(0)


async def settled(site: Site) -> None:
    async with asyncio.timeout(5):
        while site.keys._asking is not None:  # noqa: ASYNC110  # pyright: ignore[reportPrivateUsage]
            await asyncio.sleep(0)


async def test_keys_are_fetched_once_for_all_that_wait(site: Site) -> None:
    assert all(await asyncio.gather(*[site.keys.key("a") for _ in range(50)]))
    assert site.fetches == 1


async def test_keys_are_asked_for_anew_in_time_and_nobody_waits_for_that(site: Site) -> None:
    await site.keys.warm()
    site.now = FRESH / 2 + 1
    site.gate.clear()
    assert await site.keys.key("a")
    await until_asked(site, 2)
    assert await site.keys.key("a")
    site.named = {"a": 1, "b": 2}
    site.gate.set()
    await settled(site)
    assert site.keys.known == 2


async def test_a_key_that_is_withdrawn_is_not_taken_for_longer_than_a_day(site: Site) -> None:
    await site.keys.warm()
    site.named = {"b": 2}
    site.now = FRESH + 1
    assert await site.keys.key("a") is None
    assert await site.keys.key("b")


async def test_keys_that_can_not_be_had_any_more_stay(site: Site) -> None:
    await site.keys.warm()
    site.broken = {"/openid": {}}
    for day in range(1, 5):
        site.now = day * FRESH + 1
        assert await site.keys.key("a")
    assert site.fetches == 5


async def test_made_up_ids_are_asked_for_once_a_minute_only(site: Site) -> None:
    await site.keys.warm()
    site.now = ASK_AGAIN + 1
    for number in range(100):
        assert await site.keys.key(f"made-up-{number}") is None
    assert site.fetches == 2


@pytest.mark.parametrize(
    "broken",
    [
        {"/openid": {}}, {"/openid": []}, {"/openid": "x"}, {"/openid": None}, {"/openid": {"jwks_uri": 7}},
        {"/openid": {"jwks_uri": "http://127.0.0.1:9/"}}, {"/keys": {}}, {"/keys": {"keys": None}},
        {"/keys": {"keys": 7}}, {"/keys": {"keys": []}}, {"/keys": {"keys": ["x", None, {}]}},
        {"/keys": {"keys": [{"kty": "RSA", "kid": "a"}, {"kty": "RSA", "kid": "a", "n": "!", "e": "?"}]}},
        {"/keys": {"keys": [{"kty": "oct", "kid": "a", "k": "c2VjcmV0"}]}}, {"/keys": {"keys": "abc"}},
    ],
    ids=str,
)  # fmt: skip
async def test_documents_that_are_none_are_no_keys_and_asked_for_again_soon(
    site: Site, broken: dict[str, Any]
) -> None:
    site.broken = broken
    for _ in range(20):
        with pytest.raises(KeysUntold):
            await site.keys.key("a")
    assert site.fetches == 1
    site.broken, site.now = {}, TRY_AGAIN + 1
    assert await site.keys.key("a")


async def test_one_key_of_an_unknown_kind_spoils_no_other(site: Site) -> None:
    odd = [{"kty": "EC", "kid": "b"}, {"kty": "RSA", "kid": "c", "n": ""}, 7, jwk("a", 1)]
    site.broken = {"/keys": {"keys": odd}}
    assert await site.keys.key("a")
    assert site.keys.known == 1


async def test_a_request_that_goes_away_breaks_no_fetch_off(site: Site) -> None:
    site.gate.clear()
    first = asyncio.create_task(site.keys.key("a"))
    await until_asked(site, 1)
    first.cancel()
    second = asyncio.create_task(site.keys.key("a"))
    site.gate.set()
    assert await second
    assert site.fetches == 1


async def test_a_request_does_not_wait_for_ever(site: Site, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("adapters.teams.auth._PATIENCE", 0.0)
    site.gate.clear()
    with pytest.raises(KeysUntold):
        await site.keys.key("a")
    site.gate.set()
    await settled(site)
    assert await site.keys.key("a")


# -- tokens --------------------------------------------------------------------------------------------


def signed(**other: Any) -> str:
    """The usual claims and others; numbers as times count from now, None leaves a claim out.

    By hand, since PyJWT does not write all that somebody could send."""
    claims: dict[str, Any] = {"iss": ISSUER, "aud": APP, "exp": 600, "nbf": -60, "serviceurl": URL} | other
    for name in ("exp", "nbf", "iat"):
        if isinstance(claims.get(name), int):
            claims[name] += int(time.time())
    body = {name: value for name, value in claims.items() if value is not None}
    parts = [json.dumps(part).encode() for part in ({"alg": "RS256", "kid": "a"}, body)]
    data = b".".join(map(base64url_encode, parts))
    mark = RSAAlgorithm(RSAAlgorithm.SHA256).sign(data, private_key(1))
    return f"Bearer {data.decode()}.{base64url_encode(mark).decode()}"


async def let_in(site: Site, header: str | None, **activity: Any) -> bool:
    authenticator = Authenticator(site.keys, APP)
    try:
        found = await authenticator.claims(header)
        authenticator.check(found, {"channelId": "msteams", "serviceUrl": URL, **activity})
    except Unauthorized:
        return False
    return True


@pytest.mark.parametrize("other", [{}, {"exp": -200}, {"nbf": 200}, {"nbf": None}, {"iat": 200}], ids=str)
async def test_clocks_may_differ_by_five_minutes(site: Site, other: dict[str, Any]) -> None:
    assert await let_in(site, signed(**other))


@pytest.mark.parametrize(
    "other",
    [
        {"exp": -400}, {"exp": None}, {"exp": "never"}, {"exp": 1e999}, {"exp": []}, {"nbf": 400},
        {"nbf": "now"}, {"iat": "then"}, {"iss": None}, {"iss": f"{ISSUER}/"}, {"iss": [ISSUER]},
        {"aud": None}, {"aud": APP[:-1]}, {"aud": {}}, {"aud": 7}, {"aud": [7]},
        {"serviceurl": None}, {"serviceurl": URL.rstrip("/")}, {"serviceurl": [URL]}, {"serviceurl": ""},
    ],
    ids=str,
)  # fmt: skip
async def test_claims_that_do_not_hold_let_nobody_in(site: Site, other: dict[str, Any]) -> None:
    assert not await let_in(site, signed(**other))


@pytest.mark.parametrize(
    "place", [{"channelId": "directline"}, {"channelId": "webchat"}, {"channelId": None}]
)
async def test_other_channels_of_the_same_bot_are_not_teams(site: Site, place: dict[str, Any]) -> None:
    """Whoever writes to them can claim to be anybody in any tenant."""
    assert await let_in(site, signed())
    assert not await let_in(site, signed(), **place)


async def test_a_key_that_is_not_for_teams_lets_nobody_in(site: Site) -> None:
    site.broken = {"/keys": {"keys": [{**jwk("a", 1), "endorsements": ["skype"]}]}}
    assert not await let_in(site, signed())


HEADERS = st.one_of(
    st.text(max_size=80),
    st.builds("Bearer {}".format, st.text(st.characters(), max_size=120)),
    st.builds(
        lambda head, rest: f"Bearer {base64url_encode(head).decode()}.{rest}",
        st.one_of(
            st.binary(max_size=40),
            st.sampled_from(
                [b"[" * 9000, b'{"kid":' + b"9" * 9000 + b"}", b'{"alg":"none","kid":"a"}', b"null"]
            ),
            st.builds(
                lambda kid, alg: json.dumps({"kid": kid, "alg": alg}).encode(),
                st.one_of(st.none(), st.integers(), st.text(), st.just("a"), st.lists(st.text())),
                st.one_of(st.none(), st.sampled_from(["RS256", "HS256", "none", "ES256", "rs256", "X"])),
            ),
        ),
        st.one_of(st.text(max_size=40), st.sampled_from(["e30.", "e30.e30", ".", "e30.\udc80", "e30"])),
    ),
    st.builds(lambda junk: f"Bearer {junk}\udc80\udcff", st.text(max_size=5)),
)


@given(header=HEADERS)
@settings(max_examples=150, deadline=None)
def test_garbage_is_unauthorized_and_nothing_else(header: str) -> None:
    async def run() -> None:
        async with ClientSession() as session:
            keys = Keys(session)
            keys._keys = _known()  # pyright: ignore[reportPrivateUsage]
            keys._told = keys._asked = time.monotonic()  # pyright: ignore[reportPrivateUsage]
            with pytest.raises(Unauthorized):
                await Authenticator(keys, APP).claims(header)

    asyncio.run(run())


def _known() -> dict[str, Any]:
    from adapters.teams.auth import _read  # pyright: ignore[reportPrivateUsage]

    return _read([jwk("a", 1)])
