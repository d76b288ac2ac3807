"""Questions that the documents don't cover: what an admin may want to add documents for."""

from __future__ import annotations

from collections.abc import Awaitable
from datetime import UTC, datetime, timedelta
from typing import Final, cast

from redis.asyncio import Redis

from adapters.conversation import Turn
from adapters.ports import UnansweredQuestion
from bot import keys

#: Kept for each workspace.
MOST: Final = 100
#: Characters of a question.
_LONGEST: Final = 500


class UnansweredBook:
    """Holds only what everybody in the workspace could have read: questions in public channels."""

    def __init__(self, redis: Redis) -> None:
        self._redis = redis

    async def note(self, turn: Turn, *, days: int) -> None:
        """Keep the question of a turn that was not covered, for `days`; not one asked in private."""
        if turn.private or turn.conversation.kind != "public_channel":
            return
        entry = UnansweredQuestion(
            question=turn.text[:_LONGEST], at=datetime.now(UTC), where=turn.conversation.name
        )
        key = keys.unanswered(turn.workspace)
        async with self._redis.pipeline(transaction=True) as pipe:
            pipe.lpush(key, entry.model_dump_json())
            pipe.ltrim(key, 0, MOST - 1)
            pipe.expire(key, days * 24 * 3600)
            await pipe.execute()

    async def newest(self, workspace: str, *, limit: int, days: int) -> list[UnansweredQuestion]:
        """Each question once, where it was asked last. Nothing that is older than `days`."""
        found = await cast(
            "Awaitable[list[bytes]]", self._redis.lrange(keys.unanswered(workspace), 0, MOST - 1)
        )
        oldest = datetime.now(UTC) - timedelta(days=days)
        entries = [UnansweredQuestion.model_validate_json(entry) for entry in found]
        once: dict[str, UnansweredQuestion] = {}
        for entry in entries:
            if entry.at >= oldest:
                once.setdefault(" ".join(entry.question.casefold().split()), entry)
        return list(once.values())[:limit]
