"""The state store: Redis by its address, or a private Valkey in the data folder."""

from __future__ import annotations

import contextlib
from collections.abc import AsyncGenerator
from dataclasses import dataclass, field
from typing import Any, Final, cast
from urllib.parse import quote, urlsplit

from redis.asyncio import Redis
from redis.asyncio.retry import Retry
from redis.backoff import ExponentialWithJitterBackoff
from redis.exceptions import AuthenticationError, BusyLoadingError, RedisError, ResponseError
from redis.exceptions import ConnectionError as RedisConnectionError
from redis.exceptions import TimeoutError as RedisTimeoutError

from bot import keys
from bot.config import Config
from bot.valkey import PrivateValkey, ValkeyFailed

#: Of what is stored under `footnote:`. Counts up when older code could not read it any more.
SCHEMA: Final = 1
#: The first with XAUTOCLAIM and LMOVE. Valkey calls itself 7.2 or later.
MIN_REDIS: Final = (6, 2)

#: For every connection. Each call ends within about half a minute, whatever the network does.
CONNECTION: Final[dict[str, Any]] = {
    "socket_connect_timeout": 5.0,
    "socket_timeout": 10.0,
    "health_check_interval": 30,
    "client_name": "footnote",
}
#: Of the pool that requests share; each open progress view takes one.
MAX_CONNECTIONS: Final = 1000


class StateUnavailable(Exception):
    """The state store can't be used. `str()` says why and what to do; it holds no password."""


@dataclass(frozen=True, slots=True)
class State:
    """An open state store. Responses are bytes."""

    redis: Redis = field(repr=False)
    #: For libraries that make their own connections. Holds the password.
    url: str = field(repr=False)
    #: What a person may read: the address without a password.
    address: str
    #: "Valkey 9.1.2"
    server: str
    #: A private server, which no other process uses.
    private: bool
    #: What an operator should mend, in sentences; for `kb doctor`.
    warnings: tuple[str, ...] = ()


@contextlib.asynccontextmanager
async def open_state(config: Config) -> AsyncGenerator[State]:
    """Connect, or start the private server first (then the caller owns the data folder).

    Raises `StateUnavailable`.
    """
    async with contextlib.AsyncExitStack() as stack:
        if config.redis_url is not None:
            url, private = config.redis_url.get_secret_value(), False
            address = _without_password(url)
        else:
            try:
                socket = await stack.enter_async_context(PrivateValkey(config.data_dir / "state").running())
            except ValkeyFailed as error:
                raise StateUnavailable(str(error)) from error
            url, private, address = f"unix://{quote(str(socket))}?db=0", True, str(socket)
        redis = await stack.enter_async_context(_client(url))
        try:
            server, warnings = await _examine(redis, private=private)
        except AuthenticationError as error:
            raise StateUnavailable(
                f"Redis at {address} does not accept the password in REDIS_URL."
            ) from error
        except ResponseError as error:
            raise StateUnavailable(
                f"What answers at {address} does not know a command ({error}). "
                f"Redis {'.'.join(map(str, MIN_REDIS))} or later is needed (or Valkey)."
            ) from error
        except (RedisError, OSError) as error:
            raise StateUnavailable(
                f"Redis at {address} can't be reached ({error}). Check REDIS_URL and that the server runs."
            ) from error
        yield State(redis, url, address, server, private, warnings)


def _client(url: str) -> Redis:
    try:
        return Redis.from_url(
            url,
            max_connections=MAX_CONNECTIONS,
            retry=Retry(
                ExponentialWithJitterBackoff(base=0.05, cap=1.0),
                5,
                supported_errors=(RedisConnectionError, RedisTimeoutError, BusyLoadingError),
            ),
            **CONNECTION,
        )
    except ValueError as error:
        raise StateUnavailable(
            "REDIS_URL is not an address. It looks like redis://host:6379/0, rediss://… or unix:///path."
        ) from error


async def _examine(redis: Redis, *, private: bool) -> tuple[str, tuple[str, ...]]:
    """Server name and warnings. Raises `StateUnavailable` for a server that can't serve."""
    info = await redis.info()
    version = str(info["redis_version"])
    if tuple(int(part) for part in version.split(".")[:2]) < MIN_REDIS:
        wanted = ".".join(map(str, MIN_REDIS))
        raise StateUnavailable(f"Redis {version} is too old: {wanted} or later is needed (or Valkey).")
    if info.get("cluster_enabled"):
        raise StateUnavailable("REDIS_URL names a Redis Cluster. A single Redis (or Valkey) is needed.")
    await _claim_schema(redis)
    warnings: list[str] = []
    policy = str(info.get("maxmemory_policy", "noeviction"))
    if policy.startswith("allkeys"):
        warnings.append(f"Redis may throw records away (maxmemory-policy is {policy}): set noeviction.")
    if not private and not info.get("aof_enabled"):
        warnings.append("Redis may lose the newest uploads in a crash: set appendonly yes.")
    valkey = info.get("valkey_version")
    return (f"Valkey {valkey}" if valkey else f"Redis {version}"), tuple(warnings)


async def _claim_schema(redis: Redis) -> None:
    await redis.set(keys.schema(), SCHEMA, nx=True)
    stored = int(cast("bytes", await redis.get(keys.schema())))
    if stored > SCHEMA:
        raise StateUnavailable(
            f"The stored data was written by a newer Footnote (format {stored}, this one reads {SCHEMA}). "
            "Install the newer version again."
        )


def _without_password(url: str) -> str:
    parts = urlsplit(url)
    if parts.scheme == "unix":
        return parts.path
    _, _, place = parts.netloc.rpartition("@")
    return f"{parts.scheme}://{place}{parts.path}"
