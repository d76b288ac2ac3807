"""What adapters remember across restarts. Implements the port `Notes`."""

from __future__ import annotations

from collections.abc import AsyncGenerator, Mapping
from contextlib import AbstractAsyncContextManager, asynccontextmanager, suppress
from typing import Any, cast

from redis.asyncio import Redis
from redis.exceptions import LockError

from bot import keys


class NoteStore:
    def __init__(self, redis: Redis) -> None:
        self._redis = redis

    async def read(self, name: str) -> dict[str, str]:
        found = cast("dict[bytes, bytes]", await self._redis.hgetall(keys.note(name)))
        return {field.decode(): value.decode() for field, value in found.items()}

    async def write(self, name: str, fields: Mapping[str, str], *, seconds: int | None = None) -> None:
        key = keys.note(name)
        async with self._redis.pipeline(transaction=True) as batch:
            if fields:
                batch.hset(key, mapping=cast("dict[Any, Any]", dict(fields)))
            if seconds is not None:
                batch.expire(key, seconds)
            await batch.execute()

    async def erase(self, name: str, *fields: str) -> None:
        if fields:
            await self._redis.hdel(keys.note(name), *fields)
        else:
            await self._redis.delete(keys.note(name))

    async def claim(self, name: str, *, seconds: int) -> bool:
        return bool(await self._redis.set(keys.note_claim(name), b"1", nx=True, ex=seconds))

    def lock(self, name: str, *, seconds: int = 30) -> AbstractAsyncContextManager[None]:
        return self._held(name, seconds)

    @asynccontextmanager
    async def _held(self, name: str, seconds: int) -> AsyncGenerator[None]:
        lock = self._redis.lock(keys.note_lock(name), timeout=seconds, sleep=0.02, blocking_timeout=seconds)
        if not await lock.acquire():
            raise TimeoutError(f"Nobody gave back the lock {name!r} within {seconds} s.")
        try:
            yield
        finally:
            with suppress(LockError):  # it ran out meanwhile
                await lock.release()
