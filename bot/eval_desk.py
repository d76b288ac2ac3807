"""What a workspace's use says about its answers: thumbs and unanswered questions, for an admin."""

from __future__ import annotations

from collections.abc import AsyncIterator, Callable
from typing import Literal, Protocol

from adapters.conversation import Neutral
from adapters.ports import Actor, Answers, Refused
from bot.access import may_read, person_key, reply_audience
from bot.feedback import FeedbackStore
from bot.library import Library
from bot.turns import TurnRecord, TurnStore
from retrieval.documents import chunk_id
from retrieval.index.protocol import VectorIndex
from retrieval.scope import Scope

#: Chunks asked of the index at once, and the most of one document.
_BATCH = 200
_MOST_CHUNKS = 100_000
_MOST_UNANSWERED = 100


class Passage(Neutral):
    """A chunk that the admin may read."""

    kind: Literal["passage"] = "passage"
    id: str
    title: str
    text: str


class Liked(Neutral):
    """A question whose answer got a thumb up and none down, with the passages that it cites."""

    kind: Literal["liked"] = "liked"
    turn_id: str
    #: As it reads without its thread.
    question: str
    passages: tuple[str, ...]


class ForReview(Neutral):
    """A question for a person to judge: which passages should have answered it, if any?"""

    kind: Literal["review"] = "review"
    id: str
    question: str
    why: Literal["thumb down", "thumbs differ", "not covered", "sources gone"]
    reason: str = ""
    #: Passages that the answer cited.
    passages: tuple[str, ...] = ()


Exported = Passage | Liked | ForReview


class Evaluations(Protocol):
    def export(self, actor: Actor) -> AsyncIterator[Exported]:
        """What `kb eval make` writes: passages that the actor may read, then questions that were asked in
        public channels or by the actor. Raises `Refused` for those who are no admins."""
        ...


class EvaluationDesk:
    """Implements `Evaluations`. `index` gives the one that is searched now."""

    def __init__(
        self,
        library: Library,
        index: Callable[[], VectorIndex],
        turns: TurnStore,
        feedback: FeedbackStore,
        answers: Answers,
    ) -> None:
        self._library, self._index, self._turns = library, index, turns
        self._feedback, self._answers = feedback, answers

    async def export(self, actor: Actor) -> AsyncIterator[Exported]:
        if not actor.person.is_admin:
            raise Refused("Only admins can turn questions into an evaluation set.")
        keys = reply_audience(actor.conversation, actor.person, private=True)
        scope = Scope(workspace=actor.workspace, audience=keys)
        readable: set[str] = set()
        for document in await self._library.list(actor.workspace):
            version = document.current
            if version is None or not may_read(version.meta.audience, keys):
                continue
            async for passage in self._passages(scope, version.meta.version_id):
                readable.add(passage.id)
                yield passage
        for item in await self._judged(actor, readable):
            yield item
        for number, asked in enumerate(await self._answers.unanswered(actor, limit=_MOST_UNANSWERED), 1):
            yield ForReview(id=f"unanswered-{number}", question=asked.question, why="not covered")

    async def _passages(self, scope: Scope, version_id: str) -> AsyncIterator[Passage]:
        """A document's chunks by the ids that they must have, until there are no more."""
        for start in range(0, _MOST_CHUNKS, _BATCH):
            wanted = [chunk_id(version_id, ordinal) for ordinal in range(start, start + _BATCH)]
            found = await self._index().get(scope, wanted)
            for chunk in found:
                yield Passage(id=chunk.chunk_id, title=_title(chunk.context(), chunk.text), text=chunk.text)
            if len(found) < _BATCH:
                return

    async def _judged(self, actor: Actor, readable: set[str]) -> list[Liked | ForReview]:
        ratings: dict[str, list[dict[str, str]]] = {}
        for entry in await self._feedback.all(actor.workspace):
            ratings.setdefault(entry["turn_id"], []).append(entry)
        items: list[Liked | ForReview] = []
        for turn_id, entries in ratings.items():
            record = await self._turns.get(turn_id)
            if record is not None and _visible(record, actor):
                items.append(_item(record, entries, readable))
        return items


def _visible(record: TurnRecord, actor: Actor) -> bool:
    """What somebody asked in private stays with them, whoever administers the workspace."""
    return record.workspace == actor.workspace and (record.public or record.asker == person_key(actor))


def _item(record: TurnRecord, entries: list[dict[str, str]], readable: set[str]) -> Liked | ForReview:
    ups = [entry for entry in entries if entry["rating"] == "up"]
    cited = dict.fromkeys(c.chunk_id for c in record.reply.citations)
    passages = tuple(chunk for chunk in cited if chunk in readable)
    question = _standalone(record)
    if len(ups) == len(entries) and passages:
        return Liked(turn_id=record.turn_id, question=question, passages=passages)
    reasons = "; ".join(entry["reason"] for entry in entries if entry.get("reason"))
    why = "sources gone" if len(ups) == len(entries) else "thumbs differ" if ups else "thumb down"
    return ForReview(id=record.turn_id, question=question, why=why, reason=reasons, passages=passages)


def _standalone(record: TurnRecord) -> str:
    """The question as it reads without its thread, where it was rephrased for that."""
    for step in record.trace.steps if record.trace else ():
        if step.name == "rephrase" and step.outputs.get("used_history") and step.outputs.get("standalone"):
            return str(step.outputs["standalone"])
    return record.question


def _title(context: str, text: str) -> str:
    """Title and headings, as they stand before a passage."""
    return context.removesuffix(text).strip()
