"""Settings, transcripts, turns, feedback and workspaces on a real Valkey."""

from __future__ import annotations

from datetime import UTC, datetime

import pytest
from redis.asyncio import Redis

from adapters.conversation import Conversation, Message, Person, Reply
from adapters.forms import Feedback, Submission
from adapters.ports import Actor, Refused
from bot.feedback import FeedbackStore
from bot.links import shared_secret
from bot.settings import FORM_ID
from bot.transcript import MAX_MESSAGES, TranscriptStore
from bot.turns import SourceRef, TurnRecord, TurnStore
from bot.workspaces import WorkspaceBook

PLACE = Conversation(platform="slack", tenant="T1", id="C1", kind="public_channel", thread="1")


def actor(*, admin: bool = True) -> Actor:
    return Actor(workspace="w", person=Person(id="ann", is_admin=admin), conversation=PLACE)


def book(redis: Redis) -> WorkspaceBook:
    return WorkspaceBook(redis, reranker=False, rephrase=True)


def send(revision: int = 0, **values: object) -> Submission:
    return Submission(form_id=FORM_ID, values=values, revision=revision)


class TestSettings:
    async def test_saved_values_come_back_with_a_new_revision(self, redis: Redis) -> None:
        settings = book(redis)
        result = await settings.submit(
            actor(), send(length="steps", default_labels="HR, on call,hr", rewrites="4")
        )
        assert result.ok
        values = await settings.values("w")
        assert (values.length, values.default_labels, values.rewrites) == ("steps", ("hr", "on call"), "4")
        form = await settings.form(actor())
        assert form.revision == 1
        assert next(f.value for f in form.fields if f.name == "default_labels") == "hr, on call"

    async def test_two_admins_do_not_overwrite_each_other(self, redis: Redis) -> None:
        settings = book(redis)
        assert (await settings.submit(actor(), send(0, length="steps"))).ok
        late = await settings.submit(actor(), send(0, length="detailed"))
        assert late.conflict is not None
        assert late.conflict.revision == 1
        assert (await settings.values("w")).length == "steps"

    @pytest.mark.parametrize(
        ("field", "value", "text"),
        [
            ("passages_handed_on", 20, "At most as many as are retrieved (12)"),
            ("bindings", "C1 is handbook", "Line 1"),
            ("passages_retrieved", "many", "number"),
            ("rewrites", "9", "options"),
            ("default_knowledge_base", "", "needed"),
        ],
    )
    async def test_errors_stand_at_their_field_and_nothing_is_saved(
        self, redis: Redis, field: str, value: object, text: str
    ) -> None:
        result = await book(redis).submit(actor(), send(**{field: value}))
        assert text in result.errors[field]
        assert (await book(redis).form(actor())).revision == 0

    async def test_admins_only(self, redis: Redis) -> None:
        with pytest.raises(Refused):
            await book(redis).form(actor(admin=False))
        with pytest.raises(Refused):
            await book(redis).submit(actor(admin=False), send(length="steps"))

    async def test_what_the_server_lacks_is_said_and_not_taken(self, redis: Redis) -> None:
        form = await book(redis).form(actor())
        reranking = next(f for f in form.fields if f.name == "reranking")
        assert "RERANK_MODEL" in (reranking.disabled_because or "")
        assert (await book(redis).submit(actor(), send(reranking=False))).ok
        assert (await book(redis).values("w")).reranking is True


class TestWorkspaces:
    async def test_one_each_by_default_and_one_for_both_when_linked(self, redis: Redis) -> None:
        workspaces = book(redis)
        slack, teams = await workspaces.of("slack", "T1"), await workspaces.of("teams", "t-1")
        assert slack != teams
        assert await workspaces.of("slack", "T1") == slack
        await workspaces.link("teams", "t-1", slack)
        assert await workspaces.of("teams", "t-1") == slack
        with pytest.raises(Refused):
            await workspaces.link("teams", "t-1", "No Spaces")


class TestTranscript:
    async def test_edits_keep_their_place_and_the_oldest_but_the_first_go(self, redis: Redis) -> None:
        transcript = TranscriptStore(redis)
        for number in range(MAX_MESSAGES + 5):
            at = datetime.fromtimestamp(1000 + number, UTC)
            await transcript.append(PLACE, Message(id=f"m{number}", role="person", text=str(number), at=at))
        edited = Message(id="m50", role="person", text="edited", at=datetime.now(UTC))
        await transcript.append(PLACE, edited)
        messages = await transcript.recent(PLACE, limit=500)
        assert len(messages) == MAX_MESSAGES
        assert [m.id for m in messages][:3] == ["m0", "m6", "m7"]
        assert messages[45].text == "edited"
        assert [m.id for m in await transcript.recent(PLACE, limit=2)] == ["m203", "m204"]
        await transcript.forget(PLACE, "m204")
        assert [m.id for m in await transcript.recent(PLACE, limit=1)] == ["m203"]

    async def test_threads_are_apart(self, redis: Redis) -> None:
        transcript = TranscriptStore(redis)
        await transcript.append(PLACE, Message(id="a", role="person", text="a"))
        other = PLACE.model_copy(update={"thread": "2"})
        assert await transcript.recent(other) == []


async def test_turns_come_back_whole_and_end(redis: Redis) -> None:
    turns = TurnStore(redis)
    record = TurnRecord(
        turn_id="t",
        workspace="w",
        conversation=PLACE.key,
        asker="slack:T1:ann",
        private=False,
        question="q",
        reply=Reply(turn_id="t", kind="answer", text="a" * 10_000),
        sources=(SourceRef(label="1", chunk_id="c", score=0.5),),
    )
    await turns.save(record, days=2)
    assert await turns.get("t") == record
    assert await turns.get("other") is None
    (key,) = await redis.keys("*turn:t*")
    assert 0 < await redis.ttl(key) <= 2 * 24 * 3600


async def test_a_later_thumb_replaces_the_earlier(redis: Redis) -> None:
    store = FeedbackStore(redis)
    await store.record(actor(), Feedback(turn_id="t", person_id="ann", rating="up"))
    await store.record(actor(), Feedback(turn_id="t", person_id="ann", rating="down", reason="wrong page"))
    (entry,) = await store.all("w")
    assert (entry["rating"], entry["reason"]) == ("down", "wrong page")


async def test_every_process_signs_with_the_same_secret(redis: Redis) -> None:
    first = await shared_secret(redis, None)
    assert len(first) >= 32
    assert await shared_secret(redis, None) == first
    assert await shared_secret(redis, "configured") == b"configured"
