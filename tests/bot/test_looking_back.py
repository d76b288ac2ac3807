"""Who may look at a turn again: the asker anywhere, others where they could read the answer."""

from __future__ import annotations

from typing import Any, cast

import pytest
from redis.asyncio import Redis

from adapters.conversation import Conversation, Person, Reply
from adapters.ports import Actor, Asked
from bot.assistant import Assistant
from bot.turns import TurnRecord, TurnStore
from bot.unanswered import UnansweredBook
from bot.workspaces import WorkspaceBook


def assistant(redis: Redis) -> Assistant:
    nothing = cast("Any", None)
    return Assistant(
        pipeline=nothing, library=nothing, turns=TurnStore(redis), unanswered=UnansweredBook(redis),
        workspaces=WorkspaceBook(redis, reranker=False, rephrase=False), links=nothing,
        attachments=nothing, reranker=False, rephrase=False,
    )  # fmt: skip


def actor(
    user: str = "ben", channel: str = "C1", thread: str | None = "1.1", workspace: str = "w", **person: Any
) -> Actor:
    place = Conversation(platform="slack", tenant="T1", id=channel, kind="public_channel", thread=thread)
    return Actor(workspace=workspace, person=Person(id=user, **person), conversation=place)


async def keep(redis: Redis, *, private: bool = False) -> None:
    record = TurnRecord(
        turn_id="t", workspace="w", conversation="slack:T1:C1:1.1", asker="slack:T1:ann", private=private,
        question="How?", reply=Reply(turn_id="t", kind="answer", text="So."),
    )  # fmt: skip
    await TurnStore(redis).save(record, days=1)


@pytest.mark.parametrize(
    ("who", "seen"),
    [
        (actor("ann", "C2", None), Asked(question="How?", mine=True)),
        (actor(), Asked(question="How?", mine=False)),
        (actor(thread=None), Asked(question="How?", mine=False)),  # a reply in the channel itself
        (actor(thread="2.2"), None),
        (actor(channel="C2"), None),
        (actor(channel="C", thread=None), None),
        (actor(workspace="x"), None),
        (actor(channel="C2", is_admin=True), None),
    ],
)
async def test_who_sees_a_question(redis: Redis, who: Actor, seen: Asked | None) -> None:
    await keep(redis)
    assert await assistant(redis).question(who, "t") == seen
    assert (await assistant(redis).reply(who, "t") is None) == (seen is None)


@pytest.mark.parametrize("thread", ["1.1", None])
async def test_a_private_turn_is_its_askers_alone(redis: Redis, thread: str | None) -> None:
    await keep(redis, private=True)
    assert await assistant(redis).question(actor(thread=thread), "t") is None
    assert await assistant(redis).question(actor("ann", thread=thread), "t") is not None


async def test_only_admins_see_what_was_not_covered(redis: Redis) -> None:
    assert await assistant(redis).unanswered(actor()) == []
    assert await assistant(redis).unanswered(actor(is_admin=True)) == []
