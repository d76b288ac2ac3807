"""Watching versions on their way: each change, coalesced, and the end for certain."""

from __future__ import annotations

import asyncio
import contextlib
from collections.abc import AsyncIterator, Sequence
from typing import Any, Final, cast

from redis.asyncio import Redis
from redis.asyncio.client import PubSub
from redis.exceptions import ConnectionError as RedisConnectionError
from redis.exceptions import TimeoutError as RedisTimeoutError

from adapters.forms import Progress, ProgressItem
from bot import keys
from bot.catalogue import Catalogue

#: Shortest time between two reports, in seconds.
INTERVAL: Final = 0.1
#: Without a message for so long, records are read again: messages may get lost, records don't.
RECHECK: Final = 3.0
#: So long (seconds) the state store may be away before watching fails.
PATIENCE: Final = 60.0

GONE: Final = "It was cancelled, deleted, or replaced by a newer version."


async def watch(redis: Redis, catalogue: Catalogue, version_ids: Sequence[str]) -> AsyncIterator[Progress]:
    """Progress of these versions, first as it is now; ends after the one in which all are finished.

    A version that is gone counts as cancelled. Raises redis' `ConnectionError` or `TimeoutError` when the
    state store stays away for `PATIENCE`.
    """
    ids = list(dict.fromkeys(version_ids))
    if not ids:
        yield Progress(items=())
        return
    loop = asyncio.get_running_loop()
    items: dict[str, ProgressItem] = {}
    changed = set(ids)
    last: Progress | None = None
    seen_alive = loop.time()
    async with contextlib.aclosing(redis.pubsub()) as channel:
        while True:
            try:
                # Before the first read, so that no change can fall between them.
                if not channel.subscribed:
                    await channel.subscribe(*(keys.progress(version_id) for version_id in ids))
                items |= await _read(redis, catalogue, sorted(changed), items)
                changed = {version_id for version_id in ids if not items[version_id].finished}
                seen_alive = loop.time()
                progress = Progress(items=tuple(items[version_id] for version_id in ids))
                if progress != last:
                    last = progress
                    yield progress
                if progress.finished:
                    return
                changed &= await _next_changes(channel) or changed
            except (RedisConnectionError, RedisTimeoutError):
                if loop.time() - seen_alive > PATIENCE:
                    raise
                await asyncio.sleep(INTERVAL)


async def _next_changes(channel: PubSub) -> set[str]:
    """Version ids of the next message and of all others within `INTERVAL`; none after `RECHECK`."""
    changed: set[str] = set()
    message = await channel.get_message(timeout=RECHECK)
    if message is not None:
        await asyncio.sleep(INTERVAL)
    while message is not None:
        changed.add(cast("bytes", message["channel"]).decode().removeprefix(keys.PROGRESS))
        message = await channel.get_message(timeout=0)
    return changed


async def _read(
    redis: Redis, catalogue: Catalogue, version_ids: Sequence[str], before: dict[str, ProgressItem]
) -> dict[str, ProgressItem]:
    versions = await catalogue.versions(version_ids)
    found = {version_id: version.item() for version_id, version in versions.items()}
    for version_id in version_ids:
        if version_id not in found:
            found[version_id] = await _absent(redis, version_id, before.get(version_id))
    return found


async def _absent(redis: Redis, version_id: str, before: ProgressItem | None) -> ProgressItem:
    refusal = cast("bytes | None", await redis.get(keys.refused(version_id)))
    if refusal is not None:
        return ProgressItem.model_validate_json(refusal)
    known: dict[str, Any] = before.model_dump() if before else {"document_id": "", "name": ""}
    return ProgressItem.model_validate(
        {**known, "version_id": version_id, "stage": "cancelled", "message": GONE}
    )
