"""Questions that were not covered, for admins."""

from __future__ import annotations

from typing import Any

from redis.asyncio import Redis

from adapters.conversation import Conversation, Person, Turn
from bot.unanswered import MOST, UnansweredBook


def turn(text: str, kind: Any = "public_channel", *, private: bool = False, workspace: str = "w") -> Turn:
    place = Conversation(platform="slack", tenant="T1", id="C1", kind=kind, name="it")
    return Turn(
        id="t", workspace=workspace, conversation=place, asker=Person(id="U1"), text=text, private=private
    )


async def test_the_newest_come_first_each_once(redis: Redis) -> None:
    book = UnansweredBook(redis)
    for text in ("Who is Rui?", "Where is Lisbon?", "who is  rui?"):
        await book.note(turn(text), days=9)
    await book.note(turn("Of others?", workspace="x"), days=9)
    found = await book.newest("w", limit=5, days=9)
    assert [question.question for question in found] == ["who is  rui?", "Where is Lisbon?"]
    assert {question.where for question in found} == {"it"}


async def test_what_was_not_asked_in_public_is_not_kept(redis: Redis) -> None:
    book = UnansweredBook(redis)
    for kind in ("direct", "group", "private_channel", "shared_channel"):
        await book.note(turn("Secret?", kind), days=9)
    await book.note(turn("Secret?", private=True), days=9)
    assert await book.newest("w", limit=5, days=9) == []


async def test_the_list_stays_short_and_does_not_outlive_the_retention(redis: Redis) -> None:
    book = UnansweredBook(redis)
    for number in range(MOST + 5):
        await book.note(turn(f"Question {number}? {'x' * 1000}"), days=1)
    found = await book.newest("w", limit=1000, days=1)
    assert len(found) == MOST
    assert all(len(question.question) <= 500 for question in found)
    assert await book.newest("w", limit=10, days=0) == []
    assert 0 < await redis.ttl("footnote:unanswered:w") <= 24 * 3600
