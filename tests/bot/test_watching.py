"""What those see who watch documents on their way."""

from __future__ import annotations

import asyncio
from typing import cast

import pytest

from adapters.forms import ProgressItem
from retrieval.documents import DocumentMeta
from tests.bot.doubles import House


async def test_watching_shows_each_stage_and_ends(house: House) -> None:
    seen = {stage: asyncio.Event() for stage in ("parsing", "chunking", "embedding", "indexing")}

    async def wait_until_seen(meta: DocumentMeta, stage: str) -> None:
        await seen[stage].wait()

    house.ingestor.hook = wait_until_seen
    _, version_id = await house.accept("one\ntwo")
    watcher = house.library.watch([version_id])
    stages = [(await anext(watcher)).items[0].stage]
    async with house.working():
        async for progress in watcher:
            stages.append(progress.items[0].stage)
            if stages[-1] in seen:
                seen[stages[-1]].set()
    assert stages == ["queued", "parsing", "chunking", "embedding", "indexing", "done"]


async def test_watching_what_has_finished_already_ends_at_once(house: House) -> None:
    async with house.working():
        _, version_id = await house.accept("one")
        await house.end_of(version_id)
    progress = [p async for p in house.library.watch([version_id, version_id])]
    assert len(progress) == 1
    assert progress[0].finished
    assert (await anext(house.library.watch([]))).finished


async def test_many_watchers_all_see_the_end(house: House) -> None:
    version_ids = [(await house.accept(f"text {n}", f"{n}.md"))[1] for n in range(30)]
    watchers = [asyncio.create_task(house.end_of(*version_ids)) for _ in range(10)]
    async with house.working():
        ends = await asyncio.gather(*watchers)
    for progress in ends:
        assert [item.stage for item in progress.items] == ["done"] * 30
        assert [item.version_id for item in progress.items] == version_ids


async def test_an_end_whose_message_was_lost_is_seen_all_the_same(
    house: House, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("bot.progress.RECHECK", 0.05)
    _, version_id = await house.accept("one")
    watcher = house.library.watch([version_id])
    assert (await anext(watcher)).items[0].stage == "queued"
    record = cast("bytes", await house.redis.hget(f"footnote:version:{version_id}", "status"))
    done = record.replace(b'"queued"', b'"done"')
    await house.redis.hset(f"footnote:version:{version_id}", "status", done)  # and nothing published
    assert (await anext(watcher)).finished


async def test_watching_a_version_that_is_gone_says_so(house: House) -> None:
    [item] = (await house.end_of("nothing")).items
    assert (item.stage, item.message[:16]) == ("cancelled", "It was cancelled")
    assert isinstance(item, ProgressItem)
