"""What the pipeline is asked: one question, its scope, its thread, and how to answer."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Literal

from pydantic import Field

from retrieval.answer.events import CitedSource, Source
from retrieval.answer.protocol import AnswerStyle, HistoryTurn
from retrieval.answer.wording import names_attached
from retrieval.documents import Frozen
from retrieval.index.protocol import SearchMode
from retrieval.scope import Scope

RewritePolicy = Literal["always", "weak"]


class AnswerOptions(Frozen):
    """Choices of the workspace, the knowledge base and the message, already combined."""

    rephrase: bool = True
    #: Further phrasings of the question that are searched too.
    alternatives: int = Field(default=1, ge=0, le=4)
    #: Whether they are waited for with every question, or only where the question itself finds little.
    #: A question of a thread is always rephrased first: what it means may stand in the thread.
    rewrites: RewritePolicy = "weak"
    mode: SearchMode = "hybrid"
    rerank: bool = False
    #: Least score of the reranker, 0..1, for a passage to be handed on. Nothing else is cut by it.
    threshold: float = Field(default=0.0, ge=0, le=1)
    passages_retrieved: int = Field(default=12, ge=1, le=100)
    passages_handed_on: int = Field(default=6, ge=1, le=30)
    #: Places among them that passages of attached files have for certain, where as many match, and the
    #: share of them (0..1) that these may take from others. A question that names the files gets
    #: more, and has no such bound.
    attachment_passages: int = Field(default=3, ge=0, le=30)
    attachment_share: float = Field(default=0.5, ge=0, le=1)
    #: Estimated tokens that all passages handed on may have together.
    source_tokens: int = Field(default=12_000, ge=500)
    style: AnswerStyle = AnswerStyle()


@dataclass(frozen=True, slots=True)
class PreviousAnswer:
    """The bot's last answer in the thread, as its `Done` had it."""

    text: str
    sources: tuple[Source, ...] = ()
    citations: tuple[CitedSource, ...] = ()
    #: Known already: a passage that it cites is gone, or may not be read here.
    sources_changed: bool = False


@dataclass(frozen=True, slots=True)
class Question:
    turn_id: str
    scope: Scope
    #: As the person wrote it, without the mention of the bot.
    text: str
    #: Oldest first, without the question.
    history: Sequence[HistoryTurn] = ()
    previous: PreviousAnswer | None = None
    options: AnswerOptions = field(default_factory=AnswerOptions)
    #: Where passages of files attached to this thread are found, beside `scope`.
    attachments: Scope | None = None
    #: Version ids of the files that "this file" means: those that came with the question, or else those
    #: of its thread, the newest first.
    attached: tuple[str, ...] = ()
    #: They came with this very question.
    attached_now: bool = False
    #: The asker's language as the platform tells it (IETF tag): used where the text shows none.
    locale: str | None = None

    @property
    def reply_language(self) -> str | None:
        """ISO 639-1 code for what the bot says of itself; None: that of the question's text."""
        if self.options.style.language:
            return self.options.style.language
        shows_none = not any(char.isalpha() for char in self.text)
        return self.locale.split("-")[0].lower() if self.locale and shows_none else None

    def attachment_places(self, limit: int) -> tuple[int, int]:
        """How many of `limit` passages are of attached files: at least, at most."""
        options = self.options
        if names_attached(self.text):
            # Not all for certain: it may ask to compare the file with something.
            return limit - limit // 3, limit
        share = options.attachment_share
        most = max(1, int(limit * share)) if share else 0
        return min(options.attachment_passages, most), most

    @property
    def scopes(self) -> tuple[Scope, ...]:
        return (self.scope,) if self.attachments is None else (self.scope, self.attachments)
