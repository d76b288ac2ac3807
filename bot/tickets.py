"""The task queue that wakes workers: taskiq on a Redis stream.

taskiq because it runs inside our own event loop, has a Redis broker that accepts redis-py 8 and
speaks through that same client, and acknowledges a task only after it was done. A task here is a
ticket without contents: "there may be a version to ingest". Which one, and that no version is lost or
worked twice, is up to `bot.ingest_queue`, because a stream is first come, first served, hands a long
task to a second worker once it has been idle for a while, and looks for abandoned tasks only when a
new one arrives.
"""

from __future__ import annotations

import asyncio
import contextlib
import os
import socket
from collections.abc import AsyncGenerator, Awaitable, Callable
from typing import Any, Final

import structlog
from redis.asyncio import Redis
from redis.exceptions import RedisError
from taskiq.exceptions import SendTaskError
from taskiq.receiver import Receiver
from taskiq_redis import RedisStreamBroker

from bot import keys
from bot.state import CONNECTION

log = structlog.get_logger()

GROUP: Final = "footnote"
TASK: Final = "footnote.ingest"
#: Entries kept. Losing one costs nothing, since workers look for work by themselves too.
MAX_TICKETS: Final = 1000
SEND_TIMEOUT: Final = 10.0
SEND_INTERVAL: Final = 0.1
#: Milliseconds to wait for an entry, in one call.
BLOCK_MS: Final = 5000
#: Milliseconds after which another worker takes over a ticket.
IDLE_MS: Final = 60_000


class Tickets:
    """`url` is that of the state store."""

    def __init__(self, url: str, *, concurrency: int) -> None:
        self._work: Callable[[], Awaitable[None]] | None = None
        self.concurrency = concurrency
        self._sent = float("-inf")
        self._consumer = f"{socket.gethostname()}-{os.getpid()}"
        # Without a timeout, because with one a write may swallow the cancellation that ends the listener
        # (see `bot.tasks`). Keep-alive finds a server that is gone.
        connection: dict[str, Any] = CONNECTION | {"socket_timeout": None}
        self._broker = RedisStreamBroker(
            url,
            queue_name=keys.tickets(),
            consumer_group_name=GROUP,
            consumer_name=self._consumer,
            # From the beginning: what was sent before the first worker came counts too.
            consumer_id="0",
            maxlen=MAX_TICKETS,
            xread_block=BLOCK_MS,
            xread_count=concurrency,
            idle_timeout=IDLE_MS,
            unacknowledged_lock_timeout=10.0,
            # The listener keeps one; sending and acknowledging take turns with the rest.
            max_connection_pool_size=4 + concurrency,
            **connection,
        )

        async def ingest() -> None:  # taskiq renames what it registers, so no method
            if self._work is not None:
                await self._work()

        self._task = self._broker.register_task(ingest, task_name=TASK)

    @contextlib.asynccontextmanager
    async def opened(self) -> AsyncGenerator[None]:
        await self._broker.startup()
        try:
            yield
        finally:
            await self._broker.shutdown()

    async def send(self) -> None:
        """Wake a worker. If that fails, a worker sees by itself that there is something to do.

        One of many in a row is enough, since a worker goes on until nothing waits.
        """
        now = asyncio.get_running_loop().time()
        if now - self._sent < SEND_INTERVAL:
            return
        self._sent = now
        try:
            async with asyncio.timeout(SEND_TIMEOUT):
                await self._task.kiq()
        except (SendTaskError, TimeoutError) as error:
            log.warning("ticket_not_sent", error=type(error.__cause__ or error).__name__)

    async def serve(self, work: Callable[[], Awaitable[None]], stop: asyncio.Event) -> None:
        """Do `work` for each ticket, at most `concurrency` at once, until `stop`; then wait for them."""
        self._work = work
        receiver = Receiver(
            self._broker, max_async_tasks=self.concurrency, run_startup=False, validate_params=False
        )
        while not stop.is_set():
            try:
                await receiver.listen(stop)
            except Exception as error:
                # taskiq's own loop would try again at once, and fill the log while Redis is away.
                log.warning("tickets_interrupted", error=type(error).__name__)
                with contextlib.suppress(TimeoutError):
                    await asyncio.wait_for(stop.wait(), 1.0)
                with contextlib.suppress(RedisError):
                    await self._broker.startup()
        async with Redis(connection_pool=self._broker.connection_pool) as redis:
            with contextlib.suppress(RedisError):
                await redis.xgroup_delconsumer(keys.tickets(), GROUP, self._consumer)
