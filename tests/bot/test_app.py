"""The whole bot on its embedded defaults: documents in, cited answers out."""

from __future__ import annotations

import uuid
from collections.abc import AsyncGenerator, AsyncIterator, Callable
from contextlib import AbstractAsyncContextManager
from pathlib import Path

import pytest
import pytest_asyncio

from adapters.conversation import Delta, Message, Reply, ReplyEvent, Turn, UploadedFile
from adapters.ports import Actor, Refused, UploadOptions
from bot.app import App, open_app
from bot.config import Config
from bot.connect import local_actor
from bot.demo import QUESTION, files_in, handbook, load_handbook
from tests.doubles.gemini import GeminiDouble

pytestmark = [pytest.mark.xdist_group("app"), pytest.mark.asyncio(loop_scope="module")]


#: Opens the bot on a data folder with settings of one's own.
Opened = Callable[..., AbstractAsyncContextManager[App]]


@pytest.fixture(scope="module")
def opened(models: Path) -> Opened:
    def open_with(folder: Path, **values: object) -> AbstractAsyncContextManager[App]:
        return open_app(Config.model_validate({"data_dir": folder, "model_cache_dir": models, **values}))

    return open_with


@pytest_asyncio.fixture(scope="module", loop_scope="module")
async def app(tmp_path_factory: pytest.TempPathFactory, opened: Opened) -> AsyncGenerator[App]:
    """The bot with the handbook loaded."""
    async with opened(tmp_path_factory.mktemp("data"), public_url="https://kb.example") as app:
        await app.workspaces.of("cli", "demo")
        accepted = await load_handbook(app.documents, actor())
        async for progress in app.documents.watch(actor(), [i.version_id for i in accepted.items]):
            if progress.finished:
                assert {item.stage for item in progress.items} == {"done"}, progress
        yield app


def actor() -> Actor:
    return local_actor("demo")


async def add(app: App, path: Path) -> str:
    """Upload a file and wait for it; what was said when it was accepted."""
    await app.workspaces.of("cli", "demo")
    (accepted,) = (await app.documents.upload(actor(), files_in([path]), UploadOptions())).items
    async for progress in app.documents.watch(actor(), [accepted.version_id]):
        if progress.finished:
            assert progress.items[0].stage == "done", progress
    return accepted.message


def turn(text: str, history: tuple[Message, ...] = ()) -> Turn:
    who = actor()
    return Turn(
        id=uuid.uuid4().hex,
        workspace="demo",
        conversation=who.conversation,
        asker=who.person,
        text=text,
        history=history,
    )


async def reply_to(app: App, asked: Turn) -> Reply:
    events = [event async for event in app.answers.answer(asked)]
    replies = [event for event in events if isinstance(event, Reply)]
    assert len(replies) == 1, "exactly one visible end"
    assert events[-1] is replies[0]
    return replies[0]


def remembered(asked: Turn, reply: Reply) -> tuple[Message, ...]:
    return (
        *asked.history,
        Message(id=asked.id, role="person", text=asked.text),
        Message(id=f"{asked.id}/r", role="assistant", text=reply.text, turn_id=asked.id),
    )


async def test_the_handbook_answers_with_its_source(app: App) -> None:
    reply = await reply_to(app, turn(QUESTION))
    assert reply.kind == "answer"
    assert "90 days" in reply.text
    assert {c.name for c in reply.citations} == {"keys.md"}
    for citation in reply.citations:
        assert citation.quote in citation.passage
        assert f"[{citation.label}]" in reply.text
    assert len(reply.notes) == 1  # that no model answered


@pytest.mark.parametrize(
    "question",
    [
        "Wie oft muss ich meinen API-Schlüssel wechseln?",
        "À quelle fréquence dois-je changer ma clé API ?",
        "¿Cada cuánto tengo que cambiar mi clave de API?",
        "我需要多久更换一次 API 密钥？",
        "APIキーはどのくらいの頻度で変更する必要がありますか？",
    ],
)
async def test_any_language_finds_the_english_passage(app: App, question: str) -> None:
    reply = await reply_to(app, turn(question))
    assert reply.kind == "answer", reply.text
    assert "keys.md" in {c.name for c in reply.citations}
    assert "90 days" in " ".join(c.quote for c in reply.citations)


async def test_a_citation_of_a_pdf_names_its_page_and_heading(app: App) -> None:
    reply = await reply_to(app, turn("What is the daily allowance in Spain for a full day?"))
    assert "42" in reply.text
    citation = reply.citations[0]
    assert (citation.name, citation.page) == ("travel-policy.pdf", 2)
    assert citation.heading_path[-1] == "3 Daily allowance"


async def test_a_source_link_opens_the_page_with_the_words_marked(app: App) -> None:
    reply = await reply_to(app, turn("When is premium economy allowed on flights?"))
    url = reply.citations[0].url
    assert url is not None
    token = url.rsplit("/", 1)[1]
    view = await app.sources.open(token)
    start, end = view.quote_span
    assert view.passage[start:end] == reply.citations[0].quote
    assert (view.page, view.has_image) == (1, True)
    assert view.marks
    assert (await app.sources.page_image(token, width=300)).startswith(b"\x89PNG")
    with pytest.raises(Refused):
        await app.sources.open(token[:-2] + "xx")


async def test_follow_ups_reworks_and_small_talk(app: App) -> None:
    first = turn("How long does an STS token live?")
    answer = await reply_to(app, first)
    assert "60 minutes" in answer.text
    shorter = await reply_to(app, turn("shorten that", remembered(first, answer)))
    assert shorter.citations
    assert {c.chunk_id for c in shorter.citations} <= {c.chunk_id for c in answer.citations}
    for text, kind in (
        ("hi", "notice"),
        ("What can you do?", "notice"),
        ("🎉", "notice"),
        ("", "notice"),
    ):
        reply = await reply_to(app, turn(text))
        assert (reply.kind, reply.citations) == (kind, ()), text
        assert reply.text


@pytest.mark.parametrize(
    "question", ["What is the boiling point of tungsten?", "Who won the 1998 world cup final in Paris?"]
)
async def test_what_no_document_covers_is_said(app: App, question: str) -> None:
    reply = await reply_to(app, turn(question))
    assert reply.kind == "not_covered", reply.text
    assert not reply.citations


async def test_bad_questions_end_visibly(app: App) -> None:
    for text in ("word " * 10_000, "in:nowhere what?", "what after:tomorrow", "\ud800", "@kb", "\0"):
        reply = await reply_to(app, turn(text))
        assert reply.text, text[:20]
        assert reply.kind != "answer", text[:20]


async def test_the_same_turn_again_gives_the_stored_reply(app: App) -> None:
    asked = turn(QUESTION)
    first = await reply_to(app, asked)
    assert [event async for event in app.answers.answer(asked)] == [first]
    assert await app.answers.reply(actor(), asked.id) == first
    explanation = await app.answers.explain(actor(), asked.id)
    assert {"search", "generate", "cite"} <= {step.name for step in explanation.steps}
    stranger = actor().model_copy(update={"workspace": "other"})
    assert await app.answers.reply(stranger, asked.id) is None
    with pytest.raises(Refused):
        await app.answers.explain(stranger, asked.id)


async def test_an_empty_workspace_says_how_to_add_a_document(tmp_path: Path, opened: Opened) -> None:
    async with opened(tmp_path) as app:
        await app.workspaces.of("cli", "demo")
        reply = await reply_to(app, turn("How many holidays do I get?"))
        assert reply.kind == "notice"
        assert "upload" in reply.text.lower()


async def test_documents_come_change_and_go(tmp_path: Path, opened: Opened) -> None:
    note = tmp_path / "lunch.md"

    async def put(app: App, text: str) -> str:
        note.write_text(text)
        return await add(app, note)

    async def lunch(app: App) -> str:
        return (await reply_to(app, turn("When is lunch served?"))).text

    async with opened(tmp_path / "data") as app:
        await put(app, "# Lunch\n\nLunch is served at noon.")
        assert "noon" in await lunch(app)
        assert await put(app, "# Lunch\n\nLunch is served at noon.") == "unchanged"
        await put(app, "# Lunch\n\nLunch is served at one o'clock.")
        answer = await lunch(app)
        assert "one o'clock" in answer
        assert "noon" not in answer
        (document,) = await app.documents.list(actor())
        assert document.version == 2
    async with opened(tmp_path / "data") as app:  # another process later
        assert "one o'clock" in await lunch(app)
        await app.documents.relabel(actor(), document.document_id, ["Food"])
        assert "one o'clock" in (await reply_to(app, turn("When is lunch served? label:food"))).text
        await app.documents.delete(actor(), document.document_id)
        assert await app.documents.list(actor()) == []
        assert (await reply_to(app, turn("When is lunch served?"))).kind == "notice"


async def test_one_bad_file_never_stops_a_batch(tmp_path: Path, opened: Opened) -> None:
    good, bad = tmp_path / "good.txt", tmp_path / "bad.pdf"
    good.write_text("The gate code is 4711.")
    bad.write_bytes(b"%PDF-1.4 broken")
    async with opened(tmp_path / "data") as app:
        await app.workspaces.of("cli", "demo")
        files = [
            *files_in([bad, good]),
            UploadedFile(name="gone.txt", path=tmp_path / "gone.txt", size=3),
        ]
        accepted = await app.documents.upload(actor(), files, UploadOptions())
        async for progress in app.documents.watch(actor(), [i.version_id for i in accepted.items]):
            end = progress
        stages = {item.name: (item.stage, item.message) for item in end.items}
        assert stages["good.txt"][0] == "done"
        for name in ("bad.pdf", "gone.txt"):
            assert stages[name][0] == "failed"
            assert stages[name][1].endswith(".")
        assert "4711" in (await reply_to(app, turn("What is the gate code?"))).text


async def test_a_rebuild_answers_while_it_runs_and_after(app: App) -> None:
    updates = [update async for update in app.admin.reindex()]
    assert updates[-1].failed == 0
    assert updates[-1].total == len(list(handbook().iterdir()))
    assert "90 days" in (await reply_to(app, turn(QUESTION))).text
    assert "90 days" in (await reply_to(app, turn(QUESTION))).text


def streamed(events: list[ReplyEvent]) -> str:
    return "".join(event.text for event in events if isinstance(event, Delta))


async def test_gemini_answers_and_exactly_the_named_source_is_cited(tmp_path: Path, opened: Opened) -> None:
    def model(received: object) -> str:
        text = str(received)
        if "standalone" in text:
            return '{"standalone": "How often must an API key be changed?", "alternatives": []}'
        return "Every **90 days** [1]. Nobody knows more [9]."

    async with GeminiDouble() as gemini:
        gemini.always(model)
        keys = {"gemini_api_key": gemini.key, "gemini_base_url": gemini.url}
        async with opened(tmp_path, **keys) as app:
            await add(app, handbook() / "keys.md")
            events = [event async for event in app.answers.answer(turn(QUESTION))]
            reply = events[-1]
            assert isinstance(reply, Reply)
            assert reply.text == "Every **90 days** [1]. Nobody knows more."
            assert [c.name for c in reply.citations] == ["keys.md"]
            assert streamed(events) == reply.text
            assert reply.notes == ()


async def test_a_model_that_fails_still_gets_the_asker_an_answer(tmp_path: Path, opened: Opened) -> None:
    async with GeminiDouble() as gemini:
        keys = {"gemini_api_key": "wrong", "gemini_base_url": gemini.url}
        async with opened(tmp_path, **keys) as app:
            await add(app, handbook() / "keys.md")
            reply = await reply_to(app, turn(QUESTION))
            assert "90 days" in reply.text
            assert reply.notes


async def test_leaving_in_the_middle_stops_the_work(app: App) -> None:
    asked = turn(QUESTION)
    events: AsyncIterator[ReplyEvent] = app.answers.answer(asked)
    await anext(events)
    await events.aclose()  # type: ignore[attr-defined]
    assert await app.answers.reply(actor(), asked.id) is None
