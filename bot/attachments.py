"""Files attached to a question: read for that thread alone, and deleted after the retention time.

They are documents like others, but their only audience is the thread, so no other scope finds them; their
uploader sees them in the list. They stand in a knowledge base of their own that nobody can choose.
"""

from __future__ import annotations

import asyncio
import time
from collections.abc import AsyncIterator, Awaitable
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Final, cast

import structlog
from redis.asyncio import Redis
from redis.exceptions import RedisError

from adapters.conversation import Turn, UploadedFile, Working
from adapters.forms import ProgressItem
from bot import keys
from bot.access import person_key
from bot.catalogue import texts
from bot.files import StorageError
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
#: Files of a thread, the newest first, that "this file" in a follow-up may mean.
_RECENT: Final = 10


@dataclass(frozen=True, slots=True)
class Attached:
    """What a thread has. `versions`: see `Question.attached`; `now`: they came with this turn."""

    scope: Scope
    versions: tuple[str, ...]
    now: bool


class Attachments:
    """Whom files are for:

    - Those of a question in a thread: everybody who reads the thread, so follow-ups of others find them.
    - Those of a question whose reply only the asker sees: the asker alone, in this thread alone.
    - A reply that only the asker sees may use both: who asks in a thread reads it.
    """

    def __init__(self, redis: Redis, library: Library, *, patience: float = PATIENCE) -> None:
        self._redis, self._library, self._patience = redis, library, patience

    async def add(self, turn: Turn, *, days: int, notes: list[str]) -> AsyncIterator[Working]:
        """Read the turn's files. What could not be read is told in `notes`.

        The same turn again, after a kill at any point, adds nothing: each file is remembered by turn and
        place, and where that was not yet written, recognised by its content and its thread.
        """
        waiting: dict[str, str] = {}
        for place, file in enumerate(turn.files):
            yield Working(kind="reading", text=f"Reading {file.name}", count=1)
            item = await self._take(turn, place, file, days * 24 * 3600)
            if item.stage == "failed":
                notes.append(_unread(file.name, item.message))
            elif not item.finished:
                waiting[item.version_id] = file.name
        notes += await self._done(waiting)

    async def _take(self, turn: Turn, place: int, file: UploadedFile, seconds: int) -> ProgressItem:
        mine = keys.turn_attachments(turn.id)
        known = await cast("Awaitable[bytes | None]", self._redis.hget(mine, str(place)))
        version = await self._library.catalogue.version(known.decode()) if known else None
        if version is not None:
            return version.item()
        audience = _written_for(turn)
        expires = time.time() + seconds
        item = await self._library.accept(
            Upload(
                workspace=turn.workspace,
                knowledge_base=ATTACHED,
                path=file.path,
                name=file.name,
                media_type=file.media_type or "application/octet-stream",
                uploader=person_key((turn.conversation, turn.asker)),
                audience=(audience,),
                source_url=file.permalink,
                keep_both=True,
                expires_at=datetime.fromtimestamp(expires, UTC),
            )
        )
        if item.stage == "failed":  # refused: there is no document
            return item
        thread = keys.attachments(turn.workspace, audience)
        async with self._redis.pipeline(transaction=True) as pipe:
            pipe.hset(mine, str(place), item.version_id)
            pipe.expire(mine, seconds)
            pipe.zadd(thread, {item.document_id: time.time()})
            pipe.expire(thread, seconds)
            # A file that was there already starts its time anew.
            pipe.zadd(keys.expiries(), {f"{turn.workspace} {item.document_id}": expires})
            await pipe.execute()
        return item

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

    async def of(self, turn: Turn) -> Attached | None:
        """What the turn may use; None where its thread has no files."""
        readers = _read_by(turn)
        threads = [keys.attachments(turn.workspace, audience) for audience in readers]
        found: list[tuple[float, str]] = []
        for thread in threads:
            newest = cast(
                "list[tuple[bytes, float]]",
                await self._redis.zrange(thread, 0, _RECENT - 1, desc=True, withscores=True),
            )
            found += [(at, document.decode()) for document, at in newest]
        if not found:
            return None
        scope = Scope(workspace=turn.workspace, audience=frozenset(readers))
        if turn.files and (versions := await self._of_turn(turn)):
            return Attached(scope, versions, now=True)
        recent = [document for _, document in sorted(found, reverse=True)[:_RECENT]]
        return Attached(scope, await self._searched(turn.workspace, recent), now=False)

    async def _of_turn(self, turn: Turn) -> tuple[str, ...]:
        """Versions of the turn's own files that can be searched, in their order."""
        mine = keys.turn_attachments(turn.id)
        places = await cast("Awaitable[dict[bytes, bytes]]", self._redis.hgetall(mine))
        ids = [places[place].decode() for place in sorted(places, key=int)]
        versions = await self._library.catalogue.versions(ids)
        documents = [versions[one].meta.document_id for one in ids if one in versions]
        return await self._searched(turn.workspace, documents)

    async def _searched(self, workspace: str, documents: list[str]) -> tuple[str, ...]:
        found = [
            await self._library.catalogue.document(workspace, document)
            for document in dict.fromkeys(documents)
        ]
        return tuple(one.current.meta.version_id for one in found if one is not None and one.current)

    # -- the end of their time ------------------------------------------------------------------

    async def sweep(self, now: float | None = None) -> None:
        """Delete the documents whose time is over."""
        moment = time.time() if now is None else now
        over = await self._redis.zrangebyscore(keys.expiries(), "-inf", moment)
        for name in texts(over):
            workspace, document_id = name.split(" ", 1)
            try:
                await self._library.delete(workspace, document_id)
            except LookupError:
                pass  # somebody deleted it before
            except (RedisError, IndexUnavailable, StorageError):
                log.warning("attachment_not_deleted", document_id=document_id, exc_info=True)
                continue
            await self._redis.zrem(keys.expiries(), name)

    async def sweeping(self) -> None:
        """Sweep now and then, until cancelled."""
        while True:
            try:
                await self.sweep()
            except Exception:
                log.exception("attachments_not_swept")
            await asyncio.sleep(SWEEP)


def _written_for(turn: Turn) -> str:
    """The audience of files that come with the turn: never more people than read its reply."""
    alone = turn.private and turn.conversation.kind != "direct"
    reader = person_key((turn.conversation, turn.asker)) if alone else None
    return thread_audience(turn.conversation.key, reader)


def _read_by(turn: Turn) -> list[str]:
    """The audiences whose files the reply may use."""
    return sorted({thread_audience(turn.conversation.key), _written_for(turn)})


def _unread(name: str, message: str) -> str:
    return f"{name} can't be read: {message or 'it failed.'}"
