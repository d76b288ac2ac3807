"""What can be done to an answer without a language model: shorten it, list it, quote more."""

from __future__ import annotations

import math
import re
from collections.abc import Sequence
from dataclasses import dataclass, replace

from retrieval.answer.events import Source
from retrieval.answer.extractive.passages import Line, lines_of, read_passage, read_passages
from retrieval.answer.extractive.question import read_question
from retrieval.answer.extractive.rank import Ranker
from retrieval.answer.extractive.render import render
from retrieval.answer.extractive.select import select
from retrieval.answer.intent import PhraseIntentDetector, rework_kind
from retrieval.answer.protocol import AnswerRequest, CannotRework, HistoryTurn

#: A shortened answer has this share of the statements, and at least one.
_SHORT = 1 / 3


@dataclass(frozen=True, slots=True)
class Statement:
    """A sentence, item or row of an answer with its labels, in order."""

    text: str
    labels: tuple[str, ...]
    #: Index of its line in the answer.
    at: int

    def marked(self) -> str:
        return " ".join((self.text, *(f"[{label}]" for label in self.labels)))


class Reworker:
    def __init__(self, ranker: Ranker) -> None:
        self._ranker = ranker
        self._detector = PhraseIntentDetector()

    async def rework(self, request: AnswerRequest) -> str:
        """The new text. Raises `CannotRework` and `ModelError`."""
        assert request.rework is not None
        kind = rework_kind(request.rework.instruction)
        if kind == "expand":
            return await self._expand(request)
        statements, lines = read_statements(request.rework.previous_text, request.sources)
        if not statements or kind not in ("shorten", "list"):
            raise CannotRework
        if kind == "list":
            return "\n".join(f"- {statement.marked()}" for statement in statements)
        best = await self._best(statements, lines, request)
        return " ".join(statement.marked() for statement in best)

    async def _best(
        self, statements: Sequence[Statement], lines: tuple[Line, ...], request: AnswerRequest
    ) -> list[Statement]:
        """The statements that answer best, in their order; the first ones if that can't be told."""
        count = max(1, int(len(statements) * _SHORT))
        asked = self._question(request.history)
        if asked is None or not request.sources or count == len(statements):
            return list(statements[:count])
        passage = replace(read_passage(request.sources[0], 0), lines=lines)
        scores = {s.candidate.at: s.score for s in await self._ranker.rank(read_question(asked), [passage])}
        best = sorted(statements, key=lambda s: scores.get(s.at, -math.inf), reverse=True)[:count]
        return sorted(best, key=lambda s: s.at)

    async def _expand(self, request: AnswerRequest) -> str:
        asked = self._question(request.history)
        if asked is None or not request.sources:
            raise CannotRework
        question = read_question(asked)
        passages = read_passages(request.sources)
        scored = await self._ranker.rank(question, passages)
        if not scored:
            raise CannotRework
        return "\n\n".join(render(excerpt) for excerpt in select(question, scored, "detailed"))

    def _question(self, history: Sequence[HistoryTurn]) -> str | None:
        """The last message of a person that asks something."""
        for place in range(len(history) - 1, -1, -1):
            turn = history[place]
            if turn.role == "person" and self._detector.detect(turn.text, history[:place]) == "question":
                return turn.text
        return None


def read_statements(text: str, sources: Sequence[Source]) -> tuple[list[Statement], tuple[Line, ...]]:
    """The statements of an answer with the labels that stand behind them, and all of its lines.

    A label counts for the sentences before it up to the last label of the same paragraph or list.
    Statements without one are left out if others have some: a lead such as "The documents say:".
    """
    clean, marks = _without_marks(text, [source.label for source in sources])
    lines = lines_of(clean, titles=False)
    found: list[list[str]] = [[] for _ in lines]
    for label, position in marks:
        owner = max((i for i, line in enumerate(lines) if line.unit.start < position), default=None)
        if owner is not None and label not in found[owner]:
            found[owner].append(label)
    for at in range(len(lines) - 2, -1, -1):
        if not found[at] and lines[at].unit.group == lines[at + 1].unit.group:
            found[at] = list(found[at + 1])
    statements = [
        Statement(line.text, tuple(own), at)
        for at, (line, own) in enumerate(zip(lines, found, strict=True))
        if line.unit.kind != "code" and (own or not any(found))
    ]
    return statements, lines


def _without_marks(text: str, labels: Sequence[str]) -> tuple[str, list[tuple[str, int]]]:
    """The text without its citation marks, and (label, position in that text) of each mark."""
    if not labels:
        return text, []
    names = "|".join(map(re.escape, sorted(labels, key=len, reverse=True)))
    parts: list[str] = []
    marks: list[tuple[str, int]] = []
    length = at = 0
    for mark in re.finditer(rf"[ \t]*\[({names})\]", text):
        parts.append(text[at : mark.start()])
        length += mark.start() - at
        marks.append((mark.group(1), length))
        at = mark.end()
    return "".join((*parts, text[at:])), marks
