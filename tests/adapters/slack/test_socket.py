"""Socket Mode against the strict Slack: opening, envelopes, renewed and broken connections, refusals."""

from __future__ import annotations

import asyncio
from types import SimpleNamespace
from typing import Any

import pytest
from slack_bolt.async_app import AsyncApp

from adapters.ports import Refused
from adapters.slack.settings import SlackSettings
from adapters.slack.socket import SocketMode
from tests.adapters.slack.site import World
from tests.adapters.slack.test_http import Heard
from tests.doubles.slack import Breaks, Fails, RateLimited, SlackDouble


@pytest.fixture
def settings(slack: SlackDouble, world: World) -> SlackSettings:
    return SlackSettings(
        bot_token=f"xoxb-{world.team.id}", app_token=slack.app.app_token, api_url=slack.api_url, timeout=5.0
    )


@pytest.fixture
def heard() -> Heard:
    return Heard()


@pytest.fixture
def app(heard: Heard) -> AsyncApp:
    async def unheard() -> None:
        """Mentions come as messages too; without a listener they'd stay unacknowledged."""

    heard.app.event("message")(unheard)
    return heard.app


@pytest.fixture(autouse=True)
def waits(monkeypatch: pytest.MonkeyPatch) -> list[float]:
    """Seconds that were waited between tries; nobody really waits."""
    waited: list[float] = []

    async def note(seconds: float) -> None:
        waited.append(seconds)

    quick = SimpleNamespace(sleep=note, timeout=asyncio.timeout, gather=asyncio.gather)
    monkeypatch.setattr("adapters.slack.retries.asyncio", quick)
    monkeypatch.setattr("adapters.slack.socket.asyncio", quick)
    return waited


async def ask(slack: SlackDouble, world: World, text: str) -> None:
    slack.say(world.general, world.ann, f"{world.mention} {text}")
    await slack.outbox.deliver()


async def test_events_come_through_the_connection_and_are_acknowledged(
    slack: SlackDouble, world: World, app: AsyncApp, heard: Heard, settings: SlackSettings
) -> None:
    async with SocketMode(app, settings):
        await slack.sockets.connected()
        await ask(slack, world, "one")
        mentions = [d for d in slack.outbox.deliveries if d.payload["event"]["type"] == "app_mention"]
        assert [attempt.status for attempt in mentions[0].attempts] == [200]
    assert ["one" in event["text"] for event in heard.events] == [True]


async def test_a_connection_that_slack_renews_is_opened_again(
    slack: SlackDouble, world: World, app: AsyncApp, heard: Heard, settings: SlackSettings
) -> None:
    async with SocketMode(app, settings):
        await slack.sockets.connected(1)
        await slack.sockets.refresh()
        await slack.sockets.connected(2)
        await ask(slack, world, "after")
    assert len(heard.events) == 1


async def test_a_connection_that_breaks_is_opened_again(
    slack: SlackDouble, world: World, app: AsyncApp, heard: Heard, settings: SlackSettings
) -> None:
    async with SocketMode(app, settings):
        await slack.sockets.connected(1)
        await slack.sockets.drop()
        await slack.sockets.connected(2)
        await ask(slack, world, "after")
    assert len(heard.events) == 1


async def test_an_address_that_no_longer_works_is_asked_for_anew(
    slack: SlackDouble, app: AsyncApp, settings: SlackSettings, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("adapters.slack.socket._PING", 0.2)  # the SDK's pause
    right, given = slack.sockets.ticket, 0

    def ticket() -> str:
        nonlocal given
        given += 1
        return right() if given > 1 else right().replace("ticket=", "ticket=spent-")

    monkeypatch.setattr(slack.sockets, "ticket", ticket)
    async with SocketMode(app, settings):
        await slack.sockets.connected(1)
    assert given == 2


@pytest.mark.parametrize(
    ("code", "advice"),
    [
        ("invalid_auth", "App-Level Tokens"),
        ("token_revoked", "revoked"),
        ("missing_scope", "connections:write"),
        ("not_allowed_token_type", "xapp-"),
        ("forbidden", "Turn it on"),
        ("something_new", "something_new"),
    ],
)
async def test_what_slack_refuses_is_told_with_what_to_do(
    slack: SlackDouble, app: AsyncApp, settings: SlackSettings, code: str, advice: str
) -> None:
    slack.faults.next("apps.connections.open", Fails(code))
    with pytest.raises(Refused, match=advice) as refused:
        await SocketMode(app, settings).__aenter__()
    assert (settings.app_token or "-") not in str(refused.value)
    assert len(slack.calls_of("apps.connections.open")) == 1


async def test_bad_moments_are_waited_out(
    slack: SlackDouble, app: AsyncApp, settings: SlackSettings, waits: list[float]
) -> None:
    slack.faults.next("apps.connections.open", Breaks(), RateLimited(7))
    async with SocketMode(app, settings):
        await slack.sockets.connected(1)
    assert any(7 <= seconds < 10 for seconds in waits)


@pytest.mark.parametrize("fault", [Breaks(), RateLimited(600)])
async def test_bad_moments_that_last_are_told(
    slack: SlackDouble, app: AsyncApp, settings: SlackSettings, fault: Any
) -> None:
    slack.faults.next("apps.connections.open", fault, times=20)
    with pytest.raises(Refused, match="can't be reached"):
        await SocketMode(app, settings).__aenter__()


async def test_no_network_is_told(app: AsyncApp) -> None:
    nowhere = SlackSettings(bot_token="xoxb-1", app_token="xapp-1", api_url="http://127.0.0.1:9/api/")
    with pytest.raises(Refused, match=r"Is 127\.0\.0\.1 open"):
        await SocketMode(app, nowhere).__aenter__()


async def test_closing_ends_though_slack_does_not_say_goodbye(
    slack: SlackDouble, app: AsyncApp, settings: SlackSettings, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("adapters.slack.socket._CLOSE_WITHIN", 0.05)
    mode = SocketMode(app, settings)
    async with mode:
        await slack.sockets.connected(1)
        client = mode.client

        async def silence() -> None:
            await asyncio.Event().wait()

        monkeypatch.setattr(client, "disconnect", silence)
    assert client.message_processor.done()
    assert client.message_receiver is not None
    assert client.message_receiver.done()
    assert client.aiohttp_client_session.closed
