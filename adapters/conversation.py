"""Platform-neutral conversation: what goes into the bot (Turn) and what comes out (Reply)."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime
from pathlib import Path
from typing import Literal

from pydantic import BaseModel, ConfigDict, Field

#: Endings of files whose pages are slides.
SLIDES = (".pptx", ".ppt", ".odp")

Platform = Literal["slack", "teams", "web", "cli"]


class Neutral(BaseModel):
    """Base of the immutable values of this package."""

    model_config = ConfigDict(frozen=True, extra="forbid")


class Person(Neutral):
    """Someone on a platform. `id` is the platform's own id within `Conversation.tenant`."""

    id: str
    name: str = ""
    #: Another bot or an app; the bot itself is `Message.role == "assistant"`.
    is_bot: bool = False
    #: Guest of the workspace, or from another organisation.
    is_guest: bool = False
    is_admin: bool = False
    #: Ids of the platform's user groups that they are in, where those are known.
    groups: tuple[str, ...] = ()


#: Who reads what is posted there: the asker; a few people; members; the workspace; two organisations.
ConversationKind = Literal["direct", "group", "private_channel", "public_channel", "shared_channel"]


class Conversation(Neutral):
    """Where a turn happens. `tenant` is the Slack team or Teams tenant ("local" for cli and web)."""

    platform: Platform
    tenant: str
    id: str
    kind: ConversationKind
    name: str = ""
    #: The thread inside it; None where the whole conversation is one thread.
    thread: str | None = None

    @property
    def key(self) -> str:
        """Names the thread in stores and logs, e.g. "slack:T1:C1:1700000000.000100"."""
        return ":".join((self.platform, self.tenant, self.id, self.thread or ""))


class UploadedFile(Neutral):
    """A file that an adapter has already spooled to local disk."""

    name: str
    path: Path
    size: int = Field(ge=0)
    media_type: str = ""
    #: Where people can open the original on the platform.
    permalink: str | None = None


class Message(Neutral):
    """One message of a thread, mentions already turned into readable names."""

    id: str
    role: Literal["person", "assistant", "other_bot"]
    author: Person | None = None
    text: str
    at: datetime | None = None
    #: For the bot's own messages: the turn that they answered, so that sources can be found again.
    turn_id: str | None = None


class Turn(Neutral):
    """One question with its thread. `id` is derived from the event, so a resend has the same id."""

    id: str
    workspace: str
    conversation: Conversation
    asker: Person
    text: str
    #: Older messages of the thread, oldest first, without the question itself.
    history: tuple[Message, ...] = ()
    #: Only the asker will see the reply (ephemeral), wherever it was asked.
    private: bool = False
    #: Files attached to the question: read for this thread alone.
    files: tuple[UploadedFile, ...] = ()
    #: The asker's language as the platform tells it (IETF tag), a hint only.
    locale: str | None = None


class Citation(Neutral):
    """A source that the answer names, ready to be rendered."""

    #: From 1, in order of appearance; unique within a reply.
    number: int = Field(ge=1)
    #: The mark in the text without brackets: "1", or "keys.md" where labels are names.
    label: str
    title: str
    document_id: str
    version_id: str
    version: int
    chunk_id: str
    #: File name, for the icon.
    name: str
    page: int | None = None
    page_end: int | None = None
    heading_path: tuple[str, ...] = ()
    #: The cited words, verbatim from the document.
    quote: str
    #: The passage that they stand in.
    passage: str = ""
    #: Opens the passage (a signed source view), where the bot is reachable; else None.
    url: str | None = None
    #: Opens the original on its platform, where it has such a place.
    source_url: str | None = None

    def place(self) -> str:
        """Where in the document, for a line such as `1. Title, p. 3 · Heading`; may be empty. A heading
        that is the title is not said twice."""
        path = self.heading_path if self.heading_path[-1:] != (self.title,) else ()
        return place_in(self.name, self.page, self.page_end, path)


def place_in(name: str, page: int | None, page_end: int | None, heading_path: Sequence[str]) -> str:
    """Page or slide and innermost heading, e.g. `p. 3 · Heading`; empty where neither is known."""
    one, several = ("slide", "slides") if name.lower().endswith(SLIDES) else ("p.", "pp.")
    parts: list[str] = []
    if page is not None:
        more = page_end is not None and page_end != page
        parts.append(f"{several} {page}–{page_end}" if more else f"{one} {page}")
    if heading_path:
        parts.append(heading_path[-1])
    return " · ".join(parts)


ReplyKind = Literal["answer", "not_covered", "notice", "apology"]


class Reply(Neutral):
    """The one visible end of a turn. `text` is Markdown in which `[label]` marks a citation."""

    turn_id: str
    kind: ReplyKind
    text: str
    citations: tuple[Citation, ...] = ()
    #: Quiet lines under the answer.
    notes: tuple[str, ...] = ()
    #: For an apology: what the logs know it by.
    reference: str | None = None
    #: Nothing was searched: the question names a knowledge base that isn't there, or a date that is none.
    refused: bool = False
    #: Questions that a person might ask next; adapters may show them as buttons.
    suggestions: tuple[str, ...] = ()
    #: Name of the sensitivity label that the workspace puts on what the bot says; empty: none.
    sensitivity: str = ""


class Working(Neutral):
    """What is being done, for a status line or a task card. Words come from `text`."""

    kind: Literal["rephrasing", "searching", "reranking", "reading", "writing", "checking"]
    text: str
    count: int = 0


class Delta(Neutral):
    """More Markdown of the answer that is on its way."""

    text: str


#: A turn's reply as it comes: any number of Working and Delta, then exactly one Reply, always.
ReplyEvent = Working | Delta | Reply
