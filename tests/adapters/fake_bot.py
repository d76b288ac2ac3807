"""A bot that remembers what it was asked, and does as it is told."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncGenerator, AsyncIterator, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from datetime import UTC, datetime
from pathlib import Path
from typing import Any, cast

from aiohttp.test_utils import TestClient, TestServer

from adapters.conversation import Citation, Conversation, Message, Reply, ReplyEvent, Turn, UploadedFile
from adapters.forms import Feedback, Field, Form, FormResult, Progress, ProgressItem, Submission
from adapters.ports import (
    Actor,
    Asked,
    Bot,
    DocumentView,
    Explanation,
    Refused,
    SearchHit,
    SourceView,
    UnansweredQuestion,
    UploadOptions,
)
from adapters.web.page import web_application

FORM = Form(
    id="workspace-settings", title="Settings", revision=3, fields=(Field(name="x", label="X", kind="text"),)
)


def item(name: str, number: int = 1, stage: Any = "queued") -> ProgressItem:
    return ProgressItem(document_id=f"d{number}", version_id=f"v{number}", name=name, stage=stage)


def citation(**values: Any) -> Citation:
    return Citation.model_validate(
        {
            "number": 1, "label": "1", "title": "Keys", "document_id": "d1", "version_id": "v1",
            "version": 1, "chunk_id": "c1", "name": "keys.md", "quote": "Every 90 days.",
            "passage": "Every 90 days.", "url": "http://kb.example/source/abc", **values,
        }
    )  # fmt: skip


def document(number: int = 1, **values: Any) -> DocumentView:
    name = values.get("name", f"keys{number}.md")
    return DocumentView.model_validate(
        {
            "document_id": f"d{number}", "version_id": f"v{number}", "version": 1, "name": name,
            "title": name, "knowledge_base": "main", "uploaded_at": datetime(2026, 11, 30, tzinfo=UTC),
            "state": item(name, number, "done"), "editable": True, **values,
        }
    )  # fmt: skip


@dataclass
class FakeBot:
    """One object for all ports: none of their methods has the same name as another's, but `list`."""

    #: What `answer` yields; an exception among them is raised, an event waited for.
    events: list[Any] = field(default_factory=list[Any])
    #: Raised by the method of that name.
    refuse: dict[str, Exception] = field(default_factory=dict[str, Exception])
    replies: dict[str, Reply] = field(default_factory=dict[str, Reply])
    messages: dict[str, list[Message]] = field(default_factory=dict[str, list[Message]])
    asked: list[Turn] = field(default_factory=list[Turn])
    uploads: list[tuple[dict[str, bytes], UploadOptions]] = field(
        default_factory=list[tuple[dict[str, bytes], UploadOptions]]
    )
    calls: list[tuple[Any, ...]] = field(default_factory=list[tuple[Any, ...]])
    view: SourceView | None = None
    #: What `list` gives, and what `question` knows by turn.
    documents_there: list[DocumentView] = field(default_factory=list[DocumentView])
    questions: dict[str, Asked] = field(default_factory=dict[str, Asked])
    not_covered: list[UnansweredQuestion] = field(default_factory=list[UnansweredQuestion])
    explanation: Explanation | None = None
    closed: asyncio.Event = field(default_factory=asyncio.Event)

    def __post_init__(self) -> None:
        self.answers = self.documents = self.sources = self.settings = self.feedback = self
        self.transcript = self.workspaces = self

    def _called(self, name: str, *values: Any) -> None:
        self.calls.append((name, *values))
        if name in self.refuse:
            raise self.refuse[name]

    # -- answers ---------------------------------------------------------------------------

    async def answer(self, turn: Turn) -> AsyncIterator[ReplyEvent]:
        self.asked.append(turn)
        try:
            for event in self.events:
                if isinstance(event, Exception):
                    raise event
                if isinstance(event, asyncio.Event):
                    await event.wait()
                else:
                    yield event
        finally:
            self.closed.set()

    async def reply(self, actor: Actor, turn_id: str) -> Reply | None:
        return self.replies.get(turn_id)

    async def explain(self, actor: Actor, turn_id: str) -> Explanation:
        self._called("explain", turn_id)
        return self.explanation or Explanation(turn_id=turn_id, question="?", steps=(), total_ms=1)

    async def suggestions(self, actor: Actor, *, limit: int = 4) -> list[str]:
        return ["What does “Keys” say?"]

    async def question(self, actor: Actor, turn_id: str) -> Asked | None:
        return self.questions.get(turn_id)

    async def unanswered(self, actor: Actor, *, limit: int = 10) -> list[UnansweredQuestion]:
        return self.not_covered[:limit] if actor.person.is_admin else []

    # -- documents -------------------------------------------------------------------------

    async def upload(self, actor: Actor, files: Sequence[UploadedFile], options: UploadOptions) -> Progress:
        self._called("upload")
        self.uploads.append(({file.name: file.path.read_bytes() for file in files}, options))
        assert all(file.path.stat().st_size == file.size for file in files)
        first = sum(len(names) for names, _ in self.uploads) - len(files)
        return Progress(items=tuple(item(file.name, number) for number, file in enumerate(files, first)))

    async def watch(self, actor: Actor, version_ids: Sequence[str]) -> AsyncIterator[Progress]:
        self._called("watch", list(version_ids))
        numbers = [int(v[1:]) if v[1:].isdecimal() else 1 for v in version_ids]
        ends = zip(version_ids, numbers, strict=True)
        yield Progress(items=tuple(item(v, number, "done") for v, number in ends))
        if error := self.refuse.get("watching"):
            raise error

    async def list(self, actor: Actor) -> list[DocumentView]:
        self._called("list")
        return list(self.documents_there)

    async def get(self, actor: Actor, document_id: str) -> DocumentView:
        self._called("get", document_id)
        return next(d for d in self.documents_there if d.document_id == document_id)

    async def knowledge_bases(self, actor: Actor) -> Sequence[str]:
        return ("main",)

    async def delete(self, actor: Actor, document_id: str) -> None:
        self._called("delete", document_id)
        self.documents_there = [d for d in self.documents_there if d.document_id != document_id]

    async def cancel(self, actor: Actor, version_ids: Sequence[str]) -> Progress:
        self._called("cancel", list(version_ids))
        return Progress(items=())

    async def relabel(self, actor: Actor, document_id: str, labels: Sequence[str]) -> DocumentView:
        self._called("relabel", document_id, list(labels))
        return DocumentView(
            document_id=document_id, version_id="v1", version=1, name="a.md", title="A",
            knowledge_base="main", labels=tuple(labels), uploaded_at=datetime.now(UTC), state=item("a.md"),
        )  # fmt: skip

    async def search(self, actor: Actor, query: str, *, mode: Any = "hybrid", limit: int = 10) -> Any:
        self._called("search", query, mode)
        text = "| Day | Dish |\n| --- | --- |\n| Monday | **Soup** |"
        hit = SearchHit(rank=1, score=0.5, chunk_id="c", document_id="d", title="Menu", page=2, text=text)
        return [hit, hit.model_copy(update={"name": "a.pptx"}), hit.model_copy(update={"summary": True})]

    # -- sources, settings, feedback, transcript, workspaces -----------------------------------

    async def open(self, token: str) -> SourceView:
        if self.view is None:
            raise Refused("This link has <expired>.")
        return self.view

    async def page_image(self, token: str, *, width: int = 1200) -> bytes:
        self._called("page_image", token, width)
        return b"\x89PNG"

    async def form(self, actor: Actor) -> Form:
        self._called("form")
        return FORM

    async def submit(self, actor: Actor, submission: Submission) -> FormResult:
        self._called("submit", submission)
        return FormResult(message="Saved.")

    async def record(self, actor: Actor, feedback: Feedback) -> None:
        self._called("record", feedback)

    async def append(self, conversation: Conversation, message: Message) -> None:
        self._called("append")
        self.messages.setdefault(conversation.key, []).append(message)

    async def forget(self, conversation: Conversation, message_id: str) -> None:
        self._called("forget", message_id)

    async def recent(self, conversation: Conversation, *, limit: int = 50) -> Any:
        return self.messages.get(conversation.key, [])[-limit:]


@asynccontextmanager
async def page_of(
    bot: FakeBot, spool: Path, *, workspace: str | None = "local"
) -> AsyncGenerator[TestClient[Any, Any]]:
    """The page, served for `bot`, and a client whose requests look like those of a program."""
    application = web_application(cast("Bot", bot), spool=spool, workspace=workspace)
    server = TestServer(application, handler_cancellation=True)
    async with TestClient(server) as client:
        yield client
