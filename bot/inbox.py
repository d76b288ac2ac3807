"""Durable work of the adapters. Implements the port `Inbox`.

Everything is in Redis structures that change in one step each: an event is remembered and queued by the
same call, so a process that dies in between can't lose it. Work is queued in lanes; whoever works a lane
leases it, so that what is in one lane is done in order and one at a time. A lease that ran out goes back.
"""

from __future__ import annotations

import asyncio
import time
from collections.abc import AsyncGenerator, Awaitable, Callable
from contextlib import AbstractAsyncContextManager, aclosing, asynccontextmanager, suppress
from dataclasses import dataclass
from typing import Final, cast
from uuid import uuid4

import structlog
from redis.asyncio import Redis
from redis.exceptions import RedisError

from adapters.durable import Incoming
from bot import inbox_scripts as scripts
from bot import keys
from bot.tasks import end

log = structlog.get_logger()

#: Times that one piece of work is begun at most.
MAX_STARTS: Final = 9
#: Seconds that a lane is held without being renewed.
LEASE: Final = 30.0
#: Seconds for which a name is remembered: longer than any platform resends.
REMEMBER: Final = 3 * 24 * 3600
#: Seconds between looks for what another process accepted or left behind.
TICK: Final = 1.0
#: Seconds before work that failed is begun again: 1, 4, 16, ... and at most 5 minutes; 20 in all.
_FIRST_DELAY: Final = 1.0
_LONGEST_DELAY: Final = 300.0

Handler = Callable[[Incoming], Awaitable[None]]


@dataclass(frozen=True, slots=True)
class _Taken:
    incoming: Incoming
    token: str


class InboxStore:
    """Any number of processes may accept and work."""

    def __init__(self, redis: Redis, *, lease: float = LEASE, tick: float = TICK) -> None:
        self._redis, self._lease, self._tick = redis, lease, tick
        self._accept = redis.register_script(scripts.ACCEPT)
        self._take = redis.register_script(scripts.TAKE)
        self._finish = redis.register_script(scripts.FINISH)
        self._release = redis.register_script(scripts.RELEASE)
        self._renew = redis.register_script(scripts.RENEW)
        self._cancel = redis.register_script(scripts.CANCEL)
        #: By platform: something may be there to take.
        self._wakes: dict[str, asyncio.Event] = {}
        #: What is worked here, by platform and id.
        self._working: dict[tuple[str, str], asyncio.Task[None]] = {}

    async def accept(self, incoming: Incoming) -> bool:
        names = [keys.inbox(incoming.platform, f"seen:{name}") for name in incoming.names]
        accepted = await self._accept(
            keys=[*self._keys(incoming.platform), self._list(incoming.platform, incoming.lane), *names],
            args=[incoming.id, incoming.lane, incoming.model_dump_json(exclude={"starts"}), REMEMBER],
        )
        if accepted:
            self._wake(incoming.platform).set()
        return bool(accepted)

    async def cancel(self, platform: str, lane: str, incoming_id: str) -> None:
        await self._cancel(
            keys=[*self._keys(platform), self._list(platform, lane)],
            args=[incoming_id, lane, keys.inbox(platform, "cancellations")],
        )

    async def adopt(self) -> None:
        """Take over at once what a dead process held: only where no other process can be at work."""
        async for leases in self._redis.scan_iter(match=keys.inbox("*", "leases")):
            held = cast("list[bytes]", await self._redis.zrange(leases, 0, -1))
            await self._redis.zadd(leases, dict.fromkeys(cast("list[str]", held), 0))

    async def waiting(self, platform: str) -> int:
        """How much is queued or being worked."""
        return await self._redis.hlen(keys.inbox(platform, "items"))

    def serve(
        self, platform: str, handle: Handler, *, concurrency: int = 16
    ) -> AbstractAsyncContextManager[None]:
        return self._serving(platform, handle, concurrency)

    # -- working -------------------------------------------------------------------------------

    @asynccontextmanager
    async def _serving(self, platform: str, handle: Handler, concurrency: int) -> AsyncGenerator[None]:
        tasks = [
            asyncio.create_task(self._dispatch(platform, handle, concurrency), name=f"{platform}-inbox"),
            asyncio.create_task(self._hear_cancellations(platform), name=f"{platform}-cancellations"),
        ]
        try:
            yield
        finally:
            await end(*tasks)
            await end(*(task for (of, _), task in self._working.items() if of == platform))

    async def _dispatch(self, platform: str, handle: Handler, concurrency: int) -> None:
        room = asyncio.Semaphore(concurrency)
        wake = self._wake(platform)

        def over(task: asyncio.Task[None]) -> None:
            self._working = {key: other for key, other in self._working.items() if other is not task}
            room.release()
            wake.set()

        while True:
            await room.acquire()
            wake.clear()
            try:
                taken = await self._next(platform)
            except RedisError as error:
                log.warning("inbox_take_failed", platform=platform, error=type(error).__name__)
                taken = None
            except BaseException:
                room.release()
                raise
            if taken is None:
                room.release()
                with suppress(TimeoutError):
                    await asyncio.wait_for(wake.wait(), self._tick)
                continue
            task = asyncio.create_task(self._work(taken, handle), name=f"{platform}-{taken.incoming.id}")
            self._working[platform, taken.incoming.id] = task
            task.add_done_callback(over)

    async def _next(self, platform: str) -> _Taken | None:
        token = uuid4().hex
        found = cast(
            "list[bytes] | None",
            await self._take(
                keys=self._keys(platform),
                args=[keys.inbox(platform, "lane:"), token, round(self._lease * 1000)],
            ),
        )
        if not found:
            return None
        incoming = Incoming.model_validate_json(found[0])
        return _Taken(incoming.model_copy(update={"starts": int(found[1])}), token)

    async def _work(self, taken: _Taken, handle: Handler) -> None:
        """Work one and end it, given back, or done. Raises nothing but its own cancellation."""
        incoming = taken.incoming
        with structlog.contextvars.bound_contextvars(turn=incoming.id):
            heartbeat = asyncio.create_task(self._heartbeat(taken, asyncio.current_task()))
            began = time.monotonic()
            try:
                await handle(incoming)
            except asyncio.CancelledError:
                if not await self._end_cancelled(taken):
                    raise
            except Exception:
                last = incoming.starts >= MAX_STARTS
                log.exception("inbox_handler_failed", kind=incoming.kind, starts=incoming.starts, last=last)
                with suppress(RedisError):  # else the lease runs out
                    if last:
                        await self._done(taken)
                    else:
                        delay = min(_FIRST_DELAY * 4 ** (incoming.starts - 1), _LONGEST_DELAY)
                        await self._give_back(taken, delay)
            else:
                log.debug("inbox_done", kind=incoming.kind, ms=round((time.monotonic() - began) * 1000))
                await self._end_surely(taken)
            finally:
                await end(heartbeat)

    async def _end_cancelled(self, taken: _Taken) -> bool:
        """After a cancellation: True if it was asked for by `cancel`, so that the work is over. Else this
        process stops, and the work is given back."""
        cancelled = keys.inbox(taken.incoming.platform, "cancelled")
        with suppress(RedisError):  # else the lease runs out
            if await self._redis.hexists(cancelled, taken.incoming.id):
                await self._done(taken)
                return True
            await self._give_back(taken, 0)
        return False

    async def _end_surely(self, taken: _Taken) -> None:
        """What is done must not be begun again because Redis was away for a moment."""
        for pause in (0.1, 0.5, 2.0, 5.0):
            try:
                await self._done(taken)
                return
            except RedisError as error:
                log.warning("inbox_done_failed", error=type(error).__name__)
                await asyncio.sleep(pause)

    async def _done(self, taken: _Taken) -> None:
        incoming = taken.incoming
        await self._finish(
            keys=[*self._keys(incoming.platform), self._list(incoming.platform, incoming.lane)],
            args=[incoming.id, incoming.lane, taken.token],
        )

    async def _give_back(self, taken: _Taken, delay: float) -> None:
        await self._release(
            keys=self._keys(taken.incoming.platform),
            args=[taken.incoming.lane, taken.token, round(delay * 1000)],
        )

    async def _heartbeat(self, taken: _Taken, work: asyncio.Task[None] | None) -> None:
        """Renew the lease. Stops the work when the lease is another's, or when it was cancelled."""
        incoming = taken.incoming
        while True:
            await asyncio.sleep(self._lease / 3)
            try:
                held = await self._renew(
                    keys=self._keys(incoming.platform),
                    args=[incoming.id, incoming.lane, taken.token, round(self._lease * 1000)],
                )
            except RedisError as error:
                log.warning("inbox_renew_failed", error=type(error).__name__)
                continue
            if not held and work is not None:
                work.cancel()
                return

    async def _hear_cancellations(self, platform: str) -> None:
        """What is missed here, the heartbeat sees."""
        while True:
            try:
                async with aclosing(self._redis.pubsub()) as channel:
                    await channel.subscribe(keys.inbox(platform, "cancellations"))
                    async for message in channel.listen():
                        if message["type"] == "message" and (
                            task := self._working.get((platform, cast("bytes", message["data"]).decode()))
                        ):
                            task.cancel()
            except RedisError as error:
                log.warning("inbox_cancellations_interrupted", error=type(error).__name__)
                await asyncio.sleep(self._tick)

    # -- names ---------------------------------------------------------------------------------

    def _wake(self, platform: str) -> asyncio.Event:
        return self._wakes.setdefault(platform, asyncio.Event())

    def _keys(self, platform: str) -> list[str]:
        parts = ("ready", "leases", "tokens", "items", "starts", "cancelled")
        return [keys.inbox(platform, part) for part in parts]

    def _list(self, platform: str, lane: str) -> str:
        return keys.inbox(platform, f"lane:{lane}")
