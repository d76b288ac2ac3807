"""A workspace installs the app in a browser."""

from __future__ import annotations

from collections.abc import AsyncGenerator
from pathlib import Path
from typing import Any
from urllib.parse import parse_qs, urlsplit

import pytest
from aiohttp import ClientSession, DummyCookieJar, web
from aiohttp.test_utils import TestClient, TestServer
from redis.asyncio import Redis

from adapters.slack.context import NotInstalled
from adapters.slack.encryption import Encryption
from adapters.slack.installations import Installations
from adapters.slack.manifest import INSTALL, REDIRECT, SCOPES
from adapters.slack.oauth import oauth_routes
from adapters.slack.settings import SlackSettings
from adapters.slack.states import States
from bot.notes import NoteStore
from tests.adapters.slack.site import World, open_site
from tests.doubles.slack import Breaks, Drops, Fails, SlackDouble
from tests.doubles.slack.oauth import consent

KEY = "MDEyMzQ1Njc4OTAxMjM0NTY3ODkwMTIzNDU2Nzg5MDE="
SITE = "https://kb.example.com"

Client = TestClient[web.Request, web.Application]


@pytest.fixture
def store(redis: Redis) -> Installations:
    return Installations(NoteStore(redis), Encryption([KEY]))


@pytest.fixture
async def browser(
    slack: SlackDouble, world: World, redis: Redis, store: Installations
) -> AsyncGenerator[Client]:
    settings = SlackSettings(
        client_id=slack.app.client_id,
        client_secret=slack.app.client_secret,
        public_url=SITE,
        api_url=slack.api_url,
        timeout=5.0,
    )
    application = web.Application()
    application.add_routes(oauth_routes(store, States(NoteStore(redis), Encryption([KEY])), settings))
    async with TestClient(TestServer(application), cookie_jar=DummyCookieJar()) as client:
        yield client


async def start(browser: Client, query: str = "") -> tuple[dict[str, list[str]], str]:
    """What Slack is asked for, and the cookie."""
    async with browser.get(f"{INSTALL}{query}", allow_redirects=False) as answer:
        assert answer.status == 302
        to = urlsplit(answer.headers["Location"])
        assert (to.scheme, to.netloc, to.path) == ("https", "slack.com", "/oauth/v2/authorize")
        cookie = answer.headers["Set-Cookie"]
        assert {"Secure", "HttpOnly", "SameSite=Lax", "Path=/"} <= {
            part.strip() for part in cookie.split(";")
        }
        return parse_qs(to.query), cookie.split(";")[0]


async def back(browser: Client, cookie: str | None, **query: str) -> tuple[int, str]:
    headers = {"Cookie": cookie} if cookie else {}
    async with browser.get(REDIRECT, params=query, headers=headers, allow_redirects=False) as answer:
        assert answer.headers["Cache-Control"] == "no-store"
        assert answer.headers["Content-Security-Policy"].startswith("default-src 'none'")
        assert answer.headers["X-Content-Type-Options"] == "nosniff"
        assert answer.content_type == "text/html"
        return answer.status, await answer.text()


async def bot_of(store: Installations, team: str) -> Any:
    return await store.async_find_bot(enterprise_id=None, team_id=team)


async def test_a_team_installs_the_app(
    slack: SlackDouble, world: World, browser: Client, store: Installations
) -> None:
    slack.app.rotation = True
    asked, cookie = await start(browser)
    assert asked["scope"] == [",".join(SCOPES)]
    assert asked["redirect_uri"] == [f"{SITE}{REDIRECT}"]
    status, page = await back(browser, cookie, code=consent(slack, world.team.id), state=asked["state"][0])
    assert status == 200
    assert "Footnote is installed" in page
    assert f"app_redirect?app={slack.app.id}" in page
    bot = await bot_of(store, world.team.id)
    assert slack.world.tokens[bot.bot_token].team == world.team.id
    assert bot.bot_refresh_token
    assert bot.bot_user_id == world.team.bot_user
    assert bot.bot_id


async def test_the_way_back_works_once(
    slack: SlackDouble, world: World, browser: Client, store: Installations
) -> None:
    asked, cookie = await start(browser)
    state = asked["state"][0]
    assert (await back(browser, cookie, code=consent(slack, world.team.id), state=state))[0] == 200
    assert (await back(browser, cookie, code=consent(slack, world.team.id), state=state))[0] == 401
    assert len(slack.calls_of("oauth.v2.access")) == 1


async def test_another_browser_cannot_finish_it(
    slack: SlackDouble, world: World, browser: Client, store: Installations
) -> None:
    asked, _ = await start(browser)
    _, other = await start(browser)
    for cookie in (None, other, "slack-app-oauth-state="):
        code = consent(slack, world.team.id)
        status, page = await back(browser, cookie, code=code, state=asked["state"][0])
        assert status == 400
        assert "another browser" in page
    assert await bot_of(store, world.team.id) is None


async def test_a_state_that_we_never_gave(slack: SlackDouble, world: World, browser: Client) -> None:
    code = consent(slack, world.team.id)
    status, _ = await back(browser, "slack-app-oauth-state=made-up", code=code, state="made-up")
    assert status == 401
    assert slack.calls_of("oauth.v2.access") == []


@pytest.mark.parametrize(
    ("query", "told"),
    [
        ({"error": "access_denied"}, "declined"),
        ({"error": "<script>alert(1)</script>"}, "refused"),
        ({}, "incomplete"),
        ({"code": "<b>none</b>"}, "did not accept"),
    ],
)
async def test_a_failure_is_said_plainly_and_repeats_nothing(
    browser: Client, query: dict[str, str], told: str
) -> None:
    asked, cookie = await start(browser)
    status, page = await back(browser, cookie, state=asked["state"][0], **query)
    assert status < 500
    assert told in page
    assert "was not installed" in page
    assert not any(text in page for text in ("<script", "<b>", "access_denied"))


@pytest.mark.parametrize("fault", [Breaks(), Drops(), Fails("internal_error")])
@pytest.mark.parametrize("method", ["oauth.v2.access", "auth.test"])
async def test_slack_fails_on_the_way(
    slack: SlackDouble, world: World, browser: Client, store: Installations, fault: Any, method: str,
    monkeypatch: pytest.MonkeyPatch,
) -> None:  # fmt: skip
    monkeypatch.setattr("adapters.slack.clients.READ_RETRIES", 0)
    asked, cookie = await start(browser)
    slack.faults.next(method, fault, times=5)
    code = consent(slack, world.team.id)
    status, page = await back(browser, cookie, code=code, state=asked["state"][0])
    assert status in (401, 502)
    assert "Start again" in page
    assert await bot_of(store, world.team.id) is None


async def test_the_store_fails(
    slack: SlackDouble, world: World, browser: Client, store: Installations, monkeypatch: pytest.MonkeyPatch
) -> None:
    async def broken(_: Any) -> None:
        raise RuntimeError("a secret detail")

    monkeypatch.setattr(store, "async_save", broken)
    asked, cookie = await start(browser)
    status, page = await back(browser, cookie, code=consent(slack, world.team.id), state=asked["state"][0])
    assert status == 500
    assert "secret detail" not in page


async def test_a_team_may_be_chosen_beforehand_and_nothing_else(browser: Client) -> None:
    asked, _ = await start(browser, "?team=T0001")
    assert asked["team"] == ["T0001"]
    asked, _ = await start(browser, "?team=T1%26redirect_uri%3Dhttps%3A%2F%2Fevil.example&scope=admin")
    assert "team" not in asked
    assert asked["redirect_uri"] == [f"{SITE}{REDIRECT}"]
    assert asked["scope"] == [",".join(SCOPES)]


async def test_only_get_is_answered(browser: Client) -> None:
    for path in (INSTALL, REDIRECT):
        for method in ("POST", "HEAD"):
            async with browser.request(method, path) as answer:
                assert answer.status == 405


async def test_from_installing_to_an_answer_to_leaving(
    slack: SlackDouble, world: World, redis: Redis, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("tests.doubles.slack.oauth.LIFETIME", 3600)  # so each token is soon to be renewed
    slack.app.rotation = True
    slack.world.tokens.clear()
    given: dict[str, Any] = {
        "bot_token": None,
        "client_id": slack.app.client_id,
        "client_secret": slack.app.client_secret,
        "token_keys": (KEY,),
        "public_url": SITE,
    }
    async with (
        open_site(redis, slack, tmp_path, **given) as site,
        ClientSession(site.url.removesuffix("/slack/events"), cookie_jar=DummyCookieJar()) as browser,
    ):
        async with browser.get(INSTALL, allow_redirects=False) as answer:
            state = parse_qs(urlsplit(answer.headers["Location"]).query)["state"][0]
            cookie = answer.headers["Set-Cookie"].split(";")[0]
        query = {"code": consent(slack, world.team.id), "state": state}
        async with browser.get(REDIRECT, params=query, headers={"Cookie": cookie}) as answer:
            assert answer.status == 200

        ts = await site.ask(world.general, world.ann, f"{world.mention} How much leave do I have?")
        assert len(site.replies(world.general, ts)) == 1
        assert len(slack.used_refresh_tokens) > 0

        installed = await site.adapter.slack.clients.of(world.team.id)
        credentials = {"client_id": slack.app.client_id, "client_secret": slack.app.client_secret}
        await installed.client.apps_uninstall(**credentials)
        await site.settle()
        with pytest.raises(NotInstalled):
            await site.adapter.slack.clients.of(world.team.id)
        assert await redis.keys("*slack-installation*") == []
