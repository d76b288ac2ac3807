"""The worker: order, failures, cancelling, deleting, stopping."""

from __future__ import annotations

import asyncio
import contextlib
from collections import Counter

import pytest

from bot import failures
from bot.worker import Worker
from retrieval.documents import DocumentMeta
from retrieval.index.protocol import IndexUnavailable
from retrieval.ingest.protocol import ADVICE
from retrieval.models.protocol import ModelError
from tests.bot.doubles import House, SqliteIndex, until


class Gate:
    """Holds the ingest of every version at one stage until it is opened."""

    def __init__(self, house: House, stage: str = "embedding") -> None:
        self.entered: asyncio.Queue[str] = asyncio.Queue()
        self._stage = stage
        self._open = asyncio.Event()
        house.ingestor.hook = self._wait

    async def _wait(self, meta: DocumentMeta, stage: str) -> None:
        if stage == self._stage:
            self.entered.put_nowait(meta.version_id)
            await self._open.wait()

    def open(self) -> None:
        self._open.set()


@pytest.fixture(autouse=True)
def soon(monkeypatch: pytest.MonkeyPatch) -> None:
    """Tries that were put off come again at once."""
    monkeypatch.setattr(failures, "FIRST_DELAY", 0.01)
    monkeypatch.setattr(failures, "LONGEST_DELAY", 0.01)


# -- failures -----------------------------------------------------------------------------------


async def test_bad_files_do_not_stop_a_batch(house: House) -> None:
    texts = ["!encrypted", "good", "?", "!corrupt", b"\xff\xfe\xff", "also good", "!mislabelled", "last"]
    accepted = [await house.accept(text, f"{n}.md") for n, text in enumerate(texts)]
    async with house.working():
        progress = await house.end_of(*(version_id for _, version_id in accepted))
    stages = [item.stage for item in progress.items]
    assert stages == ["failed", "done", "failed", "failed", "failed", "done", "failed", "done"]
    messages = [item.message for item in progress.items]
    assert messages[0] == ADVICE["encrypted"]
    assert messages[2].startswith("Something went wrong on our side.")
    assert (await house.index.stats()).chunks == 3, "nothing of a failed version stays in the index"
    reasons = [d.latest.status.reason for d in await house.library.list("acme")]
    assert reasons == ["encrypted", "", "internal", "corrupt", "internal", "", "mislabelled", ""]


@pytest.mark.parametrize(
    "error",
    [
        ModelError("unavailable", "down"),
        ModelError("rate_limited", "slow down"),
        ModelError("timeout", "slow"),
        IndexUnavailable("down"),
    ],
)
async def test_what_may_pass_is_tried_again(house: House, error: Exception) -> None:
    house.ingestor.errors = [error, error]
    async with house.working():
        document_id, version_id = await house.accept("one\ntwo")
        [item] = (await house.end_of(version_id)).items
    assert (item.stage, len(house.ingestor.begun)) == ("done", 3)
    assert house.index.texts(document_id) == ["one", "two"]


async def test_waiting_for_another_try_says_for_what(house: House, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(failures, "FIRST_DELAY", 1000.0)
    monkeypatch.setattr(failures, "LONGEST_DELAY", 1000.0)
    house.ingestor.errors = [ModelError("unavailable", "down")]
    _, version_id = await house.accept("one")
    async with house.working():
        async for progress in house.library.watch([version_id]):
            if progress.items[0].message:
                break
        assert progress.items[0].stage == "queued"
        assert progress.items[0].message == "Waiting for the embedding model."
        [item] = (await house.library.cancel([version_id])).items
        assert item.stage == "cancelled"
    assert version_id not in await house.everything()


async def test_what_does_not_pass_fails_in_the_end(house: House, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("bot.ingestion.MAX_RETRIES", 3)
    house.ingestor.errors = [ModelError("unavailable", "down")] * 9
    async with house.working():
        _, version_id = await house.accept("one")
        [item] = (await house.end_of(version_id)).items
    assert item.message == (
        "The embedding model could not be reached for a long time. Upload the file again later."
    )
    assert len(house.ingestor.begun) == 4


async def test_what_cannot_pass_is_not_tried_again(house: House) -> None:
    house.ingestor.errors = [ModelError("misconfigured", "bad key")]
    async with house.working():
        _, version_id = await house.accept("one")
        [item] = (await house.end_of(version_id)).items
    assert "is not set up correctly" in item.message
    assert len(house.ingestor.begun) == 1


async def test_a_version_that_can_be_published_no_sooner_is_not_made_again(house: House) -> None:
    house.index.fail = {"publish"}
    async with house.working():
        document_id, version_id = await house.accept("one")
        await until(lambda: house.index.calls.count("publish") > 2)
        assert [i.stage for i in (await house.library.cancel([version_id])).items] != ["cancelled"]
        house.index.fail = set()
        [item] = (await house.end_of(version_id)).items
    assert item.stage == "done"
    assert house.ingestor.begun == ["notes.md"]
    assert house.index.texts(document_id) == ["one"]


# -- order --------------------------------------------------------------------------------------


async def test_uploaders_take_turns(house: House) -> None:
    house.concurrency = 1
    for n in range(20):
        await house.accept(f"{n}", f"ada-{n}", uploader="ada")
    for n in range(3):
        await house.accept(f"{n}", f"bob-{n}", uploader="bob")
    await house.accept("x", "eve-0", uploader="eve")
    await house.accept("x", "ada-elsewhere", uploader="ada", workspace="globex")
    order: list[str] = []
    while (lease := await house.queue.take()) is not None:
        version = await house.library.catalogue.version(lease.version_id)
        assert version is not None
        order.append(version.meta.name)
    assert order[:5] == ["ada-0", "bob-0", "eve-0", "ada-elsewhere", "ada-1"]
    assert order[5:9] == ["bob-1", "ada-2", "bob-2", "ada-3"]
    assert sorted(order[9:]) == sorted(f"ada-{n}" for n in range(4, 20))
    assert order[9:] == [f"ada-{n}" for n in range(4, 20)]


async def test_no_more_at_once_than_allowed(house: House) -> None:
    gate = Gate(house)
    accepted = [await house.accept(f"{n}", f"{n}.md") for n in range(6)]
    async with house.working():
        await gate.entered.get()
        await gate.entered.get()
        for _ in range(20):
            await house.tickets.send()
        await asyncio.sleep(0.1)
        assert gate.entered.empty()
        gate.open()
        progress = await house.end_of(*(version_id for _, version_id in accepted))
    assert {item.stage for item in progress.items} == {"done"}


async def test_several_workers_work_each_version_once(house: House) -> None:
    others = [House(house.redis, house.url, house.folder, index=house.index) for _ in range(2)]
    accepted = [await house.accept(f"{n}", f"{n}.md", uploader=f"u{n % 3}") for n in range(40)]
    async with contextlib.AsyncExitStack() as stack:
        for each in (house, *others):
            if each is not house:
                await stack.enter_async_context(each.tickets.opened())
            await stack.enter_async_context(each.working())
        progress = await house.end_of(*(version_id for _, version_id in accepted))
    assert {item.stage for item in progress.items} == {"done"}
    begun = Counter(name for h in (house, *others) for name in h.ingestor.begun)
    assert begun == Counter(f"{n}.md" for n in range(40))


async def test_work_that_lasts_longer_than_a_lease_is_not_begun_twice(house: House) -> None:
    house.queue.lease_ms = 600  # a busy machine holds up a heartbeat
    gate = Gate(house)
    async with house.working():
        document_id, version_id = await house.accept("one")
        await gate.entered.get()
        for _ in range(5):
            await asyncio.sleep(0.3)
            await house.tickets.send()
        gate.open()
        await house.end_of(version_id)
    assert house.ingestor.begun == ["notes.md"]
    assert house.index.texts(document_id) == ["one"]


async def test_a_worker_that_lost_its_lease_changes_nothing_more(house: House) -> None:
    """As after a long sleep: somebody else has taken the version over and finished it."""
    gate = Gate(house)
    _, version_id = await house.accept("one")
    async with house.working():
        await gate.entered.get()
        await house.queue.recover(all_leases=True)
        second = await house.queue.take()
        assert second is not None
        assert second.starts == 2
        gate.open()
        await until(lambda: not house.worker._jobs)
        version = await house.library.catalogue.version(version_id)
        assert version is not None
        assert version.status.stage != "done"
        assert version.outcome is None
        await house.queue.give_back(second)
        [item] = (await house.end_of(version_id)).items
    assert item.stage == "done"


# -- cancelling and deleting ----------------------------------------------------------------------


async def test_cancelling_stops_what_waits_and_what_is_worked(house: House) -> None:
    house.concurrency = 1
    house.__post_init__()
    gate = Gate(house)
    async with house.tickets.opened(), house.working():
        accepted = [(await house.accept(f"{n}", f"{n}.md"))[1] for n in range(4)]
        await gate.entered.get()
        items = (await house.library.cancel(accepted[:3])).items
        assert [item.stage for item in items] == ["cancelled"] * 3
        progress = await house.end_of(*accepted[:3])
        assert {item.stage for item in progress.items} == {"cancelled"}
        gate.open()
        assert (await house.end_of(accepted[3])).items[0].stage == "done"
        # Too late for one that is done.
        assert [i.stage for i in (await house.library.cancel(accepted)).items] == ["done"]
    everything = await house.everything()
    assert not [version_id for version_id in accepted[:3] if version_id in everything]
    assert [d.name for d in await house.library.list("acme")] == ["3.md"]


async def test_what_was_cancelled_is_not_begun_again_after_a_kill(house: House) -> None:
    _, version_id = await house.accept("one")
    held = await house.queue.take()
    assert held is not None
    assert (await house.library.cancel([version_id])).items[0].stage == "cancelled"
    await house.queue.recover(all_leases=True)  # whoever held it was killed before it could stop
    async with house.working():
        assert (await house.end_of(version_id)).items[0].stage == "cancelled"
    assert house.ingestor.begun == []
    assert version_id not in await house.everything()


async def test_a_cancelled_new_version_leaves_the_old_one(house: House) -> None:
    async with house.working():
        document_id, first = await house.accept("old")
        await house.end_of(first)
        gate = Gate(house, "indexing")
        _, second = await house.accept("new\nnewer")
        await gate.entered.get()
        await house.library.cancel([second])
        await house.end_of(second)
    assert house.index.texts(document_id) == ["old"]
    assert second not in await house.everything()
    document = await house.library.get("acme", document_id)
    assert document.latest == document.current


@pytest.mark.parametrize("stage", ["waiting", "parsing", "embedding", "indexing", "done", "failed"])
async def test_deleting_leaves_no_trace_at_any_stage(house: House, stage: str) -> None:
    async with house.working():
        other = await house.accept("the other", "other.md")
        document_id, first = await house.accept("a secret\nof ada")
        await house.end_of(first, other[1])
        gate = Gate(house, stage)
        text = "!corrupt secret" if stage == "failed" else "a new secret\nof ada"
        if stage == "waiting":
            await house.redis.hset("footnote:busy", document_id, "somebody")
        _, second = await house.accept(text, labels=("secret-label",))
        if stage in ("done", "failed"):
            await house.end_of(second)
        elif stage != "waiting":
            await gate.entered.get()
        await house.library.delete("acme", document_id)
        gate.open()
        await until(lambda: not house.worker._jobs)
        assert [d.document_id for d in await house.library.list("acme")] == [other[0]]
        [item] = (await house.end_of(second)).items
        assert item.stage == "cancelled"
    everything = await house.everything()
    for trace in (document_id, first, second, "secret", "notes.md"):
        assert trace not in everything, trace
    assert house.index.texts(other[0]) == ["the other"]
    with pytest.raises(LookupError):
        await house.library.delete("acme", document_id)


async def test_documents_of_another_workspace_are_out_of_reach(house: House) -> None:
    document_id, _ = await house.accept("text")
    for call in (
        house.library.get("globex", document_id),
        house.library.delete("globex", document_id),
        house.library.relabel("globex", document_id, []),
        house.library.reparse("globex", document_id, None),
    ):
        with pytest.raises(LookupError):
            await call
    assert [d.document_id for d in await house.library.list("acme")] == [document_id]


async def test_a_deletion_that_the_index_refuses_is_finished_later(house: House) -> None:
    async with house.working():
        document_id, version_id = await house.accept("secret")
        await house.end_of(version_id)
    house.index.fail = {"delete_document"}
    with pytest.raises(IndexUnavailable):
        await house.library.delete("acme", document_id)
    assert await house.library.list("acme") == []
    house.index.fail = set()
    await house.library.finish_pending()
    assert document_id not in await house.everything()


# -- stopping -----------------------------------------------------------------------------------


async def test_stopping_gives_back_what_is_unfinished(house: House) -> None:
    gate = Gate(house)
    async with house.working():
        accepted = [await house.accept(f"{n}", f"{n}.md") for n in range(3)]
        await gate.entered.get()
        await gate.entered.get()
    assert await house.redis.zcard("footnote:leases") == 0
    for _ in range(failures.MAX_STARTS + 1):  # stopping is no crash, however often
        async with house.working():
            await gate.entered.get()
    gate.open()
    async with house.working():
        progress = await house.end_of(*(version_id for _, version_id in accepted))
    assert {item.stage for item in progress.items} == {"done"}


async def test_a_worker_that_starts_later_finds_what_waits(house: House) -> None:
    _, version_id = await house.accept("one")
    await house.redis.delete("footnote:tickets")
    async with house.working():
        assert (await house.end_of(version_id)).finished


async def test_two_workers_may_share_one_process(house: House) -> None:
    """As when `kb worker` is tried beside a server: neither waits for the other to stop."""
    other = House(house.redis, house.url, house.folder, index=SqliteIndex())
    assert isinstance(other.worker, Worker)
    async with other.tickets.opened(), house.working():
        async with other.working():
            pass
        document_id, version_id = await house.accept("one")
        await house.end_of(version_id)
    assert house.index.texts(document_id) == ["one"]
