"""How a version's record changes while it is worked. Only the holder of its lease may do this."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from typing import Final, cast

from redis.asyncio import Redis
from redis.asyncio.client import Pipeline

from bot import keys
from bot.catalogue import read_record, texts
from bot.ingest_queue import IngestQueue, Lease, LeaseLost, raise_if_over
from bot.listing import strike_document
from bot.records import Outcome, Status, Version

#: KEYS job, version. ARGV token, channel, then field and value, ...
_WRITE: Final = """
if redis.call('HGET', KEYS[1], 'token') ~= ARGV[1] then return 'lost' end
if redis.call('HEXISTS', KEYS[2], 'cancel') == 1 then return 'cancelled' end
redis.call('HSET', KEYS[2], unpack(ARGV, 3))
redis.call('PUBLISH', ARGV[2], '')
return 'written'
"""


class Transitions:
    """Each raises `LeaseLost` where the lease does not hold any more, and has changed nothing then."""

    def __init__(self, redis: Redis) -> None:
        self._redis = redis
        self._write_script = redis.register_script(_WRITE)

    async def report(self, lease: Lease, status: Status) -> None:
        """Raises `Cancelled` too."""
        await self._write(lease, {"status": status.model_dump_json()})

    async def commit(self, lease: Lease, outcome: Outcome) -> None:
        """From here on the version will be published, whatever happens. Raises `Cancelled` too."""
        total = outcome.chunks
        status = Status(stage="indexing", done=total, total=total)
        await self._write(lease, {"status": status.model_dump_json(), "outcome": outcome.model_dump_json()})

    async def replaced(self, lease: Lease) -> list[str]:
        """Versions that this one replaces. Older ones that still wait are not among them: whoever
        takes one sees that it is outdated."""
        family = keys.versions(lease.document_id)
        ids = texts(await self._redis.zrange(family, 0, -1))
        older = ids[: ids.index(lease.version_id)] if lease.version_id in ids else []
        return [version_id for version_id in older if not await self._redis.exists(keys.job(version_id))]

    async def finish(self, lease: Lease) -> None:
        """The version is published: it is the current one, and those that it replaces are forgotten."""

        async def change(pipe: Pipeline) -> None:
            await _check(pipe, lease)
            older = [await _read(pipe, version_id) for version_id in await self.replaced(lease)]
            version = await _read(pipe, lease.version_id)
            count = version.outcome.chunks if version and version.outcome else 0
            status = Status(stage="done", done=count, total=count)
            pipe.multi()
            pipe.hset(keys.version(lease.version_id), "status", status.model_dump_json())
            pipe.hset(keys.document(lease.document_id), "current", lease.version_id)
            for version in older:
                if version is not None:
                    _forget(pipe, version)
            IngestQueue.drop_held(pipe, lease)
            pipe.publish(keys.progress(lease.version_id), "")

        await self._transaction(lease, change)

    async def fail(self, lease: Lease, reason: str, message: str) -> None:
        status = Status(stage="failed", reason=reason, message=message)
        version_key, document_key = keys.version(lease.version_id), keys.document(lease.document_id)

        async def change(pipe: Pipeline) -> None:
            await _check(pipe, lease)
            current = await cast("Awaitable[bytes | None]", pipe.hget(document_key, "current"))
            pipe.multi()
            if current == lease.version_id.encode():  # its chunks were lost, and can't be made again
                pipe.hdel(document_key, "current")
            pipe.hset(version_key, "status", status.model_dump_json())
            pipe.hdel(version_key, "outcome")
            IngestQueue.drop_held(pipe, lease)
            pipe.publish(keys.progress(lease.version_id), "")

        await self._transaction(lease, change)

    async def retire(self, lease: Lease) -> None:
        """Forget a version that was cancelled or outdated, and its document if it has no other."""

        async def change(pipe: Pipeline) -> None:
            await _check(pipe, lease)
            await forget_version(pipe, lease.version_id, lease.document_id)
            IngestQueue.drop_held(pipe, lease)

        await self._transaction(lease, change)

    async def drop(self, lease: Lease) -> None:
        """End the work and leave the record to the deletion of its document."""

        async def change(pipe: Pipeline) -> None:
            await _check(pipe, lease)
            pipe.multi()
            IngestQueue.drop_held(pipe, lease)

        await self._transaction(lease, change)

    async def deleting(self, lease: Lease) -> bool:
        """Whether the document is being deleted."""
        return await self._redis.hexists(keys.deletions(), lease.document_id)

    async def outdated(self, lease: Lease) -> bool:
        """Whether a greater version of the document is published already."""
        family = keys.versions(lease.document_id)
        current = await cast(
            "Awaitable[bytes | None]", self._redis.hget(keys.document(lease.document_id), "current")
        )
        if current is None:
            return False
        published, own = await self._redis.zmscore(family, [current.decode(), lease.version_id])
        return published is not None and own is not None and float(published) > float(own)

    async def _write(self, lease: Lease, fields: dict[str, str]) -> None:
        answer = await cast(
            "Awaitable[bytes]",
            self._write_script(
                keys=[keys.job(lease.version_id), keys.version(lease.version_id)],
                args=[
                    lease.token,
                    keys.progress(lease.version_id),
                    *(word for field in fields.items() for word in field),
                ],
            ),
        )
        raise_if_over(answer, lease)

    async def _transaction(self, lease: Lease, change: Callable[[Pipeline], Awaitable[None]]) -> None:
        await self._redis.transaction(
            change,
            keys.job(lease.version_id),
            keys.document(lease.document_id),
            keys.versions(lease.document_id),
        )


async def forget_version(pipe: Pipeline, version_id: str, document_id: str) -> None:
    """In a transaction that watches the document and its versions: remove the record of one that is
    not published, and of its document if there is no other version. Begins the `multi` part."""
    ids = texts(await cast("Awaitable[object]", pipe.zrange(keys.versions(document_id), 0, -1)))
    version = await _read(pipe, version_id)
    pipe.multi()
    if version is None:
        return
    _forget(pipe, version)
    if not set(ids) - {version_id}:
        strike_document(pipe, version.meta)
        pipe.delete(keys.document(document_id))


def _forget(pipe: Pipeline, version: Version) -> None:
    meta = version.meta
    pipe.delete(keys.version(meta.version_id))
    pipe.zrem(keys.versions(meta.document_id), meta.version_id)
    pipe.publish(keys.progress(meta.version_id), "")


async def _read(pipe: Pipeline, version_id: str) -> Version | None:
    return read_record(await cast("Awaitable[dict[bytes, bytes]]", pipe.hgetall(keys.version(version_id))))


async def _check(pipe: Pipeline, lease: Lease) -> None:
    token = await cast("Awaitable[bytes | None]", pipe.hget(keys.job(lease.version_id), "token"))
    if token is None or token.decode() != lease.token:
        raise LeaseLost(lease.version_id)
