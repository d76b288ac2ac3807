"""The seams inside the answer pipeline: who rephrases, who answers, who finds the quoted words."""

from __future__ import annotations

from collections.abc import AsyncIterator, Sequence
from dataclasses import dataclass, field
from typing import Literal, Protocol

from retrieval.answer.events import Source
from retrieval.documents import Frozen
from retrieval.trace import Step

Length = Literal["concise", "detailed", "steps"]
LabelStyle = Literal["numbers", "names"]

Intent = Literal[
    "question",
    "greeting",  # "hi"
    "thanks",
    "capabilities",  # "what can you do?"
    "rework",  # "shorten that", "in German please", "as a list": only after an answer of the bot
    "overview",  # "summarise this", "what does the attached file say?": of files attached
    "empty",  # nothing, or nothing but a mention
    "only_emoji",
    "too_long",
]

#: What the bot says of itself, without a model and without a source.
CannedKey = Literal[
    "greeting",
    "thanks",
    "capabilities",
    "empty",
    "only_emoji",
    "too_long",
    "empty_knowledge_base",  # says how to add a document
    "not_covered",  # the documents don't say
    "nothing_to_rework",  # there is no earlier answer to shorten
    "cannot_rework",  # e.g. a translation, which needs a language model
    "sources_changed",  # a document behind the answer to rework was changed or deleted: ask again
    "without_model",  # a quiet line: these are sentences of the documents
    "overview",  # the question that stands for a message that is nothing but files
    "no_sources",  # a quiet line: the answer names none
]


@dataclass(frozen=True, slots=True)
class HistoryTurn:
    """One earlier message of the thread. `name` is the person's display name, where known."""

    role: Literal["person", "assistant"]
    text: str
    name: str = ""


class AnswerStyle(Frozen):
    """How an answer should read. Set by the workspace, narrowed by the message."""

    length: Length = "concise"
    extra_instructions: str = ""
    #: ISO 639-1 code of a fixed answer language; None: the asker's.
    language: str | None = None
    labels: LabelStyle = "numbers"
    #: Names of document fields (`DocumentMeta.fields`) that the model is told.
    fields: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Rework:
    """A wish about the previous answer ("shorten that"), which is reworked from its own sources."""

    instruction: str
    previous_text: str


class Rephrased(Frozen):
    """`standalone` is never empty; `alternatives` never repeat it or each other."""

    standalone: str
    alternatives: tuple[str, ...] = ()
    #: Whether the history changed the question ("and in Germany?").
    used_history: bool = False
    #: Whether the question is to be searched as it stands, too, although the history changed it.
    keeps_question: bool = False


@dataclass(frozen=True, slots=True)
class AnswerRequest:
    """What an answerer works from. `sources` carry the labels, without brackets."""

    #: As the person wrote it.
    question: str
    #: The question as it reads without its thread.
    standalone: str
    #: Oldest first, without the question.
    history: Sequence[HistoryTurn]
    sources: Sequence[Source]
    #: ISO 639-1 code to answer in; None: the language of the question.
    language: str | None
    style: AnswerStyle
    rework: Rework | None
    #: What the sources say is wanted as a whole: they are the beginnings of documents, in order.
    overview: bool = field(default=False, kw_only=True)
    #: The trace step of this call, for model uses and notes.
    step: Step = field(compare=False)


class NotCovered(Exception):
    """The sources don't answer the question. Raised before any text, or after text that says so."""


class CannotRework(Exception):
    """This answerer can't do that to an answer (a translation without a model). Before any text."""


class Rephraser(Protocol):
    async def rephrase(
        self, question: str, history: Sequence[HistoryTurn], *, alternatives: int, step: Step
    ) -> Rephrased:
        """The standalone question and at most `alternatives` others. Raises `ModelError`."""
        ...


class Answerer(Protocol):
    def answer(self, request: AnswerRequest) -> AsyncIterator[str]:
        """Raw text deltas in which sources are named as `[label]`.

        Raises `NotCovered` and `CannotRework` as they say, and `ModelError` at any time.
        """
        ...


class QuoteFinder(Protocol):
    def find(self, sentence: str, passage: str) -> str:
        """The part of `passage`, verbatim, that carries the claim of `sentence`.

        Empty only for an empty passage: where nothing fits well it is the best there is.
        """
        ...


class IntentDetector(Protocol):
    def detect(self, text: str, history: Sequence[HistoryTurn], *, attached: bool = False) -> Intent:
        """What kind of turn this is; "question" in every case of doubt.

        `attached`: files came with the message, so "summarise this", or nothing at all, is about them.
        """
        ...


class CannedReplies(Protocol):
    def reply(self, key: CannedKey, *, text: str, language: str | None = None) -> str:
        """One short friendly text, in `language` if given, else in that of `text`, else English."""
        ...
