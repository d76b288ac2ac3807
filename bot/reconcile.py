"""Putting records, index and files in agreement after a kill. Every step may be repeated at any time."""

from __future__ import annotations

from collections.abc import Awaitable
from dataclasses import dataclass
from datetime import timedelta
from typing import cast

import structlog
from redis.asyncio.client import Pipeline

from bot import keys
from bot.catalogue import read_record
from bot.ingest_queue import IngestQueue
from bot.library import Library
from bot.records import Document, Status, Version, now

log = structlog.get_logger()

#: Where other processes work at the same time, a file without a record may be an upload on its way.
GRACE = timedelta(hours=1)


@dataclass(frozen=True, slots=True)
class Reconciled:
    """What was found and mended."""

    #: Versions that somebody was working when the process ended, and delays that are over.
    resumed: int = 0
    #: Versions whose chunks are not in the index although they should be: queued again.
    requeued: int = 0
    #: Chunks of unknown versions that were removed, counted by version.
    discarded: int = 0
    #: Files without a record that were removed.
    files: int = 0


async def reconcile(library: Library, queue: IngestQueue, *, alone: bool) -> Reconciled:
    """`alone`: no other process works on these records, as is so for the owner of a data folder at its
    start; then nothing waits for a lease to run out. Raises `IndexUnavailable` and `StorageError`.
    """
    resumed = await queue.recover(all_leases=alone)
    await library.finish_pending()
    requeued = discarded = 0
    for workspace in await library.catalogue.workspaces():
        again, gone = await _reconcile_index(library, workspace)
        requeued, discarded = requeued + again, discarded + gone
    files = await _sweep_files(library, alone=alone)
    result = Reconciled(resumed, requeued, discarded, files)
    if result != Reconciled():
        log.info("reconciled", resumed=resumed, requeued=requeued, discarded=discarded, files=files)
    return result


async def _reconcile_index(library: Library, workspace: str) -> tuple[int, int]:
    before = {d.document_id: d for d in await library.catalogue.documents(workspace)}
    stored = await library.index.versions(workspace)
    after = {d.document_id: d for d in await library.catalogue.documents(workspace)}
    discarded = 0
    answered: set[str] = set()
    for document_id, version_id, published in sorted(stored):
        document = after.get(document_id)
        if document is not None and await _expected(library, document_id, version_id):
            if published:
                answered.add(document_id)
            continue
        if document is None or (published and document.current is None):
            await library.index.delete_document(workspace, document_id)
            discarded += 1
        elif not published:
            await library.index.discard(workspace, version_id)
            discarded += 1
        # Else an old version still answers, and gives way to the current one, which is queued below.
    searchable = {version_id for _, version_id, published in stored if published}
    requeued = 0
    for document in before.values():
        version = _current(document)
        # One that was published while we looked is current only afterwards.
        if version is None or version.meta.version_id in searchable or document.document_id in answered:
            continue
        if _current(after.get(document.document_id)) == version:
            requeued += await _queue_again(library, version)
    for document in after.values():
        if not document.latest.status.finished:
            requeued += await _queue_again(library, document.latest)
    return requeued, discarded


def _current(document: Document | None) -> Version | None:
    return document.current if document else None


async def _expected(library: Library, document_id: str, version_id: str) -> bool:
    """Whether staged chunks belong to work that goes on, or were published since they were seen."""
    async with library.redis.pipeline(transaction=True) as pipe:
        pipe.exists(keys.job(version_id))
        pipe.hget(keys.document(document_id), "current")
        working, current = await pipe.execute()
    return bool(working) or current == version_id.encode()


async def _queue_again(library: Library, seen: Version) -> bool:
    """Ingest a version once more, unless it waits or is worked, or is not any more as it was seen."""
    meta = seen.meta

    async def change(pipe: Pipeline) -> bool:
        record = await cast("Awaitable[dict[bytes, bytes]]", pipe.hgetall(keys.version(meta.version_id)))
        waits = await pipe.exists(keys.job(meta.version_id))
        pipe.multi()
        if waits or read_record(record) != seen:
            return False
        pipe.hset(keys.version(meta.version_id), "status", Status().model_dump_json())
        pipe.hdel(keys.version(meta.version_id), "outcome", "cancel")
        IngestQueue.put(pipe, meta)
        return True

    watched = (keys.job(meta.version_id), keys.version(meta.version_id))
    return cast("bool", await library.redis.transaction(change, *watched, value_from_callable=True))


async def _sweep_files(library: Library, *, alone: bool) -> int:
    before = now() if alone else now() - GRACE
    removed = await library.files.remove_partial(before)
    known: dict[str, bool] = {}
    async for file in library.files.list():
        if file.modified >= before:
            continue
        if file.version_id not in known:
            found = await library.redis.exists(keys.version(file.version_id))
            known[file.version_id] = bool(found)
        if not known[file.version_id]:
            await library.files.delete_version(file.workspace, file.version_id)
            removed += 1
    return removed
