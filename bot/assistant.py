"""Turn -> Reply: the one mapper between what adapters speak and what the pipeline speaks."""

from __future__ import annotations

import asyncio
import time
from collections.abc import AsyncGenerator, AsyncIterator, Callable
from contextlib import aclosing

import structlog
from redis.exceptions import RedisError

from adapters.conversation import Delta, Reply, ReplyEvent, Turn, Working
from adapters.ports import Actor, Asked, Explanation, Manner, Refused, UnansweredQuestion
from bot.access import may_read, person_key, reply_audience
from bot.attachments import Attachments
from bot.explain import explain
from bot.follow_up import is_for_bot
from bot.library import Library
from bot.links import Links
from bot.metrics import FIRST_TEXT_SECONDS, REPLIES, TURN_SECONDS
from bot.questions import Questions
from bot.replies import apology, reply_of, status_text
from bot.scoping import ScopeError
from bot.settings import WorkspaceValues
from bot.turns import SourceRef, TurnRecord, TurnStore
from bot.unanswered import UnansweredBook
from bot.workspaces import WorkspaceBook
from retrieval.answer.events import Done, Failed, Source, Status, TextDelta
from retrieval.answer.pipeline import AnswerPipeline
from retrieval.answer.streams import closing
from retrieval.documents import thread_audience
from retrieval.trace import Trace

log = structlog.get_logger()

#: Seconds after which a turn ends with an apology, whatever it is doing.
TURN_DEADLINE = 180.0


class Assistant:
    """Implements the port `Answers`."""

    def __init__(
        self,
        *,
        pipeline: Callable[[], AnswerPipeline],
        library: Library,
        turns: TurnStore,
        unanswered: UnansweredBook,
        workspaces: WorkspaceBook,
        links: Links,
        attachments: Attachments,
        reranker: bool,
        rephrase: bool,
    ) -> None:
        """`pipeline` gives the one of the index that is searched now; a rebuild puts in another."""
        self._pipeline, self._library, self._turns = pipeline, library, turns
        self._unanswered, self._workspaces, self._links = unanswered, workspaces, links
        self._attachments = attachments
        self._questions = Questions(library, turns, attachments, reranker=reranker, rephrase=rephrase)

    async def manner(self, turn: Turn, *, addressed: bool) -> Manner:
        values = await self._workspaces.values(turn.workspace)
        return Manner(
            answers=addressed or is_for_bot(turn, values.follow_up), in_thread=values.reply_mode == "thread"
        )

    async def answer(self, turn: Turn) -> AsyncIterator[ReplyEvent]:
        with structlog.contextvars.bound_contextvars(turn=turn.id, conversation=turn.conversation.key):
            stored = await self._stored(turn.id)
            if stored is not None:
                yield stored.reply
                return
            began = time.perf_counter()
            reply: Reply | None = None
            first = True
            try:
                async with asyncio.timeout(TURN_DEADLINE), aclosing(self._work(turn)) as events:
                    async for event in events:
                        if isinstance(event, Reply):
                            reply = event
                            break
                        if first and isinstance(event, Delta):
                            first = False
                            FIRST_TEXT_SECONDS.observe(time.perf_counter() - began)
                        yield event
            except TimeoutError:
                log.exception("turn_timed_out")
                reply = apology(turn, "This took too long, so I stopped. Please ask again.")
            except Exception:
                log.exception("turn_failed")
                reply = apology(turn, "Something went wrong on my side. Please ask again.")
            if reply is None:
                log.error("turn_without_end")
                reply = apology(turn, "Something went wrong on my side. Please ask again.")
            TURN_SECONDS.observe(time.perf_counter() - began)
            REPLIES.labels(turn.conversation.platform, reply.kind).inc()
            log.info("turn_done", kind=reply.kind, citations=len(reply.citations))
            yield reply

    async def _stored(self, turn_id: str) -> TurnRecord | None:
        try:
            return await self._turns.get(turn_id)
        except (RedisError, ValueError):  # answering matters more than answering from the store
            log.exception("turn_store_unreadable")
            return None

    async def _work(self, turn: Turn) -> AsyncGenerator[ReplyEvent]:
        values = await self._workspaces.values(turn.workspace)
        notes: list[str] = []
        if turn.files:
            async for working in self._attachments.add(turn, days=values.retention_days, notes=notes):
                yield working
        try:
            question = await self._questions.of(turn, values)
        except ScopeError as error:
            yield Reply(turn_id=turn.id, kind="notice", text=str(error), refused=True)
            return
        async with closing(self._pipeline().answer(question)) as events:
            async for event in events:
                match event:
                    case Status():
                        yield Working(kind=event.kind, text=status_text(event), count=event.count)
                    case TextDelta():
                        yield Delta(text=event.text)
                    case Done():
                        reply = reply_of(turn, event, self._links, notes, sensitivity=values.sensitivity)
                        await self._keep(turn, values, reply, event.outcome, event.sources, event.trace)
                        yield reply
                    case Failed():
                        log.error("answer_failed", kind=event.kind)
                        reply = apology(turn, event.message)
                        await self._keep(turn, values, reply, event.kind, (), event.trace)
                        yield reply

    async def _keep(
        self,
        turn: Turn,
        values: WorkspaceValues,
        reply: Reply,
        outcome: str,
        sources: tuple[Source, ...],
        trace: Trace | None,
    ) -> None:
        """Before it is shown, so that the same turn can't be answered twice."""
        record = TurnRecord(
            turn_id=turn.id,
            workspace=turn.workspace,
            conversation=turn.conversation.key,
            asker=person_key((turn.conversation, turn.asker)),
            private=turn.private,
            public=turn.conversation.kind == "public_channel" and not turn.private,
            question=turn.text,
            outcome=outcome,
            reply=reply,
            sources=tuple(
                SourceRef(label=s.label, chunk_id=s.chunk.chunk_id, score=s.score) for s in sources
            ),
            trace=trace,
        )
        try:
            await self._turns.save(record, days=values.retention_days)
            if outcome in ("not_covered", "empty_knowledge_base"):
                await self._unanswered.note(turn, days=values.retention_days)
        except RedisError:
            log.exception("turn_not_stored")

    # -- looking back --------------------------------------------------------------------------

    async def _seen(self, actor: Actor, turn_id: str) -> TurnRecord | None:
        """A turn that the actor asked, or could read in the thread that they are in."""
        record = await self._turns.get(turn_id)
        if record is None or record.workspace != actor.workspace:
            return None
        theirs = record.asker == person_key(actor)
        here = _reads(actor, record.conversation) and not record.private
        return record if theirs or here else None

    async def reply(self, actor: Actor, turn_id: str) -> Reply | None:
        record = await self._seen(actor, turn_id)
        return record.reply if record is not None else None

    async def explain(self, actor: Actor, turn_id: str) -> Explanation:
        record = await self._seen(actor, turn_id)
        if record is None or record.trace is None:
            raise Refused("What happened in that turn is not kept any more.")
        return explain(record, await self._titles(actor))

    async def _titles(self, actor: Actor) -> dict[str, str]:
        """Of the documents that the actor may read here."""
        keys = reply_audience(actor.conversation, actor.person, private=True)
        thread = actor.conversation.key
        keys |= {thread_audience(thread), thread_audience(thread, person_key(actor))}
        return {
            document.document_id: document.shown.title
            for document in await self._library.list(actor.workspace)
            if may_read(document.shown.meta.audience, keys)
        }

    async def question(self, actor: Actor, turn_id: str) -> Asked | None:
        record = await self._seen(actor, turn_id)
        if record is None:
            return None
        return Asked(question=record.question, mine=record.asker == person_key(actor))

    async def unanswered(self, actor: Actor, *, limit: int = 10) -> list[UnansweredQuestion]:
        if not actor.person.is_admin:
            return []
        days = (await self._workspaces.values(actor.workspace)).retention_days
        return await self._unanswered.newest(actor.workspace, limit=limit, days=days)

    async def suggestions(self, actor: Actor, *, limit: int = 4) -> list[str]:
        """Questions about documents that the actor may read, the newest first."""
        keys = reply_audience(actor.conversation, actor.person, private=True)
        readable = [
            document.current
            for document in reversed(await self._library.list(actor.workspace))
            if document.current is not None and may_read(document.current.meta.audience, keys)
        ]
        return [f"What does “{version.title}” say?" for version in readable[:limit]]


def _reads(actor: Actor, conversation: str) -> bool:
    """Whether a thread is one that the actor is in. Who is in none is in the conversation as a whole,
    so in all of its threads."""
    here = actor.conversation
    return conversation == here.key or (here.thread is None and conversation.startswith(here.key))
