"""The state store by its address: what is wrong with it is said in words, without a password."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncGenerator, Callable
from contextlib import asynccontextmanager
from pathlib import Path

import pytest
from redis.asyncio import Redis

from bot import keys
from bot.config import Config
from bot.state import SCHEMA, StateUnavailable, open_state
from tests.bot.doubles import House


async def refusal(redis_url: str) -> str:
    with pytest.raises(StateUnavailable) as caught:
        async with open_state(Config.model_validate({"redis_url": redis_url})):
            pass
    assert "hidden" not in str(caught.value)
    return str(caught.value)


@asynccontextmanager
async def server(answer: Callable[[list[bytes]], bytes]) -> AsyncGenerator[str]:
    """An address where `answer` answers each command, in the wire protocol's words."""

    async def serve(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        while line := await reader.readline():
            words: list[bytes] = []
            for _ in range(int(line[1:])):
                length = int((await reader.readline())[1:])
                words.append((await reader.readexactly(length + 2))[:-2])
            writer.write(answer(words))
            await writer.drain()
        writer.close()

    listener = await asyncio.start_server(serve, "127.0.0.1", 0)
    async with listener:
        yield f"redis://user:hidden@127.0.0.1:{listener.sockets[0].getsockname()[1]}/0"


async def test_nobody_answers() -> None:
    message = await refusal("redis://user:hidden@127.0.0.1:1/0")
    assert message.startswith("Redis at redis://127.0.0.1:1/0 can't be reached (")
    assert message.endswith("Check REDIS_URL and that the server runs.")


@pytest.mark.parametrize("url", ["hidden", "http://hidden", "localhost:6379"])
async def test_no_address(url: str) -> None:
    assert (await refusal(url)).startswith("REDIS_URL is not an address. It looks like redis://")


async def test_the_wrong_password() -> None:
    async with server(lambda _: b"-WRONGPASS invalid username-password pair\r\n") as url:
        assert (await refusal(url)).endswith("does not accept the password in REDIS_URL.")


def information(version: str, **more: str) -> Callable[[list[bytes]], bytes]:
    lines = {"redis_version": version} | more
    text = "".join(f"{name}:{value}\r\n" for name, value in lines.items()).encode()

    def answer(words: list[bytes]) -> bytes:
        if words[0].upper() == b"INFO":
            return b"$%d\r\n%s\r\n" % (len(text), text)
        if words[0].upper() == b"HELLO":
            return b"%1\r\n+proto\r\n:3\r\n"
        return b"+OK\r\n"

    return answer


async def test_a_server_that_is_too_old() -> None:
    async with server(information("6.0.16")) as url:
        assert await refusal(url) == "Redis 6.0.16 is too old: 6.2 or later is needed (or Valkey)."


async def test_a_server_that_is_far_too_old() -> None:
    async with server(lambda _: b"-ERR unknown command `HELLO`\r\n") as url:
        assert (await refusal(url)).endswith("Redis 6.2 or later is needed (or Valkey).")


async def test_a_cluster() -> None:
    async with server(information("7.2.4", cluster_enabled="1")) as url:
        assert "Redis Cluster" in await refusal(url)


async def test_a_server_that_may_forget_is_used_with_a_warning(redis: Redis, valkey_socket: Path) -> None:
    await redis.config_set("maxmemory-policy", "allkeys-lru")
    try:
        async with open_state(Config.model_validate({"redis_url": f"unix://{valkey_socket}"})) as state:
            assert await state.redis.ping()
            assert not state.private
            assert state.server.startswith("Valkey ")
            assert [w.split(":")[0] for w in state.warnings] == [
                "Redis may throw records away (maxmemory-policy is allkeys-lru)",
                "Redis may lose the newest uploads in a crash",
            ]
    finally:
        await redis.config_set("maxmemory-policy", "noeviction")


async def test_data_of_a_newer_format_is_left_alone(redis: Redis, valkey_socket: Path) -> None:
    await redis.set(keys.schema(), SCHEMA + 1)
    assert "written by a newer Footnote" in await refusal(f"unix://{valkey_socket}")
    assert await redis.get(keys.schema()) == str(SCHEMA + 1).encode()


async def test_without_an_address_the_server_is_private_and_complete(tmp_path: Path) -> None:
    async with open_state(Config(data_dir=tmp_path / "a folder", redis_url=None)) as state:
        assert state.private
        assert state.warnings == ()
        house = House(state.redis, state.url, tmp_path)
        async with house.tickets.opened(), house.working():
            _, version_id = await house.accept("one")
            assert (await house.end_of(version_id)).finished
        assert "unix://" not in repr(state), "an address may hold a password"
