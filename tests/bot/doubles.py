"""A stand-in for ingest that keeps its promises and nothing more, and a library around it."""

from __future__ import annotations

import asyncio
import itertools
import os
import signal
from collections.abc import AsyncGenerator, Awaitable, Callable
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, cast

import numpy as np
from obstore.store import LocalStore
from redis.asyncio import Redis

from adapters.forms import Progress
from bot.files import Files
from bot.ingest_queue import IngestQueue
from bot.library import Library
from bot.records import Upload
from bot.tickets import Tickets
from bot.worker import Worker
from retrieval.documents import Chunk, DocumentMeta, ParsedDocument, Section, chunk_id
from retrieval.ingest.protocol import IngestProgress, Report, Unreadable
from tests.doubles.stored_index import SqliteIndex


@dataclass(frozen=True, slots=True)
class Result:
    parsed: ParsedDocument
    chunks: int
    languages: tuple[str, ...]
    warnings: tuple[str, ...]
    title: str


Hook = Callable[[DocumentMeta, str], Awaitable[None]]


class LineIngestor:
    """One chunk a line. The text itself says what goes wrong.

    A file that begins with `!reason` is unreadable for that reason, with `?` it raises a fault of ours,
    and with `*` it kills the process. `hook` is awaited at each stage with the stage's name.
    """

    def __init__(self, index: SqliteIndex, hook: Hook | None = None) -> None:
        self.index = index
        self.hook = hook
        self.begun: list[str] = []
        self.errors: list[Exception] = []

    async def _stage(self, meta: DocumentMeta, report: Report, stage: Any, done: int, total: int) -> None:
        await report(IngestProgress(stage=stage, done=done, total=total))
        if self.hook is not None:
            await self.hook(meta, stage)

    async def ingest(
        self, path: Path, meta: DocumentMeta, report: Report, *, parser: str | None = None
    ) -> Result:
        self.begun.append(meta.name)
        await self._stage(meta, report, "parsing", 0, 1)
        text = await asyncio.to_thread(path.read_text, "utf-8")
        if text.startswith("!"):
            raise Unreadable(cast("Any", text[1:].split()[0]))
        if text.startswith("?"):
            raise RuntimeError("a fault of ours")
        if text.startswith("*"):
            os.kill(os.getpid(), signal.SIGKILL)
        parsed = ParsedDocument(
            sections=(Section(markdown=text),),
            parser=f"{parser or 'lines'}/1",
            title=f"Title of {meta.name}",
        )
        return await self.ingest_parsed(parsed, meta, report)

    async def ingest_parsed(self, parsed: ParsedDocument, meta: DocumentMeta, report: Report) -> Result:
        lines = parsed.sections[0].markdown.splitlines()
        await self._stage(meta, report, "chunking", 0, len(lines))
        await self._stage(meta, report, "embedding", 0, len(lines))
        if self.errors:
            raise self.errors.pop(0)
        for ordinal, line in enumerate(lines):
            chunk = Chunk(
                chunk_id=chunk_id(meta.version_id, ordinal), meta=meta, ordinal=ordinal, text=line
            )
            await self.index.stage([chunk], np.zeros((1, 4), np.float32))
            await self._stage(meta, report, "indexing", ordinal + 1, len(lines))
        return Result(parsed, len(lines), ("en",), (), parsed.title or meta.title)


@dataclass
class House:
    """A library with everything that belongs to it, in a folder."""

    redis: Redis
    url: str
    folder: Path
    index: SqliteIndex = field(default_factory=SqliteIndex)
    lease_ms: int = 30_000
    concurrency: int = 2
    tick: float = 0.02
    max_bytes: int = 1_000_000

    def __post_init__(self) -> None:
        self._spooled = itertools.count()
        files = self.folder / "files"
        files.mkdir(parents=True, exist_ok=True)
        self.files = Files(LocalStore(files))
        self.ingestor = LineIngestor(self.index)
        self.queue = IngestQueue(self.redis, lease_ms=self.lease_ms)
        self.tickets = Tickets(self.url, concurrency=self.concurrency)
        self.library = Library(
            self.redis, self.files, self.index, wake=self.tickets.send, max_bytes=self.max_bytes
        )
        self.worker = Worker(self.library, self.queue, self.ingestor, self.tickets, tick=self.tick)

    @asynccontextmanager
    async def working(self) -> AsyncGenerator[None]:
        """A worker works. A context may be entered several times, one after the other."""
        self.worker = Worker(self.library, self.queue, self.ingestor, self.tickets, tick=self.tick)
        async with self.worker.running():
            yield

    def upload(self, text: str | bytes, name: str = "notes.md", **options: Any) -> Upload:
        path = self.folder / f"spool-{next(self._spooled)}"
        path.write_bytes(text.encode() if isinstance(text, str) else text)
        given: dict[str, Any] = {"workspace": "acme", "knowledge_base": "general", "uploader": "ada"}
        return Upload(path=path, name=name, **(given | options))

    async def accept(self, text: str | bytes, name: str = "notes.md", **options: Any) -> tuple[str, str]:
        """Document and version id of an accepted upload."""
        item = await self.library.accept(self.upload(text, name, **options))
        assert item.stage != "failed", item.message
        return item.document_id, item.version_id

    async def end_of(self, *version_ids: str) -> Progress:
        """Progress when all have finished."""
        last: Progress | None = None
        async with asyncio.timeout(30):
            async for progress in self.library.watch(version_ids):
                last = progress
        assert last is not None
        return last

    async def everything(self) -> str:
        """All that is stored anywhere, names included, to look for traces in."""
        found = [self.index.everything()]
        for key in await self.redis.keys("*"):
            kind = cast("bytes", await self.redis.type(key)).decode()
            reads: dict[str, Callable[[], Awaitable[object]]] = {
                "string": lambda key=key: self.redis.get(key),
                "hash": lambda key=key: self.redis.hgetall(key),
                "list": lambda key=key: self.redis.lrange(key, 0, -1),
                "set": lambda key=key: self.redis.smembers(key),
                "zset": lambda key=key: self.redis.zrange(key, 0, -1),
                "stream": lambda key=key: self.redis.xrange(key),
            }
            found.append(f"{key} {await reads[kind]()}")
        for path in (self.folder / "files").rglob("*"):
            found.append(f"{path} {path.read_bytes() if path.is_file() else ''}")
        return "\n".join(found)


async def until(condition: Callable[[], Any]) -> None:
    """Wait for something that happens without a message."""
    async with asyncio.timeout(20):
        while True:
            found = condition()
            if await found if asyncio.iscoroutine(found) else found:
                return
            await asyncio.sleep(0.005)
