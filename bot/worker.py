"""Works the ingest queue: inside the owner of a data folder, or as `kb worker` beside a server."""

from __future__ import annotations

import asyncio
import contextlib
import time
from collections.abc import AsyncGenerator
from typing import Final, cast

import structlog
from redis.exceptions import RedisError

from bot import keys
from bot.failures import delay
from bot.ingest_queue import Cancelled, IngestQueue, Lease, LeaseLost
from bot.ingestion import Ingestion, Ingests
from bot.library import Library
from bot.tasks import end
from bot.tickets import Tickets
from retrieval.index.protocol import IndexUnavailable

log = structlog.get_logger()

#: Seconds between looks for leases that ran out and delays that are over.
TICK: Final = 1.0
#: Seconds between tries to finish deletions and changes of labels that were interrupted.
PENDING_INTERVAL: Final = 60.0


class Worker:
    """Any number of these may work on one queue, each with its own `tickets`."""

    def __init__(
        self,
        library: Library,
        queue: IngestQueue,
        ingestor: Ingests,
        tickets: Tickets,
        *,
        tick: float = TICK,
    ) -> None:
        self._library = library
        self._queue = queue
        self._ingestion = Ingestion(library, queue, ingestor)
        self._tickets = tickets
        self._tick = tick
        self._stopping = asyncio.Event()
        #: What is being worked here: to wake its heartbeat, and to wait for it.
        self._jobs: dict[str, tuple[asyncio.Event, asyncio.Task[None]]] = {}

    @contextlib.asynccontextmanager
    async def running(self) -> AsyncGenerator[None]:
        """Works while the context is open. What is unfinished then is given back at once."""
        tasks = [
            asyncio.create_task(self._tickets.serve(self._drain, self._stopping), name="ingest-tickets"),
            asyncio.create_task(self._tend(), name="ingest-tend"),
            asyncio.create_task(self._finish_pending(), name="ingest-pending"),
            asyncio.create_task(self._hear_cancellations(), name="ingest-cancellations"),
        ]
        try:
            yield
        finally:
            self._stopping.set()
            await end(*tasks[1:], *(job for _, job in self._jobs.values()))
            await asyncio.wait([tasks[0]])

    async def _drain(self) -> None:
        """Work versions until none is left: so one ticket is enough for any number of them."""
        while not self._stopping.is_set():
            try:
                lease = await self._queue.take()
            except RedisError as error:
                log.warning("ingest_take_failed", error=type(error).__name__)
                return  # `_tend` sends a ticket when the store is back
            if lease is None:
                return
            if earlier := self._jobs.get(lease.version_id):
                # Our own lease ran out, for instance while the machine slept.
                await end(earlier[1])
            poke = asyncio.Event()
            job = asyncio.create_task(self._job(lease, poke), name=f"ingest-{lease.version_id}")
            self._jobs[lease.version_id] = (poke, job)
            await asyncio.wait([job])
            if self._jobs.get(lease.version_id) == (poke, job):
                del self._jobs[lease.version_id]

    async def _job(self, lease: Lease, poke: asyncio.Event) -> None:
        """Work one version with a heartbeat beside it. Raises nothing but its own cancellation."""
        over = asyncio.Event()
        try:
            try:
                async with asyncio.TaskGroup() as group:
                    group.create_task(self._heartbeat(lease, poke, over))
                    await self._ingestion.run(lease)
                    over.set()
                    poke.set()
            except ExceptionGroup as errors:
                raise errors.exceptions[0] from None
        except asyncio.CancelledError:
            with contextlib.suppress(RedisError):
                await self._queue.give_back(lease)
            raise
        except Cancelled:
            await self._clean_up(lease)
        except LeaseLost:
            log.warning("ingest_lease_lost", version_id=lease.version_id)
            with contextlib.suppress(RedisError, IndexUnavailable):  # `reconcile` does it then
                await self._ingestion.lost(lease)
        except Exception as error:
            await self._trouble(lease, error)

    async def _heartbeat(self, lease: Lease, poke: asyncio.Event, over: asyncio.Event) -> None:
        """Renew the lease now and then, and when poked, until the work is over.

        Raises `LeaseLost` or `Cancelled`, which stops the work.
        """
        held_until = time.monotonic() + self._queue.lease_ms / 1000
        while True:
            with contextlib.suppress(TimeoutError):
                await asyncio.wait_for(poke.wait(), self._queue.lease_ms / 3000)
            if over.is_set():
                return
            poke.clear()
            asked = time.monotonic()
            try:
                await self._queue.renew(lease)
                held_until = asked + self._queue.lease_ms / 1000
            except (Cancelled, LeaseLost):
                if over.is_set():
                    return
                raise
            except RedisError as error:
                if time.monotonic() > held_until:
                    raise LeaseLost(lease.version_id) from error

    async def _clean_up(self, lease: Lease) -> None:
        try:
            await self._ingestion.cancelled(lease)
        except LeaseLost:
            pass
        except Exception as error:
            await self._trouble(lease, error)

    async def _trouble(self, lease: Lease, error: Exception) -> None:
        """It could not even be put off or cleaned up: once more, later."""
        log.error("ingest_interrupted", version_id=lease.version_id, exc_info=error)
        with contextlib.suppress(RedisError):  # then the lease runs out
            delay_ms = round(delay(lease.retries) * 1000)
            await self._queue.give_back(lease, delay_ms=delay_ms, retried=True)

    async def _tend(self) -> None:
        """Queue again what was left behind, and see that waiting versions get a ticket."""
        while True:
            try:
                await self._queue.recover()
                if len(self._jobs) < self._tickets.concurrency and await self._queue.waiting():
                    await self._tickets.send()
            except RedisError as error:
                log.warning("ingest_tend_failed", error=type(error).__name__)
            await asyncio.sleep(self._tick)

    async def _finish_pending(self) -> None:
        while True:
            await asyncio.sleep(PENDING_INTERVAL)
            try:
                await self._library.finish_pending()
            except Exception as error:
                log.warning("pending_work_failed", error=type(error).__name__)

    async def _hear_cancellations(self) -> None:
        """Wake the heartbeat of a version that shall stop. What is missed here, it sees by itself."""
        while True:
            try:
                async with contextlib.aclosing(self._library.redis.pubsub()) as channel:
                    await channel.subscribe(keys.cancellations())
                    async for message in channel.listen():
                        if message["type"] == "message" and (
                            job := self._jobs.get(cast("bytes", message["data"]).decode())
                        ):
                            job[0].set()
            except RedisError as error:
                log.warning("ingest_cancellations_interrupted", error=type(error).__name__)
                await asyncio.sleep(self._tick)
