"""How clients try again, and what the one token of the environment serves."""

from __future__ import annotations

import asyncio
from dataclasses import replace
from types import SimpleNamespace
from typing import Any

import pytest
from slack_sdk.errors import SlackApiError

from adapters.slack.clients import StaticClients, make_client
from adapters.slack.context import NotInstalled
from adapters.slack.errors import code_of
from adapters.slack.retries import LONGEST_WAIT
from adapters.slack.settings import SlackSettings
from tests.doubles.slack import Breaks, Drops, Fails, Hangs, RateLimited, SlackDouble


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
