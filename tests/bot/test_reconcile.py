"""Records, index and files agree again, whichever of them is ahead, behind or lost."""

from __future__ import annotations

import asyncio
import os
from datetime import UTC, datetime, timedelta
from uuid import uuid4

import pytest

from bot import keys
from bot.reconcile import Reconciled, reconcile
from tests.bot.doubles import House, SqliteIndex


async def two_documents(house: House) -> tuple[str, str]:
    """Document and version id of the first."""
    async with house.working():
        first = await house.accept("one\ntwo", "1.md")
        second = await house.accept("three", "2.md")
        await house.end_of(first[1], second[1])
    return first


async def test_what_agrees_is_left_alone(house: House) -> None:
    await two_documents(house)
    before = await house.everything()
    for alone in (True, False):
        assert await reconcile(house.library, house.queue, alone=alone) == Reconciled()
    assert await house.everything() == before


async def test_an_index_that_was_lost_is_filled_again(house: House) -> None:
    document_id, version_id = await two_documents(house)
    await house.index.delete_workspace("acme")
    done = await reconcile(house.library, house.queue, alone=True)
    assert done.requeued == 2
    assert (await reconcile(house.library, house.queue, alone=True)).requeued == 0, "they wait already"
    async with house.working():
        await house.end_of(version_id)
    assert house.index.texts(document_id) == ["one", "two"]


async def test_chunks_of_documents_that_nobody_knows_are_removed(house: House) -> None:
    await two_documents(house)
    other = House(house.redis, house.url, house.folder / "other", index=house.index)
    async with other.tickets.opened(), other.working():
        await other.end_of((await other.accept("stranger", "stranger.md"))[1])
    [stranger] = [d for d in await house.library.list("acme") if d.name == "stranger.md"]
    version = stranger.latest.meta
    await house.redis.delete(
        keys.version(version.version_id), keys.document(version.document_id),
        keys.versions(version.document_id),
    )  # fmt: skip
    await house.redis.zrem(keys.documents("acme"), version.document_id)
    assert (await reconcile(house.library, house.queue, alone=True)).discarded == 1
    assert house.index.texts(version.document_id) == []
    assert (await house.index.stats()).chunks == 3


async def test_staged_chunks_of_a_version_that_is_gone_are_removed(house: House) -> None:
    document_id, version_id = await two_documents(house)
    version = await house.library.catalogue.version(version_id)
    assert version is not None
    late = version.meta.model_copy(update={"version_id": uuid4().hex, "version": 2})
    parsed = await house.library.parsed("acme", version_id)

    async def report(_: object) -> None: ...

    await house.ingestor.ingest_parsed(parsed, late, report)
    assert (await reconcile(house.library, house.queue, alone=True)).discarded == 1
    assert house.index.texts(document_id) == ["one", "two"]
    assert late.version_id not in house.index.everything()


async def test_an_older_version_published_by_a_stray_worker_gives_way(house: House) -> None:
    """Two processes publish versions of one document, and the older one comes last."""
    async with house.working():
        document_id, first = await house.accept("old")
        await house.end_of(first)
        old = await house.library.catalogue.version(first)
        assert old is not None
        _, second = await house.accept("new")
        await house.end_of(second)

    async def report(_: object) -> None: ...

    parsed = await house.library.parsed("acme", second)
    await house.ingestor.ingest_parsed(parsed, old.meta, report)
    await house.index.publish("acme", document_id, first)
    assert (await reconcile(house.library, house.queue, alone=True)).requeued == 1
    async with house.working():
        await house.end_of(second)
    assert house.index.texts(document_id) == ["new"]
    assert first not in house.index.everything()


@pytest.mark.parametrize("alone", [True, False])
async def test_files_without_a_record_go_but_not_those_on_their_way(house: House, alone: bool) -> None:
    await two_documents(house)
    source = house.folder / "source"
    source.write_bytes(b"secret")
    fresh, old = uuid4().hex, uuid4().hex
    for version_id in (fresh, old):
        await house.files.put_original("acme", version_id, source)
    at = (datetime.now(UTC) - timedelta(hours=2)).timestamp()
    os.utime(house.folder / "files/originals/acme" / old, (at, at))
    done = await reconcile(house.library, house.queue, alone=alone)
    assert done.files == (2 if alone else 1)
    names = {path.name for path in (house.folder / "files/originals/acme").iterdir()}
    assert (fresh in names) is not alone
    assert old not in names
    assert len(names) == (2 if alone else 3)


async def test_while_others_work_it_disturbs_nothing(house: House) -> None:
    """As at the start of a second `kb worker`, again and again, while the first has its hands full."""
    async with house.working():
        accepted = [await house.accept(f"{n}\n{n}", f"{n % 5}.md") for n in range(20)]
        async with asyncio.TaskGroup() as group:
            ends = group.create_task(house.end_of(*(version_id for _, version_id in accepted)))
            while not ends.done():
                done = await reconcile(house.library, house.queue, alone=False)
                assert (done.requeued, done.discarded, done.files) == (0, 0, 0)
    for document in await house.library.list("acme"):
        newest = 15 + int(document.name[0])
        assert house.index.texts(document.document_id) == [f"{newest}"] * 2


async def test_interrupted_changes_of_labels_and_deletions_are_finished(house: House) -> None:
    document_id, _ = await two_documents(house)
    second = next(d for d in await house.library.list("acme") if d.document_id != document_id)
    house.index.fail = {"set_labels", "delete_document"}
    with pytest.raises(Exception, match="set_labels"):
        await house.library.relabel("acme", document_id, ["new"])
    with pytest.raises(Exception, match="delete_document"):
        await house.library.delete("acme", second.document_id)
    house.index.fail = set()
    await reconcile(house.library, house.queue, alone=True)
    assert house.index.labels(document_id) == {("new",)}
    assert second.document_id not in await house.everything()
    assert isinstance(house.index, SqliteIndex)
