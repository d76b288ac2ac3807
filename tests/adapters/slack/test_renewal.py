"""Tokens of installations: used while they live, renewed once for all who wait."""

from __future__ import annotations

import asyncio
from time import time
from typing import Any

import pytest
from redis.asyncio import Redis
from slack_sdk.oauth.installation_store import Bot

from adapters.slack.clients import InstalledClients
from adapters.slack.context import NotInstalled
from adapters.slack.encryption import Encryption
from adapters.slack.installations import Installations
from bot.notes import NoteStore
from tests.adapters.slack.test_clients import settings_of
from tests.doubles.slack import Breaks, SlackDouble

KEY = "MDEyMzQ1Njc4OTAxMjM0NTY3ODkwMTIzNDU2Nzg5MDE="


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
