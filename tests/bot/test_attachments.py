"""Files attached to a question, through the whole bot: read for their thread, found nowhere else."""

from __future__ import annotations

import asyncio
import uuid
from collections.abc import AsyncGenerator
from pathlib import Path

import pytest
import pytest_asyncio

from adapters.conversation import Conversation, Person, Reply, Turn, UploadedFile, Working
from adapters.forms import Progress
from adapters.ports import Actor, Refused, UploadOptions
from bot.app import App, open_app
from bot.assistant import Assistant
from bot.config import Config
from bot.library import ATTACHED

pytestmark = [pytest.mark.xdist_group("app"), pytest.mark.asyncio(loop_scope="module")]

SECRET = "# Project Kestrel\n\nThe budget of Project Kestrel is 4,711 euros, approved by Nadia in May.\n"
QUESTION = "What is the budget of Project Kestrel?"
ANN, BEN = Person(id="U1", name="Ann"), Person(id="U2", name="Ben")


@pytest_asyncio.fixture(scope="module", loop_scope="module")
async def app(tmp_path_factory: pytest.TempPathFactory, models: Path) -> AsyncGenerator[App]:
    folder = tmp_path_factory.mktemp("data")
    async with open_app(Config.model_validate({"data_dir": folder, "model_cache_dir": models})) as app:
        yield app


def place(thread: str | None, *, channel: str = "C1") -> Conversation:
    return Conversation(platform="slack", tenant="T1", id=channel, kind="public_channel", thread=thread)


async def ask(
    app: App, text: str, thread: str | None, *files: Path, asker: Person = ANN, turn_id: str = ""
) -> tuple[Reply, list[str]]:
    """The reply, and what was shown meanwhile."""
    turn = Turn(
        id=turn_id or uuid.uuid4().hex,
        workspace=await app.workspaces.of("slack", "T1"),
        conversation=place(thread),
        asker=asker,
        text=text,
        files=tuple(UploadedFile(name=file.name, path=file, size=file.stat().st_size) for file in files),
    )
    events = [event async for event in app.answers.answer(turn)]
    shown = [event.text for event in events if isinstance(event, Working)]
    assert isinstance(events[-1], Reply)
    return events[-1], shown


async def actor(app: App, person: Person = ANN) -> Actor:
    return Actor(workspace=await app.workspaces.of("slack", "T1"), person=person, conversation=place(None))


@pytest.fixture
def kestrel(tmp_path: Path) -> Path:
    path = tmp_path / "kestrel.md"
    path.write_text(SECRET, "utf-8")
    return path


async def test_an_attached_file_answers_in_its_thread_and_nowhere_else(app: App, kestrel: Path) -> None:
    reply, shown = await ask(app, QUESTION, "1.0", kestrel)
    assert "4,711" in reply.text
    assert [c.name for c in reply.citations] == ["kestrel.md"]
    assert "Reading kestrel.md" in shown

    # A follow-up finds it, of another person too: they read the same thread.
    reply, _ = await ask(app, "Who approved the budget of Project Kestrel?", "1.0", asker=BEN)
    assert "Nadia" in reply.text
    # Another thread, and the channel itself, don't.
    for thread in ("2.0", None):
        reply, _ = await ask(app, QUESTION, thread)
        assert "4,711" not in reply.text
        assert reply.citations == ()
    for person in (ANN, BEN):
        who = await actor(app, person)
        hits = await app.documents.search(who, QUESTION)
        assert all("4,711" not in hit.text for hit in hits)
        assert all("Kestrel" not in question for question in await app.answers.suggestions(who))
        assert ATTACHED not in await app.documents.knowledge_bases(who)
    assert [view.name for view in await app.documents.list(await actor(app, BEN))] == []
    (view,) = await app.documents.list(await actor(app))
    assert (view.name, view.knowledge_base) == ("kestrel.md", ATTACHED)


async def test_the_same_turn_again_adds_nothing(app: App, kestrel: Path) -> None:
    """After a kill the same question is worked once more."""
    before = len(await app.documents.list(await actor(app)))
    for _ in range(2):
        await ask(app, QUESTION, "3.0", kestrel)
    assert len(await app.documents.list(await actor(app))) == before + 1


async def test_a_file_that_cannot_be_read_is_told_and_the_question_answered(
    app: App, tmp_path: Path
) -> None:
    broken = tmp_path / "broken.pdf"
    broken.write_bytes(b"%PDF-1.7\nno more")
    empty = tmp_path / "empty.txt"
    empty.write_bytes(b"")
    good = tmp_path / "good.md"
    good.write_text(SECRET, "utf-8")
    reply, _ = await ask(app, QUESTION, "4.0", broken, empty, good)
    assert "4,711" in reply.text
    assert any(note.startswith("broken.pdf can't be read: ") for note in reply.notes)
    assert any(note.startswith("empty.txt can't be read: ") for note in reply.notes)


async def test_a_slow_file_does_not_hold_the_question_up_for_ever(
    app: App, kestrel: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    assert isinstance(app.answers, Assistant)
    attachments = app.answers._attachments  # pyright: ignore[reportPrivateUsage]

    async def never(_versions: object) -> AsyncGenerator[Progress]:
        await asyncio.Event().wait()
        yield Progress(items=())

    monkeypatch.setattr(attachments, "_patience", 0.01)
    monkeypatch.setattr(attachments._library, "watch", never)  # pyright: ignore[reportPrivateUsage]
    reply, _ = await ask(app, QUESTION, "5.0", kestrel)
    assert "kestrel.md is still being read. Ask again in a minute." in reply.notes


async def test_attached_files_end_with_the_retention_time(app: App, kestrel: Path) -> None:
    assert isinstance(app.answers, Assistant)
    await ask(app, QUESTION, "6.0", kestrel)
    attachments = app.answers._attachments  # pyright: ignore[reportPrivateUsage]
    await attachments.sweep()
    assert await app.documents.list(await actor(app))
    await attachments.sweep(now=4e9)
    assert await app.documents.list(await actor(app)) == []
    reply, _ = await ask(app, QUESTION, "6.0")
    assert "4,711" not in reply.text


async def test_nobody_can_choose_the_knowledge_base_of_attached_files(app: App, kestrel: Path) -> None:
    file = UploadedFile(name="kestrel.md", path=kestrel, size=len(SECRET.encode()))
    with pytest.raises(Refused):
        await app.documents.upload(
            await actor(app), [file], UploadOptions(knowledge_base="Attached to a question")
        )
