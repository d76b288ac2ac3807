"""Turn -> Question: what it may search, what came before, and how to answer."""

from __future__ import annotations

from collections.abc import Sequence

from adapters.conversation import Message, Turn
from bot.access import channel_key, person_key, reply_audience
from bot.attachments import Attachments
from bot.library import Library
from bot.scoping import Asked, choose_scope, read_bindings, read_terms
from bot.settings import WorkspaceValues
from bot.turns import TurnStore
from retrieval.answer.events import CitedSource, Source
from retrieval.answer.protocol import AnswerStyle, HistoryTurn
from retrieval.answer.question import AnswerOptions, PreviousAnswer, Question
from retrieval.scope import Scope


class Questions:
    """`reranker` and `rephrase` say what this server makes possible."""

    def __init__(
        self,
        library: Library,
        turns: TurnStore,
        attachments: Attachments,
        *,
        reranker: bool,
        rephrase: bool,
    ) -> None:
        self._library, self._turns, self._attachments = library, turns, attachments
        self._reranker, self._rephrase = reranker, rephrase

    async def of(self, turn: Turn, values: WorkspaceValues) -> Question:
        """Raises `ScopeError` for scope terms that can't be meant."""
        text, asked = read_terms(turn.text)
        person = person_key((turn.conversation, turn.asker))

        def bindings() -> list[Asked]:
            bound = read_bindings(values.bindings)
            place, asker = turn.conversation, turn.asker
            names = (place.id, channel_key(place), asker.id, person, *asker.groups)
            return [bound[name] for name in names if name in bound]

        scope = choose_scope(
            turn.workspace,
            reply_audience(turn.conversation, turn.asker, private=turn.private),
            asked,
            bindings=bindings,
            default_labels=frozenset(values.default_labels),
            knowledge_bases=frozenset(await self._library.knowledge_bases(turn.workspace)),
        )
        attached = await self._attachments.of(turn)
        scopes = (scope,) if attached is None else (scope, attached.scope)
        return Question(
            turn_id=turn.id,
            scope=scope,
            text=text,
            history=[_history_turn(message) for message in turn.history],
            previous=await self._previous(turn, scopes),
            attachments=attached.scope if attached else None,
            attached=attached.versions if attached else (),
            attached_now=bool(attached and attached.now),
            options=self._options(values),
            locale=turn.locale,
        )

    async def _previous(self, turn: Turn, scopes: Sequence[Scope]) -> PreviousAnswer | None:
        """The bot's last answer, if the thread's last message of the bot was one. Its sources are read
        again within this turn's scopes: what was deleted or may not be read here is not reworked."""
        last = next((m for m in reversed(turn.history) if m.role == "assistant"), None)
        record = await self._turns.get(last.turn_id) if last is not None and last.turn_id else None
        if record is None or record.workspace != turn.workspace or record.reply.kind != "answer":
            return None
        chunks = {
            chunk.chunk_id: chunk
            for scope in scopes
            for chunk in await self._library.index.get(scope, [s.chunk_id for s in record.sources])
        }
        sources = tuple(
            Source(label=s.label, chunk=chunks[s.chunk_id], score=s.score)
            for s in record.sources
            if s.chunk_id in chunks
        )
        citations = tuple(
            CitedSource(number=c.number, label=c.label, chunk=chunks[c.chunk_id], quote=c.quote)
            for c in record.reply.citations
            if c.chunk_id in chunks
        )
        changed = len(citations) < len(record.reply.citations)
        return PreviousAnswer(record.reply.text, sources, citations, sources_changed=changed)

    def _options(self, values: WorkspaceValues) -> AnswerOptions:
        rephrase = self._rephrase and values.rewrites != "off"
        return AnswerOptions(
            rephrase=rephrase,
            alternatives=int(values.rewrites) if rephrase else 0,
            rewrites=values.rewrite_when,
            rerank=self._reranker and values.reranking,
            threshold=values.threshold,
            passages_retrieved=values.passages_retrieved,
            passages_handed_on=values.passages_handed_on,
            style=AnswerStyle(
                length=values.length,
                extra_instructions=values.extra_instructions,
                language=None if values.language == "auto" else values.language,
                labels=values.labels,
            ),
        )


def _history_turn(message: Message) -> HistoryTurn:
    mine = message.role == "assistant"
    name = message.author.name if message.author is not None and not mine else ""
    return HistoryTurn(role="assistant" if mine else "person", text=message.text, name=name)
