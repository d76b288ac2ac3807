"""Files attached to a question: read for that thread alone, and deleted after the retention time.

They are documents like others, but their only audience is the thread, so no other scope finds them; their
uploader sees them in the list. They stand in a knowledge base of their own that nobody can choose.
"""

from __future__ import annotations

import asyncio
import time
from collections.abc import AsyncIterator
from typing import Final, cast

import structlog
from redis.asyncio import Redis
from redis.exceptions import RedisError

from adapters.conversation import Turn, Working
from bot import keys
from bot.access import person_key
from bot.library import ATTACHED, Library
from bot.records import Upload
from retrieval.documents import thread_audience
from retrieval.index.protocol import IndexUnavailable
from retrieval.scope import Scope

log = structlog.get_logger()

#: Seconds that a question waits for its files; then it is answered without.
PATIENCE: Final = 60.0
#: Seconds between looks for files whose time is over.
SWEEP: Final = 600.0


class Attachments:
    def __init__(self, redis: Redis, library: Library, *, patience: float = PATIENCE) -> None:
        self._redis, self._library, self._patience = redis, library, patience

    async def add(self, turn: Turn, *, days: int, notes: list[str]) -> AsyncIterator[Working]:
        """Read the turn's files. What could not be read is told in `notes`.

        The same turn again adds nothing: the same content in the same thread is recognised.
        """
        seconds = days * 24 * 3600
        key = turn.conversation.key
        await self._redis.set(keys.attachments(key), b"1", ex=seconds)
        waiting: dict[str, str] = {}
        for file in turn.files:
            yield Working(kind="reading", text=f"Reading {file.name}", count=1)
            item = await self._library.accept(
                Upload(
                    workspace=turn.workspace,
                    knowledge_base=ATTACHED,
                    path=file.path,
                    name=file.name,
                    media_type=file.media_type or "application/octet-stream",
                    uploader=person_key((turn.conversation, turn.asker)),
                    audience=(thread_audience(key),),
                    source_url=file.permalink,
                    keep_both=True,
                )
            )
            if item.stage == "failed":
                notes.append(_unread(file.name, item.message))
                continue
            name = f"{turn.workspace} {item.document_id}"
            await self._redis.zadd(keys.attachment_expiries(), {name: time.time() + seconds})
            if not item.finished:
                waiting[item.version_id] = file.name
        notes += await self._done(waiting)

    async def _done(self, waiting: dict[str, str]) -> list[str]:
        """Wait until they are read. Sentences about those that are not."""
        notes: list[str] = []
        left = dict(waiting)
        try:
            async with asyncio.timeout(self._patience):
                async for progress in self._library.watch(list(waiting)):
                    for item in progress.items:
                        if not item.finished or left.pop(item.version_id, None) is None:
                            continue
                        if item.stage != "done":
                            notes.append(_unread(item.name, item.message))
                    if not left:
                        break
        except TimeoutError:
            notes += [f"{name} is still being read. Ask again in a minute." for name in left.values()]
        return notes

    async def scope(self, turn: Turn) -> Scope | None:
        """Where the thread's files are found; None where it has none.

        A reply that only the asker sees is read by somebody who reads the thread, so the files may be used.
        """
        key = turn.conversation.key
        if not await self._redis.exists(keys.attachments(key)):
            return None
        return Scope(workspace=turn.workspace, audience=frozenset({thread_audience(key)}))

    # -- the end of their time ------------------------------------------------------------------

    async def sweep(self, now: float | None = None) -> None:
        """Delete the files whose time is over."""
        over = await self._redis.zrangebyscore(
            keys.attachment_expiries(), "-inf", time.time() if now is None else now
        )
        for name in cast("list[bytes]", over):
            workspace, document_id = name.decode().split(" ", 1)
            try:
                await self._library.delete(workspace, document_id)
            except LookupError:
                pass  # somebody deleted it before
            except (RedisError, IndexUnavailable):
                log.warning("attachment_not_deleted", document_id=document_id)
                continue
            await self._redis.zrem(keys.attachment_expiries(), name)

    async def sweeping(self) -> None:
        """Sweep now and then, until cancelled."""
        while True:
            try:
                await self.sweep()
            except Exception:
                log.exception("attachments_not_swept")
            await asyncio.sleep(SWEEP)


def _unread(name: str, message: str) -> str:
    return f"{name} can't be read: {message or 'it failed.'}"
