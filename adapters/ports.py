"""What an adapter asks of the bot. Adapters know these Protocols and nothing behind them."""

from __future__ import annotations

from collections.abc import AsyncIterator, Sequence
from datetime import datetime
from typing import Any, Literal, Protocol

from pydantic import Field

from adapters.conversation import (
    Conversation,
    Message,
    Neutral,
    Person,
    Reply,
    ReplyEvent,
    Turn,
    UploadedFile,
)
from adapters.durable import Inbox, Notes
from adapters.forms import Feedback, Form, FormResult, Progress, ProgressItem, Submission

SearchMode = Literal["hybrid", "semantic", "keyword"]
#: Who may read an uploaded document: everyone of the workspace; this channel; only the uploader;
#: everyone and guests.
AudienceChoice = Literal["everyone", "channel", "person", "shareable"]


class Refused(Exception):
    """The bot will not do that. `str()` is one sentence for the person, and may be shown as it is."""


class Actor(Neutral):
    """Who does something, and from where: what access is decided by."""

    workspace: str
    person: Person
    conversation: Conversation


class UploadOptions(Neutral):
    knowledge_base: str | None = None
    labels: tuple[str, ...] = ()
    audience: AudienceChoice = "everyone"
    #: A file whose name exists already in the knowledge base: a new version, or a document beside it.
    same_name: Literal["replace", "keep_both"] = "replace"
    source_url: str | None = None


class DocumentView(Neutral):
    """A document as a person may see it."""

    document_id: str
    version_id: str
    version: int
    name: str
    title: str
    knowledge_base: str
    labels: tuple[str, ...] = ()
    uploader: str = ""
    audience: tuple[str, ...] = ()
    size: int = 0
    pages: int | None = None
    chunks: int = 0
    languages: tuple[str, ...] = ()
    uploaded_at: datetime
    state: ProgressItem
    warnings: tuple[str, ...] = ()
    #: The actor may delete or change it.
    editable: bool = False
    source_url: str | None = None


class SearchHit(Neutral):
    """One passage of a search test, with its rank and score in each list."""

    rank: int
    score: float
    lists: dict[str, tuple[int, float]] = Field(default_factory=dict[str, tuple[int, float]])
    chunk_id: str
    document_id: str
    title: str
    #: File name: what its pages are called depends on it.
    name: str = ""
    #: Found by the summary of the document, which is no passage of it.
    summary: bool = False
    heading_path: tuple[str, ...] = ()
    page: int | None = None
    text: str
    url: str | None = None


class ExplanationStep(Neutral):
    """One step of "Why this answer?" for a timeline. `lines` are sentences for people."""

    name: str
    title: str
    start_ms: float
    ms: float
    lines: tuple[str, ...] = ()
    input_tokens: int = 0
    output_tokens: int = 0
    note: str = ""


class Explanation(Neutral):
    turn_id: str
    question: str
    steps: tuple[ExplanationStep, ...]
    total_ms: float
    #: The whole trace as JSON, for those who may see it.
    raw: dict[str, Any] = Field(default_factory=dict[str, Any])


class Rectangle(Neutral):
    """In fractions of the page, from its top left corner."""

    left: float
    top: float
    right: float
    bottom: float


class SourceView(Neutral):
    """One passage in its surroundings, opened by a signed, expiring link."""

    title: str
    name: str
    version: int
    page: int | None = None
    heading_path: tuple[str, ...] = ()
    before: str = ""
    passage: str
    #: Start and end of the cited words within `passage`; (0, 0) where the whole passage is meant.
    quote_span: tuple[int, int] = (0, 0)
    after: str = ""
    #: A page image can be had from `Sources.page_image`.
    has_image: bool = False
    marks: tuple[Rectangle, ...] = ()
    source_url: str | None = None


class Asked(Neutral):
    """A question that was answered before."""

    question: str
    #: It was the actor who asked.
    mine: bool


class UnansweredQuestion(Neutral):
    """A question that the documents don't cover."""

    question: str
    at: datetime
    #: Name of the channel where it was asked; may be empty.
    where: str = ""


class Manner(Neutral):
    """How the workspace wants a message to be met."""

    #: False for what is not for the bot, such as a remark in a thread in which it has answered.
    answers: bool
    #: Reply in a thread under the question; False: in the channel itself.
    in_thread: bool = True


class Answers(Protocol):
    async def manner(self, turn: Turn, *, addressed: bool) -> Manner:
        """By the workspace's settings. `addressed`: the bot was mentioned, or is written to alone."""
        ...

    def answer(self, turn: Turn) -> AsyncIterator[ReplyEvent]:
        """Work a turn. Ends with exactly one `Reply`, whatever happens; never raises but for
        cancellation, which ends the work at once. The same turn id again gives the stored reply.

        Files of the turn must stay on disk until this has ended; whoever spooled them removes them."""
        ...

    async def reply(self, actor: Actor, turn_id: str) -> Reply | None:
        """The stored reply of a turn, with its citations; None when it is gone or another's."""
        ...

    async def explain(self, actor: Actor, turn_id: str) -> Explanation:
        """Raises `Refused` for a turn that the actor may not see or that is gone."""
        ...

    async def question(self, actor: Actor, turn_id: str) -> Asked | None:
        """The question of a turn; None when it is gone, or was asked where the actor can't see it."""
        ...

    async def unanswered(self, actor: Actor, *, limit: int = 10) -> list[UnansweredQuestion]:
        """Questions that were not covered lately, the newest first, of public channels only. Empty for
        those who are no admins."""
        ...

    async def suggestions(self, actor: Actor, *, limit: int = 4) -> list[str]:
        """Questions that the actor's documents answer."""
        ...


class Documents(Protocol):
    async def upload(self, actor: Actor, files: Sequence[UploadedFile], options: UploadOptions) -> Progress:
        """Accept files. When this returns, they are durably queued and the spooled copies may go.

        A file that is refused at once (too large, empty) is in the result as `failed`.
        """
        ...

    def watch(self, actor: Actor, version_ids: Sequence[str]) -> AsyncIterator[Progress]:
        """Each change, coalesced; ends when all are finished."""
        ...

    async def list(self, actor: Actor) -> list[DocumentView]: ...

    async def get(self, actor: Actor, document_id: str) -> DocumentView: ...

    async def delete(self, actor: Actor, document_id: str) -> None: ...

    async def cancel(self, actor: Actor, version_ids: Sequence[str]) -> Progress: ...

    async def relabel(self, actor: Actor, document_id: str, labels: Sequence[str]) -> DocumentView: ...

    async def reparse(self, actor: Actor, document_id: str, parser: str) -> Progress:
        """Parse the stored original again with another parser."""
        ...

    async def search(
        self, actor: Actor, query: str, *, mode: SearchMode = "hybrid", limit: int = 10
    ) -> list[SearchHit]: ...

    async def knowledge_bases(self, actor: Actor) -> Sequence[str]: ...


class Sources(Protocol):
    async def open(self, token: str) -> SourceView:
        """Raises `Refused` when the link is forged, expired, or its document is gone."""
        ...

    async def page_image(self, token: str, *, width: int = 1200) -> bytes:
        """PNG of the passage's page and of no other."""
        ...


class WorkspaceSettings(Protocol):
    async def form(self, actor: Actor) -> Form:
        """Raises `Refused` for those who may not change settings."""
        ...

    async def submit(self, actor: Actor, submission: Submission) -> FormResult: ...


class FeedbackBook(Protocol):
    async def record(self, actor: Actor, feedback: Feedback) -> None: ...


class Transcript(Protocol):
    """What the bot has seen and said, so that a platform's history is asked only for what is missing."""

    async def append(self, conversation: Conversation, message: Message) -> None:
        """Keeps one message an id: the same id again replaces the older text."""
        ...

    async def recent(self, conversation: Conversation, *, limit: int = 50) -> list[Message]:
        """The newest messages, oldest first."""
        ...

    async def forget(self, conversation: Conversation, message_id: str) -> None: ...


class Workspaces(Protocol):
    async def of(self, platform: str, tenant: str) -> str:
        """The workspace that a Slack team or Teams tenant is linked to; made at first sight."""
        ...


class Bot(Protocol):
    """All that an adapter is given."""

    answers: Answers
    documents: Documents
    sources: Sources
    settings: WorkspaceSettings
    feedback: FeedbackBook
    transcript: Transcript
    workspaces: Workspaces
    inbox: Inbox
    notes: Notes
