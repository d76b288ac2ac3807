"""Notes on a real Valkey."""

from __future__ import annotations

import asyncio

import pytest
from redis.asyncio import Redis

from bot.notes import NoteStore


async def test_fields_are_set_one_by_one_and_erased(redis: Redis) -> None:
    notes = NoteStore(redis)
    assert await notes.read("thread") == {}
    await notes.write("thread", {"a": "1", "b": "ü"})
    await notes.write("thread", {"b": "2"}, seconds=60)
    assert await notes.read("thread") == {"a": "1", "b": "2"}
    assert 0 < await redis.ttl("footnote:note:thread") <= 60
    await notes.erase("thread", "a")
    assert await notes.read("thread") == {"b": "2"}
    await notes.erase("thread")
    assert await notes.read("thread") == {}


async def test_the_first_who_claims_has_it(redis: Redis) -> None:
    notes = NoteStore(redis)
    claims = await asyncio.gather(*(notes.claim("greeting", seconds=60) for _ in range(20)))
    assert claims.count(True) == 1


async def test_a_lock_is_held_by_one_at_a_time(redis: Redis) -> None:
    stores = [NoteStore(redis), NoteStore(redis)]
    inside = 0

    async def work(number: int) -> None:
        nonlocal inside
        async with stores[number % 2].lock("token"):
            inside += 1
            assert inside == 1
            await asyncio.sleep(0)
            inside -= 1

    await asyncio.gather(*(work(number) for number in range(10)))


async def test_a_lock_that_ran_out_is_given_back_quietly(redis: Redis) -> None:
    async with NoteStore(redis).lock("token"):
        await redis.delete("footnote:note-lock:token")


async def test_waiting_for_a_lock_ends(redis: Redis) -> None:
    await redis.set("footnote:note-lock:token", b"somebody's")
    with pytest.raises(TimeoutError):
        async with NoteStore(redis).lock("token", seconds=0):
            pass
