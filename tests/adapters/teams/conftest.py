"""A strict Teams, and the adapter that runs against it."""

from __future__ import annotations

from collections.abc import AsyncGenerator
from pathlib import Path

import pytest
from redis.asyncio import Redis

from tests.adapters.teams.site import Site, World, open_site
from tests.bot.conftest import redis, valkey_socket
from tests.doubles.teams import TeamsDouble

__all__ = ["redis", "valkey_socket"]


@pytest.fixture(autouse=True)
def _impatient(monkeypatch: pytest.MonkeyPatch) -> None:
    """Pauses between tries are no part of what is tested."""
    monkeypatch.setattr("adapters.teams.deliver._PAUSES", (0.0, 0.0, 0.0, 0.0))
    monkeypatch.setattr("adapters.teams.rest._PAUSES", (0.0, 0.0, 0.0))
    monkeypatch.setattr("adapters.teams.limits.STREAM_EVERY", 0.0)
    monkeypatch.setattr("bot.inbox._FIRST_DELAY", 0.0)


@pytest.fixture
async def teams() -> AsyncGenerator[TeamsDouble]:
    async with TeamsDouble() as teams:
        teams.outbox.auto = False
        teams.rules.stream_every = 0.0
        yield teams


@pytest.fixture
def world(teams: TeamsDouble) -> World:
    return World(teams)


@pytest.fixture
async def site(redis: Redis, teams: TeamsDouble, world: World, tmp_path: Path) -> AsyncGenerator[Site]:
    async with open_site(redis, teams, tmp_path) as site:
        yield site
