"""How clients try again, and which token they carry."""

from __future__ import annotations

import asyncio
from dataclasses import replace
from time import time
from types import SimpleNamespace
from typing import Any

import pytest
from redis.asyncio import Redis
from slack_sdk.errors import SlackApiError
from slack_sdk.oauth.installation_store import Bot

from adapters.slack.clients import InstalledClients, StaticClients, make_client
from adapters.slack.context import NotInstalled
from adapters.slack.encryption import Encryption
from adapters.slack.errors import code_of
from adapters.slack.installations import Installations
from adapters.slack.retries import LONGEST_WAIT
from adapters.slack.settings import SlackSettings
from bot.notes import NoteStore
from tests.doubles.slack import Breaks, Drops, Fails, Hangs, RateLimited, SlackDouble

KEY = "MDEyMzQ1Njc4OTAxMjM0NTY3ODkwMTIzNDU2Nzg5MDE="


@pytest.fixture
def waits(monkeypatch: pytest.MonkeyPatch) -> list[float]:
    """Seconds that were waited between tries; nobody really waits."""
    waited: list[float] = []

    async def note(seconds: float) -> None:
        waited.append(seconds)

    monkeypatch.setattr("adapters.slack.retries.asyncio", SimpleNamespace(sleep=note))
    return waited


def settings_of(slack: SlackDouble, **more: Any) -> SlackSettings:
    made = SlackSettings(
        bot_token=f"xoxb-{slack.world.first_team}",
        client_id=slack.app.client_id,
        client_secret=slack.app.client_secret,
        api_url=slack.api_url,
        timeout=5.0,
    )
    return replace(made, **more)


# -- trying again -------------------------------------------------------------------------------


async def test_a_rate_limit_is_waited_out_as_told(
    slack: SlackDouble, world: Any, waits: list[float]
) -> None:
    slack.faults.next("chat.postMessage", RateLimited(7), RateLimited(2))
    client = make_client(settings_of(slack).bot_token, settings_of(slack))
    await client.chat_postMessage(channel=world.general, text="hello")
    assert [int(seconds) for seconds in waits] == [7, 2]
    assert [call.error for call in slack.calls_of("chat.postMessage")] == ["ratelimited"] * 2 + [None]


async def test_a_rate_limit_beyond_patience_is_the_callers(
    slack: SlackDouble, world: Any, waits: list[float]
) -> None:
    slack.faults.next("chat.postMessage", RateLimited(int(LONGEST_WAIT) + 1))
    client = make_client(settings_of(slack).bot_token, settings_of(slack))
    with pytest.raises(SlackApiError) as refused:
        await client.chat_postMessage(channel=world.general, text="hello")
    assert code_of(refused.value) == "ratelimited"
    assert waits == []


async def test_rate_limits_end_after_some_tries(slack: SlackDouble, world: Any, waits: list[float]) -> None:
    slack.faults.next("chat.postMessage", RateLimited(1), times=50)
    client = make_client(settings_of(slack).bot_token, settings_of(slack))
    with pytest.raises(SlackApiError):
        await client.chat_postMessage(channel=world.general, text="hello")
    assert len(waits) == 3


@pytest.mark.parametrize("fault", [Breaks(effect=True), Breaks(status=500), Drops(effect=True)])
async def test_a_post_that_may_be_there_is_not_posted_again(
    slack: SlackDouble, world: Any, waits: list[float], fault: Any
) -> None:
    slack.faults.next("chat.postMessage", fault)
    client = make_client(settings_of(slack).bot_token, settings_of(slack))
    with pytest.raises(Exception):  # noqa: B017, PT011 -- of the SDK's or aiohttp's
        await client.chat_postMessage(channel=world.general, text="hello")
    assert len(slack.calls_of("chat.postMessage")) == 1


@pytest.mark.parametrize("fault", [Breaks(), Breaks(status=500), Drops()])
async def test_a_read_is_tried_again(
    slack: SlackDouble, world: Any, waits: list[float], fault: Any
) -> None:
    slack.faults.next("users.info", fault, fault)
    client = make_client(settings_of(slack).bot_token, settings_of(slack))
    found: Any = await client.users_info(user=world.ann)
    assert found["user"]["id"] == world.ann
    slack.faults.next("users.info", fault, times=20)
    with pytest.raises(Exception):  # noqa: B017, PT011
        await client.users_info(user=world.ann)
    assert len(waits) <= 4


async def test_a_call_without_an_answer_ends(slack: SlackDouble, world: Any) -> None:
    slack.faults.next("chat.postMessage", Hangs())
    client = make_client(settings_of(slack).bot_token, settings_of(slack, timeout=1.0))
    with pytest.raises(TimeoutError):
        await client.chat_postMessage(channel=world.general, text="hello")


async def test_an_unreachable_network_is_tried_again(waits: list[float]) -> None:
    settings = SlackSettings(api_url="http://127.0.0.1:1/api/", timeout=5.0)
    with pytest.raises(OSError, match="Cannot connect"):
        await make_client("xoxb-1", settings).chat_postMessage(channel="C1", text="hello")
    assert len(waits) == 3


# -- one token of the environment -----------------------------------------------------------------


async def test_the_token_is_asked_once_what_it_is(slack: SlackDouble, world: Any) -> None:
    async with StaticClients(settings_of(slack)) as clients:
        found = await asyncio.gather(*(clients.of(world.team.id) for _ in range(20)))
    assert len(slack.calls_of("auth.test")) == 1
    assert {(one.team, one.bot_user) for one in found} == {(world.team.id, world.team.bot_user)}
    assert found[0].bot_id


async def test_another_team_is_not_served_with_the_token(slack: SlackDouble, world: Any) -> None:
    async with StaticClients(settings_of(slack)) as clients:
        with pytest.raises(NotInstalled):
            await clients.of("T_OTHER")


@pytest.mark.parametrize("code", ["invalid_auth", "account_inactive", "token_revoked"])
async def test_a_token_that_is_not_taken(slack: SlackDouble, world: Any, code: str) -> None:
    slack.faults.next("auth.test", Fails(code))
    async with StaticClients(settings_of(slack)) as clients:
        with pytest.raises(NotInstalled, match=code):
            await clients.of(world.team.id)
        assert (await clients.of(world.team.id)).team == world.team.id  # and it is asked again


async def test_one_token_of_an_organisation_serves_its_teams(slack: SlackDouble, world: Any) -> None:
    answer = {
        "ok": True,
        "user_id": "U1",
        "bot_id": "B1",
        "enterprise_id": "E1",
        "is_enterprise_install": True,
    }
    slack.faults.next("auth.test", Fails("", body=answer))
    async with StaticClients(settings_of(slack)) as clients:
        assert (await clients.of("T1", "E1")).team == "T1"
        assert (await clients.of("T2", "E1")).team == "T2"
        with pytest.raises(NotInstalled):
            await clients.of("T3", "E2")


# -- tokens that are renewed ------------------------------------------------------------------------


class Shop:
    """An app with token rotation, installed in the first team."""

    def __init__(self, slack: SlackDouble, redis: Redis) -> None:
        self.slack = slack
        slack.app.rotation = True
        self.notes = NoteStore(redis)
        self.store = Installations(self.notes, Encryption([KEY]))
        self.team = slack.world.first_team

    def clients(self) -> InstalledClients:
        return InstalledClients(self.store, settings_of(self.slack), self.notes)

    async def install(self, *, expires_in: float, team: str | None = None) -> Bot:
        refresh = self.slack.world.secret("xoxe-1")
        self.slack.refresh_tokens[refresh] = self.team
        bot = Bot(
            team_id=team or self.team,
            bot_token=f"xoxb-{self.team}",
            bot_id="B1",
            bot_user_id="U1",
            bot_refresh_token=refresh,
            bot_token_expires_at=int(time() + expires_in),
            installed_at=time(),
        )
        await self.store.async_save_bot(bot)
        return bot

    @property
    def refreshes(self) -> int:
        return len(self.slack.calls_of("oauth.v2.access"))


@pytest.fixture
def shop(slack: SlackDouble, redis: Redis, world: Any) -> Shop:
    return Shop(slack, redis)


async def test_twenty_users_of_an_expired_token_renew_it_once(shop: Shop) -> None:
    await shop.install(expires_in=-10)
    async with shop.clients() as one, shop.clients() as other:  # as in two processes
        found = await asyncio.gather(
            *(clients.of(shop.team) for _ in range(10) for clients in (one, other))
        )
        assert shop.refreshes == 1
        tokens = {installed.client.token for installed in found}
        assert len(tokens) == 1
        await found[0].client.auth_test()  # and Slack takes it
    kept = await shop.store.async_find_bot(enterprise_id=None, team_id=shop.team)
    assert kept
    assert {kept.bot_token} == tokens


async def test_a_fresh_token_is_used_as_it_is(shop: Shop) -> None:
    await shop.install(expires_in=11 * 3600)
    async with shop.clients() as clients:
        first, second = await clients.of(shop.team), await clients.of(shop.team)
    assert shop.refreshes == 0
    assert first.client is second.client


async def test_a_renewed_token_is_kept_when_the_asker_is_cancelled(shop: Shop) -> None:
    await shop.install(expires_in=-10)
    async with shop.clients() as clients:
        asking = asyncio.create_task(clients.of(shop.team))
        await shop.slack.world_changed()  # Slack has given the token
        asking.cancel()
        await asyncio.gather(asking, return_exceptions=True)
        assert (await clients.of(shop.team)).client.token
    assert shop.refreshes == 1


async def test_while_slack_fails_a_token_serves_as_long_as_it_lives(shop: Shop) -> None:
    bot = await shop.install(expires_in=600)
    shop.slack.faults.next("oauth.v2.access", Breaks())
    async with shop.clients() as clients:
        assert (await clients.of(shop.team)).client.token == bot.bot_token
        assert (await clients.of(shop.team)).client.token != bot.bot_token


async def test_an_expired_token_that_cannot_be_renewed(shop: Shop) -> None:
    await shop.install(expires_in=-10)
    shop.slack.refresh_tokens.clear()
    async with shop.clients() as clients:
        with pytest.raises(NotInstalled):
            await clients.of(shop.team)


async def test_an_app_that_leaves_while_its_token_is_renewed_stays_away(
    shop: Shop, monkeypatch: pytest.MonkeyPatch
) -> None:
    await shop.install(expires_in=-10)
    renew = shop.store.renew

    async def leave_first(old: Bot, new: Bot) -> bool:
        await shop.store.uninstalled(None, shop.team, at=time() + 1)
        return await renew(old, new)

    monkeypatch.setattr(shop.store, "renew", leave_first)
    async with shop.clients() as clients:
        with pytest.raises(NotInstalled):
            await clients.of(shop.team)
    assert await shop.notes.read(f"slack-installation:{shop.team}") == {}


async def test_a_new_installation_is_not_undone_by_a_renewal(
    shop: Shop, monkeypatch: pytest.MonkeyPatch
) -> None:
    await shop.install(expires_in=-10)
    renew = shop.store.renew
    newer: list[Bot] = []

    async def install_first(old: Bot, new: Bot) -> bool:
        newer.append(await shop.install(expires_in=40_000))
        return await renew(old, new)

    monkeypatch.setattr(shop.store, "renew", install_first)
    async with shop.clients() as clients:
        await clients.of(shop.team)
    kept = await shop.store.async_find_bot(enterprise_id=None, team_id=shop.team)
    assert kept
    assert kept.bot_refresh_token == newer[0].bot_refresh_token


async def test_teams_of_an_organisation_share_its_installation(shop: Shop) -> None:
    org = Bot(
        enterprise_id="E1",
        bot_token="xoxb-org",
        bot_id="B1",
        bot_user_id="U1",
        is_enterprise_install=True,
        installed_at=time(),
    )
    await shop.store.async_save_bot(org)
    async with shop.clients() as clients:
        assert [(await clients.of(team, "E1")).team for team in ("T1", "T2", "T1")] == ["T1", "T2", "T1"]
        assert (await clients.of("T1", "E1")).client.token == "xoxb-org"
        with pytest.raises(NotInstalled):
            await clients.of("T1", "E2")
        with pytest.raises(NotInstalled):
            await clients.of("T9")
