"""What the answer pipeline yields, in order: any number of Status and TextDelta, then one end."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Literal

from retrieval.documents import Chunk
from retrieval.trace import Trace

StatusKind = Literal["rephrasing", "searching", "reranking", "reading", "writing", "checking"]
Outcome = Literal["answered", "not_covered", "empty_knowledge_base", "small_talk", "invalid_question"]


@dataclass(frozen=True, slots=True)
class Source:
    """A passage handed to the model, under a label ("1" or "keys.md#2")."""

    label: str
    chunk: Chunk
    score: float


@dataclass(frozen=True, slots=True)
class CitedSource:
    """A source that the answer names. `number` counts from 1 in order of appearance."""

    number: int
    label: str
    chunk: Chunk
    #: The words of the passage that carry the claim, a verbatim part of `chunk.text`.
    quote: str


@dataclass(frozen=True, slots=True)
class Status:
    kind: StatusKind
    #: How many (queries searched, sources read).
    count: int = 0


@dataclass(frozen=True, slots=True)
class TextDelta:
    """More of the answer, as Markdown. Labels are already final: `[1]` by number or `[keys.md]`.

    Outside of code and links nothing else looks like one: `\\[1\\]` is a bracket of the text.
    """

    text: str


@dataclass(frozen=True, slots=True)
class Done:
    outcome: Outcome
    #: The whole answer; equals the deltas joined unless `revised` (then it replaces them).
    text: str
    citations: tuple[CitedSource, ...] = ()
    revised: bool = False
    #: Quiet lines under the answer, such as "Answered without a language model.".
    notes: tuple[str, ...] = ()
    trace: Trace | None = None
    #: Every source that was handed on: kept with the turn so that "shorten that" can rework it.
    sources: tuple[Source, ...] = field(default=())


@dataclass(frozen=True, slots=True)
class Failed:
    """The pipeline could not answer. `message` is one sentence for the person."""

    kind: str
    message: str
    trace: Trace | None = None


AnswerEvent = Status | TextDelta | Done | Failed
