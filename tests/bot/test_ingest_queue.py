"""Properties of the queue under any order of calls."""

from __future__ import annotations

from collections.abc import Callable
from datetime import UTC, datetime
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from redis.asyncio import Redis

from bot import keys
from bot.ingest_queue import IngestQueue, Lease, LeaseLost
from retrieval.documents import DocumentMeta


def meta(version_id: str, document_id: str, uploader: str) -> DocumentMeta:
    return DocumentMeta(
        workspace="acme",
        knowledge_base="general",
        document_id=document_id,
        version_id=version_id,
        version=1,
        name="x",
        title="x",
        media_type="text/plain",
        uploader=uploader,
        uploaded_at=datetime.now(UTC),
    )


async def put(redis: Redis, *metas: DocumentMeta) -> None:
    async with redis.pipeline(transaction=True) as pipe:
        for each in metas:
            IngestQueue.put(pipe, each)
        await pipe.execute()


async def drop(redis: Redis, lease: Lease) -> None:
    async with redis.pipeline(transaction=True) as pipe:
        IngestQueue.drop_held(pipe, lease)
        await pipe.execute()


STEPS = st.lists(
    st.one_of(
        st.tuples(st.just("put"), st.integers(0, 3), st.integers(0, 2)),
        st.tuples(
            st.sampled_from(["take", "finish", "give back", "put off", "die"]), st.just(0), st.just(0)
        ),
    ),
    max_size=40,
)


@given(STEPS)
@settings(max_examples=60, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
def test_nothing_is_lost_or_held_twice(run: Callable[..., None], valkey_socket: Path, steps: list) -> None:
    run(_check(valkey_socket, steps))


@pytest.fixture
def run() -> Callable[..., None]:
    import asyncio

    return asyncio.run


async def _check(socket: Path, steps: list[tuple[str, int, int]]) -> None:
    async with Redis(unix_socket_path=str(socket)) as redis:
        await redis.flushall()
        queue = IngestQueue(redis)
        waiting: set[str] = set()
        held: dict[str, Lease] = {}
        documents: dict[str, str] = {}
        for number, (step, document, uploader) in enumerate(steps):
            first = next(iter(held.values()), None)
            if step == "put":
                version = f"v{number}"
                documents[version] = f"d{document}"
                await put(redis, meta(version, f"d{document}", f"u{uploader}"))
                waiting.add(version)
            elif step == "take":
                lease = await queue.take()
                free = {v for v in waiting if documents[v] not in {documents[h] for h in held}}
                assert (lease is not None) == bool(free)
                if lease is not None:
                    assert lease.version_id in free
                    waiting.remove(lease.version_id)
                    held[lease.version_id] = lease
            elif step == "die":
                await queue.recover(all_leases=True)
                for lease in held.values():
                    with pytest.raises(LeaseLost):
                        await queue.renew(lease)
                waiting |= set(held)
                held.clear()
            elif first is not None:
                await queue.renew(first)
                del held[first.version_id]
                if step == "finish":
                    await drop(redis, first)
                else:
                    await queue.give_back(first, delay_ms=0 if step == "give back" else 1, retried=True)
                    await redis.zadd(keys.delayed(), {first.version_id: 0}, xx=True)
                    await queue.recover()
                    waiting.add(first.version_id)
        await queue.recover(all_leases=True)
        waiting |= set(held)
        drained: set[str] = set()
        while lease := await queue.take():
            assert lease.version_id not in drained
            drained.add(lease.version_id)
            await drop(redis, lease)
        assert drained == waiting
        assert await redis.keys("*") == [], "an empty queue leaves nothing behind"


async def test_a_lease_runs_out_by_the_server_s_clock(redis: Redis) -> None:
    queue = IngestQueue(redis, lease_ms=1)
    await put(redis, meta("v", "d", "u"))
    first = await queue.take()
    assert first is not None
    assert first.fresh
    while not await queue.recover():
        pass
    with pytest.raises(LeaseLost):
        await queue.renew(first)
    second = await queue.take()
    assert second is not None
    assert (second.starts, second.retries, second.fresh) == (2, 0, False)
    assert second.token != first.token
    await queue.give_back(first)  # comes too late and does nothing
    await queue.renew(second)


async def test_a_lane_blocked_by_one_document_does_not_block_the_others(redis: Redis) -> None:
    queue = IngestQueue(redis)
    await put(redis, *(meta(f"v{n}", "same", "ada") for n in range(5)), meta("w", "other", "ada"))
    first = await queue.take()
    second = await queue.take()
    assert first is not None
    assert second is not None
    assert (first.version_id, second.version_id) == ("v0", "w")
    assert await queue.take() is None
    assert await queue.waiting()
    await drop(redis, first)
    third = await queue.take()
    assert third is not None
    assert third.version_id == "v1"


async def test_who_comes_later_does_not_wait_for_who_has_much(redis: Redis) -> None:
    queue = IngestQueue(redis)
    await put(redis, *(meta(f"bulk{n}", f"b{n}", "ada") for n in range(500)))
    for _ in range(3):
        lease = await queue.take()
        assert lease is not None
        await drop(redis, lease)
    await put(redis, meta("small", "s", "bob"))
    order = [lease.version_id for _ in range(2) if (lease := await queue.take())]
    assert "small" in order
    # And one who comes again and again does not push the other out.
    served: list[str] = []
    for n in range(10):
        await put(redis, meta(f"again{n}", f"a{n}", "eve"))
        lease = await queue.take()
        assert lease is not None
        served.append(lease.version_id)
    assert sum(name.startswith("bulk") for name in served) >= 4
