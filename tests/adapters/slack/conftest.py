"""A strict Slack, and the adapter that runs against it."""

from __future__ import annotations

from collections.abc import AsyncGenerator
from pathlib import Path

import pytest
from redis.asyncio import Redis

from tests.adapters.slack.site import Site, World, open_site
from tests.bot.conftest import redis, valkey_socket
from tests.doubles.slack import SlackDouble

__all__ = ["redis", "valkey_socket"]


@pytest.fixture(autouse=True)
def _impatient(monkeypatch: pytest.MonkeyPatch) -> None:
    """Pauses between tries are no part of what is tested."""
    monkeypatch.setattr("adapters.slack.deliver._PAUSES", (0.0, 0.0, 0.0, 0.0))
    monkeypatch.setattr("adapters.slack.pages._PAUSES", (0.0, 0.0, 0.0))
    monkeypatch.setattr("bot.inbox._FIRST_DELAY", 0.0)


@pytest.fixture
async def slack() -> AsyncGenerator[SlackDouble]:
    async with SlackDouble() as slack:
        slack.outbox.auto = False
        yield slack


@pytest.fixture
def world(slack: SlackDouble) -> World:
    return World(slack)


@pytest.fixture
async def site(redis: Redis, slack: SlackDouble, world: World, tmp_path: Path) -> AsyncGenerator[Site]:
    async with open_site(redis, slack, tmp_path) as site:
        yield site
