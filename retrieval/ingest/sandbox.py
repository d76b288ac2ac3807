"""Parsing in worker processes: what a file does to its parser, it does to that process alone."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Awaitable, Callable, Coroutine
from pathlib import Path
from typing import Any, TypeVar

from retrieval.documents import ParsedDocument
from retrieval.ingest.limits import MIB, ParseLimits
from retrieval.ingest.parse.registry import parsers_for_name
from retrieval.ingest.protocol import Unreadable
from retrieval.ingest.sandbox_process import WorkerDied, WorkerProcess
from retrieval.pages.marks import Box

T = TypeVar("T")


class PoolClosed(RuntimeError):
    """The pool was closed before or while the file was parsed."""


class ParserPool:
    """Parses each file in a process of its own, with limits on time, memory, output and pages.

    Processes are started when needed, are used again while warm, and end when idle for `idle_seconds`,
    after `files_per_worker` files, or when one holds more than `recycle_mb` MiB between two files. An idle
    pool has none. A process that hangs, aborts or takes too much fails its own file only.
    """

    def __init__(
        self,
        limits: ParseLimits | None = None,
        workers: int = 2,
        *,
        idle_seconds: float = 30.0,
        files_per_worker: int = 500,
        recycle_mb: int = 400,
    ) -> None:
        if workers < 1:
            raise ValueError("a pool needs at least one worker")
        self.limits = limits or ParseLimits()
        self._idle_seconds = idle_seconds
        self._files_per_worker = files_per_worker
        self._recycle_mb = recycle_mb
        self._turns = asyncio.Semaphore(workers)
        #: Waiting workers, the last used one last, with the timers that end them.
        self._idle: list[tuple[WorkerProcess, asyncio.TimerHandle]] = []
        self._busy: set[WorkerProcess] = set()
        self._ending: set[asyncio.Task[None]] = set()
        self._closed = False

    async def parse(self, path: Path, name: str, *, parser: str | None = None) -> ParsedDocument:
        """The sections of the file at `path`, whose `name` tells its kind where its content doesn't.

        `parser` is one of `parsers_for(name)`; one that can't read this file's content gives way to the
        usual one. Raises `Unreadable`, and `OSError` when the file is not there.
        """
        size = (await asyncio.to_thread(path.stat)).st_size
        if size > self.limits.max_file_bytes:
            raise Unreadable("too_large", f"{size // MIB} MiB")
        return await self._in_worker(lambda worker: worker.parse(path, name, parser))

    async def page_image(self, path: Path, page: int, *, width: int) -> bytes:
        """PNG of a page of a PDF, counted from 1. Raises `Unreadable`, also where there is no such page."""
        return await self._in_worker(lambda worker: worker.look(path, {"page": page, "width": width}))

    async def locate(self, path: Path, page: int, quote: str) -> list[Box]:
        """Where a quote stands on a page of a PDF, a box a line. Raises `Unreadable`."""
        found = await self._in_worker(lambda worker: worker.look(path, {"page": page, "quote": quote}))
        return [Box(*box) for box in json.loads(found)]

    async def _in_worker(self, work: Callable[[WorkerProcess], Awaitable[T]]) -> T:
        """Do `work` in one of the processes, within the limits.

        A process that dies for no known reason may have been killed from outside, so the file gets a
        second one before it is held to be damaged.
        """
        async with self._turns:
            try:
                return await self._once(work)
            except WorkerDied as death:
                if death.out_of_memory:
                    raise Unreadable("too_large", str(death)) from death
            try:
                return await self._once(work)
            except WorkerDied as death:
                raise Unreadable("too_large" if death.out_of_memory else "corrupt", str(death)) from death

    async def _once(self, work: Callable[[WorkerProcess], Awaitable[T]]) -> T:
        """Raises `WorkerDied` too."""
        worker = await self._take()
        try:
            async with asyncio.timeout(self.limits.seconds):
                result = await work(worker)
        except Unreadable:
            self._give_back(worker)
            raise
        except WorkerDied as death:
            self._end(worker, worker.kill())
            if self._closed:
                raise PoolClosed from death
            raise
        except TimeoutError as error:
            self._end(worker, worker.kill())
            raise Unreadable("timeout", f"{self.limits.seconds:g} s") from error
        except BaseException:
            self._end(worker, worker.kill())
            raise
        self._give_back(worker)
        return result

    def parsers_for(self, name: str) -> list[str]:
        """Names of the parsers that a file of this name can be parsed with, the usual one first."""
        return list(parsers_for_name(name))

    async def warm(self) -> None:
        """Has one worker ready with the usual parsers, so that the next file need not wait for it."""
        if self._idle or self._turns.locked():
            return
        async with self._turns:
            worker = await self._take()
            try:
                await worker.warm()
            except BaseException:
                self._end(worker, worker.kill())
                raise
            self._give_back(worker)

    async def aclose(self) -> None:
        """Ends all workers; files in work fail with `PoolClosed`."""
        self._closed = True
        for worker, timer in self._idle:
            timer.cancel()
            self._end(worker, worker.close())
        self._idle = []
        for worker in list(self._busy):
            self._end(worker, worker.kill())
        while self._ending:
            await asyncio.gather(*self._ending, return_exceptions=True)

    async def __aenter__(self) -> ParserPool:
        return self

    async def __aexit__(self, *exc: object) -> None:
        await self.aclose()

    async def _take(self) -> WorkerProcess:
        if self._closed:
            raise PoolClosed
        worker: WorkerProcess | None = None
        while self._idle and worker is None:
            candidate, timer = self._idle.pop()
            timer.cancel()
            if candidate.usable:
                worker = candidate
        worker = worker or await WorkerProcess.start(self.limits)
        self._busy.add(worker)
        return worker

    def _give_back(self, worker: WorkerProcess) -> None:
        self._busy.discard(worker)
        spent = worker.files >= self._files_per_worker or worker.memory_mb() > self._recycle_mb
        if self._closed or spent or not worker.usable:
            self._end(worker, worker.close())
            return
        timer = asyncio.get_running_loop().call_later(self._idle_seconds, self._retire, worker)
        self._idle.append((worker, timer))

    def _retire(self, worker: WorkerProcess) -> None:
        self._idle = [(other, timer) for other, timer in self._idle if other is not worker]
        self._end(worker, worker.close())

    def _end(self, worker: WorkerProcess, ending: Coroutine[Any, Any, None]) -> None:
        """Ends a worker behind the caller's back; `aclose` waits for it."""
        self._busy.discard(worker)
        task = asyncio.create_task(ending)
        self._ending.add(task)
        task.add_done_callback(self._ending.discard)
