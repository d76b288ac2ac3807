"""Runs the ingest worker, exchanges the index, and examines the house: the port `Admin`."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from contextlib import AsyncExitStack

import structlog

from adapters.ports import Refused
from bot.admin import Check, ReindexProgress
from bot.config import Config
from bot.doctor import examine_app
from bot.engine import Engine
from bot.ingest_queue import IngestQueue
from bot.library import Library
from bot.reindex import rebuild
from bot.state import State
from bot.tickets import Tickets
from bot.worker import Worker
from bot.workspaces import WorkspaceBook
from retrieval.index.protocol import VectorIndex
from retrieval.ingest.ingestor import Ingestor
from retrieval.ingest.sandbox import ParserPool
from retrieval.ingest.summary import ExtractiveSummariser, LlmSummariser, Summariser

log = structlog.get_logger()


class Superintendent:
    def __init__(
        self,
        config: Config,
        state: State,
        engine: Engine,
        *,
        library: Library,
        queue: IngestQueue,
        parsers: ParserPool,
        tickets: Tickets,
        workspaces: WorkspaceBook,
    ) -> None:
        self._config, self._state, self._engine = config, state, engine
        self._library, self._queue, self._parsers = library, queue, parsers
        self._tickets, self._workspaces = tickets, workspaces
        self._working: AsyncExitStack | None = None
        self._rebuilding = asyncio.Lock()

    # -- the worker ----------------------------------------------------------------------------

    async def start(self) -> None:
        """Work on documents until `stop`."""
        if self._working is None:
            stack = AsyncExitStack()
            worker = Worker(self._library, self._queue, self._ingestor(self._engine.index), self._tickets)
            await stack.enter_async_context(worker.running())
            self._working = stack

    async def stop(self) -> bool:
        """Give back what is being worked; whether anything was running."""
        stack, self._working = self._working, None
        if stack is None:
            return False
        await stack.aclose()
        return True

    def _ingestor(self, index: VectorIndex) -> Ingestor:
        summariser: Summariser | None = None
        if self._config.feature_flag_doc_summaries:
            model = self._engine.roles.summary
            summariser = LlmSummariser(model) if model else ExtractiveSummariser()
        return Ingestor(self._parsers, self._engine.roles.embedder, index, summariser)

    # -- the port `Admin` ----------------------------------------------------------------------

    async def workspaces(self) -> list[str]:
        return await self._workspaces.all()

    async def doctor(self, workspace: str) -> list[Check]:
        return await examine_app(self._config, self._engine, self._state, self._library, workspace)

    async def reindex(self) -> AsyncIterator[ReindexProgress]:
        if self._rebuilding.locked():
            raise Refused("A rebuild is under way already.")
        async with self._rebuilding:
            updates: asyncio.Queue[ReindexProgress | None] = asyncio.Queue()
            work = asyncio.create_task(self._rebuild(updates))
            work.add_done_callback(lambda _: updates.put_nowait(None))
            try:
                while (update := await updates.get()) is not None:
                    yield update
                await work
            finally:
                work.cancel()
                await asyncio.wait([work])

    async def _rebuild(self, updates: asyncio.Queue[ReindexProgress | None]) -> None:
        """Fill a new index while the old one answers, then change over in one step."""

        async def report(done: int, total: int) -> None:
            updates.put_nowait(ReindexProgress(done=done, total=total))

        engine, generations = self._engine, self._engine.generations
        old = engine.index
        new = old if engine.stale else await generations.begin(engine.fingerprint)
        ingestor = self._ingestor(new)
        try:
            first = await rebuild(self._library, ingestor, new, report)
            await self.stop()
            try:
                last = await rebuild(self._library, ingestor, new, report)  # what was added meanwhile
                await new.optimize()
                await generations.switch(new)
                self._library.use_index(new)
                engine.use_index(new)
            finally:
                await self.start()
        except BaseException:
            if new is not engine.index:
                await new.close()
            raise
        if old is not new:
            await old.close()
        await generations.prune()
        failed = [*first.failed, *last.failed]
        done = first.documents + last.documents
        log.info("reindexed", documents=done, failed=len(failed))
        updates.put_nowait(
            ReindexProgress(done=done + len(failed), total=done + len(failed), failed=len(failed))
        )
