"""A real Valkey for the tests: one server a test process, emptied before each test."""

from __future__ import annotations

import subprocess
import time
from collections.abc import AsyncGenerator, Generator
from pathlib import Path

import pytest
from redis import Redis as SyncRedis
from redis.asyncio import Redis
from redis.exceptions import RedisError

from bot.valkey import find_binary
from tests.bot.doubles import House


@pytest.fixture(scope="session")
def valkey_socket(tmp_path_factory: pytest.TempPathFactory) -> Generator[Path]:
    """The socket of a server that keeps nothing on disk."""
    folder = tmp_path_factory.mktemp("valkey")
    socket = folder / "v.sock"
    server = subprocess.Popen(
        [find_binary(), "--port", "0", "--unixsocket", socket, "--save", "", "--dir", folder],
        stdout=subprocess.DEVNULL,
    )
    try:
        for _ in range(2000):
            try:
                SyncRedis(unix_socket_path=str(socket)).ping()
                break
            except RedisError:
                time.sleep(0.005)
        yield socket
    finally:
        server.kill()
        server.wait()


@pytest.fixture
async def redis(valkey_socket: Path) -> AsyncGenerator[Redis]:
    async with Redis(unix_socket_path=str(valkey_socket)) as client:
        await client.flushall()
        yield client


@pytest.fixture
async def house(redis: Redis, valkey_socket: Path, tmp_path: Path) -> AsyncGenerator[House]:
    house = House(redis, f"unix://{valkey_socket}", tmp_path)
    async with house.tickets.opened():
        yield house
