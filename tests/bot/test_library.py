"""What the library promises about documents, with a worker at work."""

from __future__ import annotations

import asyncio
import errno
import os

import pytest
from obstore.store import LocalStore

from retrieval.documents import DocumentMeta
from tests.bot.doubles import House, until


async def test_a_document_is_searchable_when_it_is_done(house: House) -> None:
    async with house.working():
        document_id, version_id = await house.accept(
            "one\ntwo", labels=("hr",), source_url="https://x.test/"
        )
        [item] = (await house.end_of(version_id)).items
    assert (item.stage, item.done, item.total, item.message) == ("done", 2, 2, "")
    assert house.index.texts(document_id) == ["one", "two"]
    document = await house.library.get("acme", document_id)
    version = document.current
    assert version is not None
    assert version == document.latest == document.shown
    assert version.outcome is not None
    assert version.title == "Title of notes.md"
    assert version.outcome.parser == "lines/1"
    assert {"parsing", "embedding", "indexing"} <= set(version.outcome.timings)
    assert (version.accepted.size, version.meta.version, version.meta.labels) == (7, 1, ("hr",))
    assert (await house.library.parsed("acme", version_id)).sections[0].markdown == "one\ntwo"
    async with house.library.original("acme", version_id) as path:
        assert path.read_text() == "one\ntwo"
    assert await house.library.knowledge_bases("acme") == ("general",)


async def test_the_same_content_again_costs_nothing(house: House) -> None:
    async with house.working():
        first = await house.accept("text", "Müller.md")
        await house.end_of(first[1])
        # The same name, as macOS spells it.
        item = await house.library.accept(house.upload("text", "Mu\u0308ller.md", uploader="bob"))
        assert (item.document_id, item.version_id) == first
        assert (item.stage, item.message) == ("done", "unchanged")
        await house.end_of(item.version_id)
    assert house.ingestor.begun == ["Müller.md"]
    assert len(list((house.folder / "files/originals/acme").iterdir())) == 1


async def test_the_same_content_while_it_waits_is_the_same_version(house: House) -> None:
    first = await house.accept("text")
    again = await asyncio.gather(*(house.accept("text") for _ in range(5)))
    assert set(again) == {first}
    assert len(list((house.folder / "files/originals/acme").iterdir())) == 1


async def test_racing_uploads_of_the_same_are_one_document(house: House) -> None:
    accepted = await asyncio.gather(*(house.accept("text") for _ in range(8)))
    assert len(set(accepted)) == 1
    assert len(await house.library.list("acme")) == 1
    assert len(list((house.folder / "files/originals/acme").iterdir())) == 1


async def test_what_failed_may_be_uploaded_again(house: House) -> None:
    async with house.working():
        first = await house.accept("!corrupt")
        await house.end_of(first[1])
        second = await house.accept("!corrupt")
        assert second[0] == first[0]
        assert second[1] != first[1]


@pytest.mark.parametrize(
    ("options", "same_document"),
    [
        ({"labels": ("new",)}, True),
        ({"source_url": "https://elsewhere.test/"}, True),
        ({"fields": {"owner": "eve"}}, True),
        ({"audience": ("person:ada",)}, True),
        ({"knowledge_base": "other"}, False),
        ({"workspace": "globex"}, False),
        ({"name": "other.md"}, False),
        ({"uploader": "bob", "audience": ("person:bob",)}, False),
    ],
)
async def test_other_options_make_another_version_or_document(
    house: House, options: dict[str, object], same_document: bool
) -> None:
    first = await house.accept("text")
    second = await house.accept("text", **options)  # type: ignore[arg-type]
    assert first[1] != second[1]
    assert (first[0] == second[0]) is same_document


async def test_a_document_that_others_cannot_read_is_not_replaced_by_them(house: House) -> None:
    await house.accept("of ada", audience=("person:ada",), uploader="ada")
    by_bob = house.upload("of bob", audience=("person:bob",), uploader="bob")
    assert await house.library.replaces(by_bob) is None
    by_ada = house.upload("more of ada", audience=("workspace",), uploader="ada")
    replaced = await house.library.replaces(by_ada)
    assert replaced is not None
    assert replaced.meta.audience == ("person:ada",)


async def test_keep_both_makes_a_second_document_of_that_name(house: House) -> None:
    async with house.working():
        first = await house.accept("one")
        second = await house.accept("two", keep_both=True)
        assert first[0] != second[0]
        assert await house.accept("two", keep_both=True) == second
        third = await house.accept("three")
        assert third[0] == second[0], "the newest of that name is replaced"
        await house.end_of(first[1], second[1], third[1])
    assert house.index.texts(first[0]) == ["one"]
    assert house.index.texts(second[0]) == ["three"]


@pytest.mark.parametrize(
    ("text", "message"),
    [("", "This file is empty."), ("x" * 1_000_001, "This file is larger than 0 MB.")],
)
async def test_a_file_that_cannot_be_taken_is_refused_at_once(
    house: House, text: str, message: str
) -> None:
    item = await house.library.accept(house.upload(text))
    assert item.stage == "failed"
    assert item.message.startswith(message)
    [seen] = (await house.end_of(item.version_id)).items
    assert seen == item
    assert await house.library.list("acme") == []
    assert not (house.folder / "files/originals").exists()


async def test_a_spooled_file_that_is_gone_is_refused(house: House) -> None:
    upload = house.upload("text")
    upload.path.unlink()
    item = await house.library.accept(upload)
    assert item.message == "This file can't be read (No such file or directory). Upload it again."


@pytest.mark.parametrize(
    ("number", "sentence"),
    [
        (errno.ENOSPC, "There is no space left on the disk. Make room, then try again."),
        (errno.EROFS, "The file store is read-only. Ask your administrator to make it writable."),
    ],
)
@pytest.mark.parametrize("step", ["put", "_sync"])
async def test_a_disk_that_takes_nothing_is_said_and_leaves_nothing(
    house: House, monkeypatch: pytest.MonkeyPatch, number: int, sentence: str, step: str
) -> None:
    """Whether the copy is refused, or is there already and can't be made to last."""

    def refuse(*_: object, **__: object) -> None:
        raise OSError(number, os.strerror(number))

    monkeypatch.setattr(LocalStore if step == "put" else house.files, step, refuse)
    item = await house.library.accept(house.upload("text"))
    assert (item.stage, item.message) == ("failed", sentence)
    assert await house.library.list("acme") == []
    assert [path for path in (house.folder / "files").rglob("*") if path.is_file()] == []
    monkeypatch.undo()
    async with house.working():
        document, version = await house.accept("text")
        await house.end_of(version)
    assert house.index.texts(document) == ["text"]


# -- versions ---------------------------------------------------------------------------------


async def test_a_new_version_replaces_the_old_one_all_at_once(house: House) -> None:
    old, new = [f"old {n}" for n in range(20)], [f"new {n}" for n in range(30)]
    async with house.working():
        document_id, first = await house.accept("\n".join(old))
        await house.end_of(first)
        _, second = await house.accept("\n".join(new))
        seen: list[list[str]] = []

        async def search() -> None:
            while True:
                if not seen or house.index.texts(document_id) != seen[-1]:
                    seen.append(house.index.texts(document_id))
                await asyncio.sleep(0)

        searcher = asyncio.create_task(search())
        await house.end_of(second)
        await until(lambda: seen[-1] == new)
        searcher.cancel()
    assert seen == [old, new]
    document = await house.library.get("acme", document_id)
    assert document.current is not None
    assert (document.current.meta.version, document.current.meta.version_id) == (2, second)
    assert first not in await house.everything()


async def test_a_failed_version_leaves_the_old_one_in_place(house: House) -> None:
    async with house.working():
        document_id, first = await house.accept("good")
        await house.end_of(first)
        _, second = await house.accept("!encrypted")
        [item] = (await house.end_of(second)).items
    assert item.stage == "failed"
    assert item.message.startswith("This file is protected with a password.")
    assert house.index.texts(document_id) == ["good"]
    document = await house.library.get("acme", document_id)
    assert document.current is not None
    assert document.current.meta.version_id == first
    assert document.latest.status.reason == "encrypted"
    assert document.shown == document.current


async def test_an_older_version_that_comes_late_does_not_replace_a_newer_one(house: House) -> None:
    """Two people upload the same document; the lane of the second is served first."""
    document_id, first = await house.accept("first", uploader="ada")
    _, second = await house.accept("second", uploader="bob")
    first_lease = await house.queue.take()
    assert first_lease is not None
    assert first_lease.version_id == first
    assert await house.queue.take() is None, "one version of a document at a time"
    # The work on the first is put off, so that the second overtakes it.
    await house.queue.give_back(first_lease, delay_ms=1, retried=True)
    await house.redis.zadd("footnote:delayed", {first: 2**52})
    async with house.working():
        await house.end_of(second)
        assert house.index.texts(document_id) == ["second"]
        await house.redis.zadd("footnote:delayed", {first: 0})
        [item] = (await house.end_of(first)).items
    assert item.stage == "cancelled"
    assert house.index.texts(document_id) == ["second"]
    assert first not in await house.everything()


async def test_relabelling_changes_chunks_in_place_even_while_they_are_made(house: House) -> None:
    entered, go = asyncio.Event(), asyncio.Event()

    async def wait(meta: DocumentMeta, stage: str) -> None:
        if stage == "indexing":
            entered.set()
            await go.wait()

    house.ingestor.hook = wait
    async with house.working():
        document_id, version_id = await house.accept("one\ntwo", labels=("old",))
        await entered.wait()
        document = await house.library.relabel("acme", document_id, ["new"])
        assert document.latest.meta.labels == ("new",)
        go.set()
        await house.end_of(version_id)
        assert house.index.labels(document_id) == {("new",)}
        await house.library.relabel("acme", document_id, [])
        assert house.index.labels(document_id) == {()}
    assert house.ingestor.begun == ["notes.md"]


async def test_parsing_again_makes_a_version_of_the_same_content(house: House) -> None:
    async with house.working():
        document_id, first = await house.accept("text")
        await house.end_of(first)
        item = await house.library.reparse("acme", document_id, "other")
        await house.end_of(item.version_id)
        document = await house.library.get("acme", document_id)
        assert document.current is not None
        assert document.current.outcome is not None
        assert document.current.outcome.parser == "other/1"
        assert document.current.meta.version == 2
        # The choice of a parser does not make the content new.
        assert await house.accept("text") == (document_id, item.version_id)
    assert first not in await house.everything()
    with pytest.raises(LookupError):
        await house.library.reparse("acme", "nothing", "other")
