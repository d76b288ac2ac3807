"""The inbox on a real Valkey: accepted once, worked in order, begun until it ends."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable

import pytest
from redis.asyncio import Redis

from adapters.durable import Incoming
from bot.inbox import MAX_STARTS, InboxStore


def event(number: int, *, lane: str = "C1", names: tuple[str, ...] = ()) -> Incoming:
    return Incoming(
        id=f"i{number}",
        platform="slack",
        lane=lane,
        names=names or (f"n{number}",),
        kind="message",
        payload={"number": number},
    )


class Handler:
    """Keeps records, and does what a test wants."""

    def __init__(self, act: Callable[[Incoming], Awaitable[None]] | None = None) -> None:
        self.begun: list[tuple[int, int]] = []
        self.ended: list[int] = []
        self.act = act
        self.changed = asyncio.Condition()

    async def __call__(self, incoming: Incoming) -> None:
        number = incoming.payload["number"]
        async with self.changed:
            self.begun.append((number, incoming.starts))
            self.changed.notify_all()
        if self.act is not None:
            await self.act(incoming)
        async with self.changed:
            self.ended.append(number)
            self.changed.notify_all()

    async def until(self, true: Callable[[], bool]) -> None:
        async with asyncio.timeout(10), self.changed:
            await self.changed.wait_for(true)


async def empty(inbox: InboxStore) -> None:
    async with asyncio.timeout(10):
        while await inbox.waiting("slack"):  # noqa: ASYNC110
            await asyncio.sleep(0.005)


async def test_an_event_is_accepted_once_whatever_it_is_called(redis: Redis) -> None:
    inbox = InboxStore(redis)
    assert await inbox.accept(event(1, names=("ts", "event-a")))
    assert not await inbox.accept(event(1, names=("ts", "event-b")))
    assert not await inbox.accept(event(2, names=("other", "event-a")))
    assert await inbox.accept(event(3, names=("other", "event-c")))
    assert await inbox.waiting("slack") == 2


async def test_of_many_accepting_at_once_one_succeeds(redis: Redis) -> None:
    stores = [InboxStore(redis) for _ in range(4)]
    accepted = await asyncio.gather(*(stores[n % 4].accept(event(1)) for n in range(40)))
    assert accepted.count(True) == 1


async def test_a_lane_is_worked_in_order_and_one_at_a_time(redis: Redis) -> None:
    inbox = InboxStore(redis)
    at_work: set[str] = set()

    async def act(incoming: Incoming) -> None:
        assert incoming.lane not in at_work
        at_work.add(incoming.lane)
        await asyncio.sleep(0)
        at_work.discard(incoming.lane)

    handler = Handler(act)
    for number in range(40):
        await inbox.accept(event(number, lane=f"C{number % 3}"))
    async with inbox.serve("slack", handler, concurrency=8):
        await handler.until(lambda: len(handler.ended) == 40)
        await empty(inbox)
    for lane in range(3):
        assert [n for n in handler.ended if n % 3 == lane] == list(range(lane, 40, 3))


async def test_lanes_do_not_wait_for_one_another(redis: Redis) -> None:
    inbox = InboxStore(redis)
    gate = asyncio.Event()

    async def act(incoming: Incoming) -> None:
        if incoming.lane == "slow":
            await gate.wait()

    handler = Handler(act)
    async with inbox.serve("slack", handler, concurrency=2):
        await inbox.accept(event(1, lane="slow"))
        await inbox.accept(event(2, lane="slow"))
        await inbox.accept(event(3, lane="quick"))
        await handler.until(lambda: handler.ended == [3])
        gate.set()
        await handler.until(lambda: handler.ended == [3, 1, 2])


async def test_what_fails_is_begun_again_and_ends_at_last(
    redis: Redis, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("bot.inbox._FIRST_DELAY", 0.0)
    inbox = InboxStore(redis)

    async def act(incoming: Incoming) -> None:
        raise RuntimeError("no")

    handler = Handler(act)
    await inbox.accept(event(1))
    await inbox.accept(event(2))
    async with inbox.serve("slack", handler):
        await empty(inbox)
    assert handler.begun == [(n, start) for n in (1, 2) for start in range(1, MAX_STARTS + 1)]


async def test_what_is_stopped_in_the_middle_is_begun_again(redis: Redis) -> None:
    first = Handler(lambda _incoming: asyncio.Event().wait())  # pyright: ignore[reportArgumentType]
    inbox = InboxStore(redis)
    await inbox.accept(event(1))
    async with inbox.serve("slack", first):
        await first.until(lambda: first.begun == [(1, 1)])
    second = Handler()
    async with inbox.serve("slack", second):
        await second.until(lambda: second.ended == [1])
        await empty(inbox)
    assert second.begun == [(1, 2)]


async def test_a_dead_process_is_succeeded(redis: Redis) -> None:
    """The first one stays where it is, as a killed process does: it neither renews nor gives back."""
    dead = InboxStore(redis)
    await dead.accept(event(1))
    assert await dead._next("slack") is not None  # pyright: ignore[reportPrivateUsage]
    handler = Handler()
    inbox = InboxStore(redis, tick=0.01)
    async with inbox.serve("slack", handler):
        await asyncio.sleep(0.05)
        assert not handler.begun
        await inbox.adopt()
        await handler.until(lambda: handler.begun == [(1, 2)])
        await empty(inbox)


async def test_a_lease_that_runs_out_goes_back_and_its_former_holder_stops(redis: Redis) -> None:
    stuck, inbox = InboxStore(redis, lease=0.05), InboxStore(redis, tick=0.01)
    stopped = asyncio.Event()

    async def wait(_incoming: Incoming) -> None:
        try:
            await asyncio.Event().wait()
        finally:
            stopped.set()

    await inbox.accept(event(1))
    async with stuck.serve("slack", wait):
        while await redis.zcard("footnote:inbox:slack:leases") == 0:  # noqa: ASYNC110
            await asyncio.sleep(0.001)
        await redis.hset("footnote:inbox:slack:tokens", "C1", "somebody else's")
        await asyncio.wait_for(stopped.wait(), 10)


async def test_a_waiting_one_is_cancelled(redis: Redis) -> None:
    inbox = InboxStore(redis)
    await inbox.accept(event(1))
    await inbox.accept(event(2))
    await inbox.cancel("slack", "C1", "i1")
    handler = Handler()
    async with inbox.serve("slack", handler):
        await handler.until(lambda: handler.ended == [2])
        await empty(inbox)
    assert not await inbox.accept(event(1)), "it stays known"


@pytest.mark.parametrize("same_process", [True, False])
async def test_one_at_work_is_cancelled_from_any_process(redis: Redis, same_process: bool) -> None:
    inbox = InboxStore(redis, lease=0.2)
    other = inbox if same_process else InboxStore(redis)

    async def act(incoming: Incoming) -> None:
        if incoming.payload["number"] == 1:
            await asyncio.Event().wait()

    handler = Handler(act)
    await inbox.accept(event(1))
    await inbox.accept(event(2))
    async with inbox.serve("slack", handler):
        await handler.until(lambda: handler.begun == [(1, 1)])
        await other.cancel("slack", "C1", "i1")
        await handler.until(lambda: handler.ended == [2])
        await empty(inbox)
    assert handler.begun == [(1, 1), (2, 1)]


async def test_cancelling_what_is_over_does_nothing(redis: Redis) -> None:
    inbox = InboxStore(redis)
    await inbox.cancel("slack", "C1", "i1")
    await inbox.accept(event(1))
    handler = Handler()
    async with inbox.serve("slack", handler):
        await handler.until(lambda: handler.ended == [1])


async def test_nothing_is_left_behind(redis: Redis) -> None:
    inbox = InboxStore(redis)
    for number in range(5):
        await inbox.accept(event(number, lane=f"C{number}"))
    handler = Handler()
    async with inbox.serve("slack", handler):
        await empty(inbox)
    left = [key async for key in redis.scan_iter(match="footnote:inbox:*") if b":seen:" not in key]
    assert left == []
    assert all([await redis.ttl(key) > 0 async for key in redis.scan_iter(match="footnote:inbox:*:seen:*")])
