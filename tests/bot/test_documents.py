"""Who may replace what, where files of the same name meet."""

from __future__ import annotations

from typing import Any, cast

import pytest

from adapters.conversation import Conversation, ConversationKind, Person, UploadedFile
from adapters.forms import ProgressItem
from adapters.ports import Actor, Refused, UploadOptions
from bot.documents import DocumentDesk
from bot.workspaces import WorkspaceBook
from tests.bot.doubles import House


class Desk:
    """Uploads to one workspace, each time as somebody else."""

    def __init__(self, house: House) -> None:
        self.house = house
        workspaces = WorkspaceBook(house.redis, reranker=False, rephrase=False)
        unused = cast("Any", None)
        self.documents = DocumentDesk(house.library, workspaces, unused, unused, unused)

    def actor(self, name: str, kind: ConversationKind = "direct") -> Actor:
        person = Person(id=name, name=name, is_admin=name == "root")
        conversation = Conversation(platform="slack", tenant="T1", id="C1", kind=kind)
        return Actor(workspace="acme", person=person, conversation=conversation)

    async def upload(
        self, name: str, text: str, kind: ConversationKind = "direct", **options: Any
    ) -> ProgressItem:
        path = self.house.upload(text).path
        file = UploadedFile(name="rules.md", path=path, size=path.stat().st_size)
        progress = await self.documents.upload(self.actor(name, kind), [file], UploadOptions(**options))
        (item,) = progress.items
        return item

    async def versions(self) -> dict[str, int]:
        """The number of the newest version by document."""
        found = await self.house.library.list("acme")
        return {document.document_id: document.latest.meta.version for document in found}


@pytest.fixture
def desk(house: House) -> Desk:
    return Desk(house)


@pytest.mark.parametrize("options", [{}, {"labels": ("hr",)}, {"source_url": "https://files.example/2"}])
async def test_the_unchanged_file_of_somebody_else_is_no_replacement(
    desk: Desk, options: dict[str, Any]
) -> None:
    waiting = await desk.upload("ann", "Thirty days.")
    again = await desk.upload("ben", "Thirty days.", **options)
    assert (again.version_id, again.stage, again.message) == (waiting.version_id, "queued", "")
    async with desk.house.working():
        await desk.house.end_of(waiting.version_id)
    again = await desk.upload("ben", "Thirty days.", **options)
    assert (again.version_id, again.stage, again.message) == (waiting.version_id, "done", "unchanged")
    assert await desk.versions() == {waiting.document_id: 1}
    (document,) = await desk.house.library.list("acme")
    assert document.latest.meta.uploader == "slack:T1:ann"
    assert document.latest.meta.labels == ()


async def test_a_changed_file_of_somebody_else_is_replaced_by_admins_only(desk: Desk) -> None:
    first = await desk.upload("ann", "Thirty days.")
    with pytest.raises(Refused, match=r"Somebody else has added a document named “rules\.md”"):
        await desk.upload("ben", "Forty days.")
    assert await desk.versions() == {first.document_id: 1}
    await desk.upload("root", "Forty days.")
    assert await desk.versions() == {first.document_id: 2}


async def test_a_file_that_somebody_else_could_not_add_is_not_called_unchanged(desk: Desk) -> None:
    async with desk.house.working():
        failed = await desk.upload("ann", "!corrupt")
        await desk.house.end_of(failed.version_id)
    with pytest.raises(Refused, match="Somebody else"):
        await desk.upload("ben", "!corrupt")


@pytest.mark.parametrize("text", ["Thirty days.", "Forty days."])
async def test_what_nobody_else_may_see_is_neither_told_nor_touched(desk: Desk, text: str) -> None:
    async with desk.house.working():
        hers = await desk.upload("ann", "Thirty days.", audience="person")
        await desk.house.end_of(hers.version_id)
    for audience in ("person", "everyone"):
        his = await desk.upload("ben", text, audience=audience)
        assert (his.stage, his.message) == ("queued", "")
        assert his.document_id != hers.document_id
    assert (await desk.versions())[hers.document_id] == 1


@pytest.mark.parametrize("text", ["Thirty days.", "Forty days."])
async def test_what_cannot_be_seen_from_a_shared_channel_stays_beside(desk: Desk, text: str) -> None:
    async with desk.house.working():
        hers = await desk.upload("ann", "Thirty days.")
        await desk.house.end_of(hers.version_id)
    his = await desk.upload("ben", text, "shared_channel")
    assert (his.stage, his.message) == ("queued", "")
    assert await desk.versions() == {hers.document_id: 1, his.document_id: 1}


async def test_keeping_both_is_done_even_with_the_same_content(desk: Desk) -> None:
    hers = await desk.upload("ann", "Thirty days.")
    his = await desk.upload("ben", "Thirty days.", same_name="keep_both")
    assert his.document_id != hers.document_id
    assert (await desk.upload("ben", "Thirty days.", same_name="keep_both")) == his
