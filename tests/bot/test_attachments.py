"""Files attached to a question, through the whole bot: read for their thread, found nowhere else."""

from __future__ import annotations

import asyncio
import uuid
from collections.abc import AsyncGenerator
from contextlib import aclosing
from datetime import UTC, datetime
from pathlib import Path
from typing import cast

import pytest
import pytest_asyncio

from adapters.conversation import (
    Conversation,
    ConversationKind,
    Message,
    Person,
    Reply,
    ReplyEvent,
    Turn,
    UploadedFile,
    Working,
)
from adapters.forms import Progress
from adapters.ports import Actor, Refused, UploadOptions
from bot import keys
from bot.app import App, open_app
from bot.assistant import Assistant
from bot.config import Config
from bot.library import ATTACHED
from bot.links import Target
from bot.records import Upload
from retrieval.documents import thread_audience

pytestmark = [pytest.mark.xdist_group("app"), pytest.mark.asyncio(loop_scope="module")]

SECRET = "# Project Kestrel\n\nThe budget of Project Kestrel is 4,711 euros, approved by Nadia in May.\n"
QUESTION = "What is the budget of Project Kestrel?"
ANN, BEN = Person(id="U1", name="Ann"), Person(id="U2", name="Ben")


@pytest_asyncio.fixture(scope="module", loop_scope="module")
async def app(tmp_path_factory: pytest.TempPathFactory, models: Path) -> AsyncGenerator[App]:
    folder = tmp_path_factory.mktemp("data")
    async with open_app(Config.model_validate({"data_dir": folder, "model_cache_dir": models})) as app:
        yield app


def place(thread: str | None, *, direct: str = "", tenant: str = "T1") -> Conversation:
    """A thread of the channel, or one's direct messages with the bot."""
    kind: ConversationKind = "direct" if direct else "public_channel"
    return Conversation(platform="slack", tenant=tenant, id=direct or "C1", kind=kind, thread=thread)


async def asked(
    app: App,
    text: str,
    thread: str | Conversation | None,
    *files: Path,
    asker: Person = ANN,
    turn_id: str = "",
    private: bool = False,
    history: tuple[Message, ...] = (),
) -> Turn:
    where = thread if isinstance(thread, Conversation) else place(thread)
    return Turn(
        id=turn_id or uuid.uuid4().hex,
        workspace=await app.workspaces.of("slack", where.tenant),
        conversation=where,
        asker=asker,
        text=text,
        history=history,
        private=private,
        files=tuple(UploadedFile(name=file.name, path=file, size=file.stat().st_size) for file in files),
    )


async def ask(
    app: App,
    text: str,
    thread: str | Conversation | None,
    *files: Path,
    asker: Person = ANN,
    turn_id: str = "",
    private: bool = False,
    history: tuple[Message, ...] = (),
) -> tuple[Reply, list[str]]:
    """The reply, and what was shown meanwhile."""
    turn = await asked(
        app, text, thread, *files, asker=asker, turn_id=turn_id, private=private, history=history
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
    # Another thread, the channel itself, direct messages and other workspaces don't, whoever asks.
    elsewhere = [place("2.0"), place(None), place(None, direct="D1"), place("1.0", tenant="T2")]
    for where in elsewhere:
        for asker in (ANN, BEN):
            for private in (False, True):
                reply, _ = await ask(app, QUESTION, where, asker=asker, private=private)
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


async def test_a_private_question_keeps_its_file_from_the_thread(app: App, kestrel: Path) -> None:
    reply, _ = await ask(app, QUESTION, "7.0", kestrel, private=True)
    assert "4,711" in reply.text
    for asker, private in ((BEN, True), (BEN, False), (ANN, False)):
        reply, _ = await ask(app, QUESTION, "7.0", asker=asker, private=private)
        assert "4,711" not in reply.text
    reply, _ = await ask(app, QUESTION, "7.0", private=True)
    assert "4,711" in reply.text


async def test_a_private_question_may_use_what_its_thread_was_given(app: App, kestrel: Path) -> None:
    await ask(app, QUESTION, "8.0", kestrel)
    reply, _ = await ask(app, QUESTION, "8.0", asker=BEN, private=True)
    assert "4,711" in reply.text


@pytest.mark.parametrize("text", ["", "Summarise this", "What does this file say?"])
async def test_a_file_alone_is_told_from_its_beginning(app: App, kestrel: Path, text: str) -> None:
    thread = f"9.{len(text)}"
    reply, _ = await ask(app, text, thread, kestrel)
    assert (reply.kind, [c.name for c in reply.citations]) == ("answer", ["kestrel.md"])
    assert "4,711" in reply.text
    # In the thread it is still the file that is meant.
    reply, _ = await ask(app, "Please summarise the attached file", thread, asker=BEN)
    assert "4,711" in reply.text


async def test_an_answer_from_an_attached_file_is_shown_and_reworked(app: App, kestrel: Path) -> None:
    reply, _ = await ask(app, QUESTION, "10.0", kestrel, turn_id="kestrel-answer")
    (cited,) = reply.citations
    workspace = await app.workspaces.of("slack", "T1")
    target = Target(workspace, cited.document_id, cited.version_id, cited.chunk_id)
    assert "4,711" in (await app.sources.open(app.links.token(target))).passage
    said = Message(id="1", role="assistant", text=reply.text, turn_id="kestrel-answer")
    question = Message(id="0", role="person", text=QUESTION, author=ANN)
    reply, _ = await ask(app, "shorten that", "10.0", history=(question, said))
    assert reply.kind == "answer"
    assert [c.name for c in reply.citations] == ["kestrel.md"]


async def attached(app: App) -> list[str]:
    return [view.name for view in await app.documents.list(await actor(app))]


@pytest.mark.parametrize("noted", [True, False])
async def test_a_turn_that_is_worked_again_adds_nothing(
    app: App, kestrel: Path, tmp_path: Path, noted: bool
) -> None:
    """After a kill the same question is worked once more, whether or not its files were noted by then."""
    names = ["kestrel.md"]
    files = [kestrel]
    if noted:  # what failed is recognised by the note alone
        broken = tmp_path / "again.pdf"
        broken.write_bytes(b"%PDF-1.7\nno more")
        names, files = ["again.pdf", *names], [broken, *files]
    before = await attached(app)
    thread, turn_id = f"3.{noted:d}", uuid.uuid4().hex
    for events in range(1, 7):
        turn = await asked(app, QUESTION, thread, *files, turn_id=turn_id)
        async with aclosing(cast("AsyncGenerator[ReplyEvent]", app.answers.answer(turn))) as work:
            for _ in range(events):
                await anext(work)
        if not noted:
            await app.state.redis.delete(keys.turn_attachments(turn_id))
    reply, _ = await ask(app, QUESTION, thread, *files, turn_id=turn_id)
    assert "4,711" in reply.text
    assert [note.split(" can't be read: ")[0] for note in reply.notes][: len(names) - 1] == names[:-1]
    assert sorted(await attached(app)) == sorted([*before, *names])


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


async def test_a_file_whose_turn_was_killed_for_good_ends_too(app: App, kestrel: Path) -> None:
    """Its time is known from the moment that it is taken."""
    who = await actor(app)
    assert isinstance(app.answers, Assistant)
    attachments = app.answers._attachments  # pyright: ignore[reportPrivateUsage]
    upload = Upload(
        workspace=who.workspace,
        knowledge_base=ATTACHED,
        path=kestrel,
        name="kestrel.md",
        uploader="slack:T1:U1",
        audience=(thread_audience("slack:T1:C1:11.0"),),
        keep_both=True,
        expires_at=datetime(2030, 1, 1, tzinfo=UTC),
    )
    await attachments._library.accept(upload)  # pyright: ignore[reportPrivateUsage]
    await attachments.sweep(now=datetime(2029, 12, 31, tzinfo=UTC).timestamp())
    assert await attached(app) == ["kestrel.md"]
    await attachments.sweep(now=datetime(2030, 1, 2, tzinfo=UTC).timestamp())
    assert await attached(app) == []


async def test_nobody_can_choose_the_knowledge_base_of_attached_files(app: App, kestrel: Path) -> None:
    file = UploadedFile(name="kestrel.md", path=kestrel, size=len(SECRET.encode()))
    with pytest.raises(Refused):
        await app.documents.upload(
            await actor(app), [file], UploadOptions(knowledge_base="Attached to a question")
        )
