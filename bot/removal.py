"""Cancelling versions and deleting documents, so that no trace stays, whenever the process is killed."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable
from typing import Final, Literal, cast

from redis.asyncio import Redis
from redis.asyncio.client import Pipeline

from bot import keys
from bot.catalogue import Catalogue, read_record, texts
from bot.files import Files
from bot.ingest_queue import IngestQueue
from bot.listing import strike_document
from bot.records import Version
from bot.transitions import forget_version
from retrieval.index.protocol import VectorIndex

#: Seconds between looks at whether the work on a document has stopped.
POLL: Final = 0.02

Cancellation = Literal["never begun", "cancelled", "stopping", "too late"]


class Removal:
    def __init__(self, redis: Redis, files: Files, catalogue: Catalogue) -> None:
        self._redis = redis
        self._files = files
        self._catalogue = catalogue

    async def cancel(self, version: Version, index: VectorIndex) -> Cancellation:
        """Stop a version that is not published yet. One that is being worked stops a moment later."""
        meta = version.meta
        job_key, version_key = keys.job(meta.version_id), keys.version(meta.version_id)

        async def change(pipe: Pipeline) -> Cancellation:
            job = await cast("Awaitable[dict[bytes, bytes]]", pipe.hgetall(job_key))
            record = await cast("Awaitable[dict[bytes, bytes]]", pipe.hgetall(version_key))
            if not job or b"outcome" in record:
                pipe.multi()
                return "too late"
            if b"token" in job:
                pipe.multi()
                _ask_to_stop(pipe, meta.version_id)
                return "stopping"
            await forget_version(pipe, meta.version_id, meta.document_id)
            IngestQueue.drop_waiting(pipe, meta)
            return "cancelled" if b"starts" in job else "never begun"

        watched = (job_key, version_key, keys.document(meta.document_id), keys.versions(meta.document_id))
        ended = cast(
            "Cancellation", await self._redis.transaction(change, *watched, value_from_callable=True)
        )
        # `reconcile` finds what is left after a kill here.
        if ended == "cancelled":
            await index.discard(meta.workspace, meta.version_id)
        if ended in ("cancelled", "never begun"):
            await self._files.delete_version(meta.workspace, meta.version_id)
        return ended

    async def begin(self, workspace: str, document_id: str) -> bool:
        """From here on the document is on no list and will be deleted, even if this process is killed.

        False where there is no such document.
        """
        family = keys.versions(document_id)

        async def change(pipe: Pipeline) -> bool:
            if await pipe.zscore(keys.documents(workspace), document_id) is None:
                pipe.multi()
                return False
            versions: list[tuple[Version, dict[bytes, bytes]]] = []
            for version_id in texts(await cast("Awaitable[object]", pipe.zrange(family, 0, -1))):
                await cast("Awaitable[object]", pipe.watch(keys.job(version_id), keys.version(version_id)))
                record = await cast("Awaitable[dict[bytes, bytes]]", pipe.hgetall(keys.version(version_id)))
                job = await cast("Awaitable[dict[bytes, bytes]]", pipe.hgetall(keys.job(version_id)))
                if version := read_record(record):
                    versions.append((version, job))
            pipe.multi()
            pipe.hset(keys.deletions(), document_id, workspace)
            pipe.hset(keys.document(document_id), "deleting", "1")
            for version, job in versions:
                strike_document(pipe, version.meta)
                if b"token" not in job:
                    IngestQueue.drop_waiting(pipe, version.meta)
                elif version.outcome is None:
                    _ask_to_stop(pipe, version.meta.version_id)
            return True

        return cast(
            "bool",
            await self._redis.transaction(
                change, keys.document(document_id), family, value_from_callable=True
            ),
        )

    async def complete(self, workspace: str, document_id: str, index: VectorIndex) -> None:
        """Remove every trace of a document whose deletion was begun. Repeat it after any failure.

        First waits until nobody works on it, which takes no longer than a lease.
        """
        while await self._held(document_id):  # noqa: ASYNC110 - maybe by another process, so there is no event to await
            await asyncio.sleep(POLL)
        await index.delete_document(workspace, document_id)
        version_ids = await self._catalogue.version_ids(document_id)
        for version_id in version_ids:
            await self._files.delete_version(workspace, version_id)
        async with self._redis.pipeline(transaction=True) as pipe:
            for version_id in version_ids:
                pipe.delete(keys.version(version_id), keys.job(version_id))
                pipe.zrem(keys.leases(), version_id)
                pipe.zrem(keys.delayed(), version_id)
                pipe.publish(keys.progress(version_id), "")
            pipe.delete(keys.document(document_id), keys.versions(document_id))
            pipe.zrem(keys.documents(workspace), document_id)
            pipe.hdel(keys.busy(), document_id)
            pipe.hdel(keys.relabellings(), document_id)
            pipe.hdel(keys.deletions(), document_id)
            await pipe.execute()

    async def _held(self, document_id: str) -> bool:
        version_id = await cast("Awaitable[bytes | None]", self._redis.hget(keys.busy(), document_id))
        if version_id is None:
            return False
        until = await self._redis.zscore(keys.leases(), version_id.decode())
        seconds, micros = await self._redis.time()
        return until is not None and float(until) > seconds * 1000 + micros / 1000


def _ask_to_stop(pipe: Pipeline, version_id: str) -> None:
    pipe.hset(keys.version(version_id), "cancel", "1")
    pipe.publish(keys.cancellations(), version_id)
