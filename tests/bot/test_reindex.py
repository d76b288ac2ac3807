"""A new index is filled from the stored text while the old one answers and documents come and go."""

from __future__ import annotations

import gzip

import pytest

from bot.reindex import rebuild
from retrieval.documents import DocumentMeta
from retrieval.models.protocol import ModelError
from tests.bot.doubles import House, LineIngestor, SqliteIndex, until


async def quiet(done: int, total: int) -> None: ...


async def filled(house: House, count: int = 4) -> dict[str, str]:
    """Document ids by name."""
    accepted = {f"{n}.md": await house.accept(f"{n}\n{n}", f"{n}.md") for n in range(count)}
    await house.end_of(*(version_id for _, version_id in accepted.values()))
    return {name: document_id for name, (document_id, _) in accepted.items()}


async def test_everything_is_there_without_parsing_again(house: House) -> None:
    new = SqliteIndex()
    seen: list[tuple[int, int]] = []

    async def report(done: int, total: int) -> None:
        seen.append((done, total))

    async with house.working():
        documents = await filled(house)
    parsed = list(house.ingestor.begun)
    result = await rebuild(house.library, LineIngestor(new), new, report)
    assert (result.documents, result.chunks, result.failed) == (4, 8, [])
    assert seen == [(0, 4), (1, 4), (2, 4), (3, 4), (4, 4)]
    assert house.ingestor.begun == parsed
    house.library.use_index(new)
    for name, document_id in documents.items():
        assert new.texts(document_id) == [name[0]] * 2
    assert await new.versions("acme") == await house.index.versions("acme")


async def test_what_changes_meanwhile_is_changed_there_too(house: House) -> None:
    new = SqliteIndex()
    ingestor = LineIngestor(new)
    async with house.working():
        documents = await filled(house)
        changed = False

        async def change(meta: DocumentMeta, stage: str) -> None:
            nonlocal changed
            if meta.name != "2.md" or stage != "indexing" or changed:
                return
            changed = True
            await house.library.delete("acme", documents["0.md"])
            await house.library.delete("acme", documents["2.md"])
            _, replaced = await house.accept("new", "1.md")
            _, added = await house.accept("added", "9.md")
            await house.end_of(replaced, added)
            await house.library.relabel("acme", documents["3.md"], ["late"])
            await house.library.relabel("acme", documents["1.md"], ["late"])

        ingestor.hook = change
        await rebuild(house.library, ingestor, new, quiet)
    assert await new.versions("acme") == await house.index.versions("acme")
    assert new.everything() == house.index.everything()
    assert changed


async def test_what_was_done_is_not_done_again(house: House) -> None:
    new = SqliteIndex()
    ingestor = LineIngestor(new)
    async with house.working():
        documents = await filled(house)
        ingestor.errors = [ModelError("unavailable", "down")]
        with pytest.raises(ModelError):
            await rebuild(house.library, ingestor, new, quiet)
        assert (await rebuild(house.library, ingestor, new, quiet)).documents == 4
        await house.library.relabel("acme", documents["1.md"], ["late"])
        assert (await rebuild(house.library, ingestor, new, quiet)).documents == 0
        assert new.labels(documents["1.md"]) == {("late",)}


@pytest.mark.parametrize(
    "text",
    [None, b"", b"\x1f\x8b half", gzip.compress(b"{}", mtime=0)],
    ids=["none", "empty", "half", "other"],
)
async def test_text_that_is_lost_is_read_from_the_original(house: House, text: bytes | None) -> None:
    new = SqliteIndex()
    async with house.working():
        documents = await filled(house)
    version_id = (await house.library.get("acme", documents["1.md"])).latest.meta.version_id
    path = house.folder / f"files/parsed/acme/{version_id}.json.gz"
    path.unlink() if text is None else path.write_bytes(text)
    ingestor = LineIngestor(new)
    assert (await rebuild(house.library, ingestor, new, quiet)).documents == 4
    assert ingestor.begun == ["1.md"]
    assert new.texts(documents["1.md"]) == ["1", "1"]
    assert await house.library.parsed("acme", version_id)


async def test_a_document_whose_files_are_lost_is_named(house: House) -> None:
    new = SqliteIndex()
    async with house.working():
        documents = await filled(house)
    document = await house.library.get("acme", documents["1.md"])
    await house.files.delete_version("acme", document.latest.meta.version_id)
    result = await rebuild(house.library, LineIngestor(new), new, quiet)
    assert (result.documents, result.failed) == (3, ["1.md"])


async def test_an_upload_during_the_change_of_index_waits_and_is_not_lost(house: House) -> None:
    new = SqliteIndex()
    async with house.working():
        await filled(house)
        await rebuild(house.library, LineIngestor(new), new, quiet)
    document_id, version_id = await house.accept("between", "between.md")  # no worker runs now
    await rebuild(house.library, LineIngestor(new), new, quiet)
    house.library.use_index(new)
    house.ingestor = LineIngestor(new)
    async with house.working():
        await house.end_of(version_id)
    await until(lambda: new.texts(document_id) == ["between"])
