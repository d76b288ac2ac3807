"""Thumbs on replies, kept with their turns. Implements the port `FeedbackBook`."""

from __future__ import annotations

import json
from datetime import UTC, datetime
from typing import Any, cast

from redis.asyncio import Redis

from adapters.forms import Feedback
from adapters.ports import Actor
from bot import keys


class FeedbackStore:
    def __init__(self, redis: Redis) -> None:
        self._redis = redis

    async def record(self, actor: Actor, feedback: Feedback) -> None:
        """One thumb a person and turn: a later one replaces it."""
        entry = feedback.model_dump() | {"at": datetime.now(UTC).isoformat()}
        name = f"{feedback.turn_id}/{feedback.person_id}"
        await self._redis.hset(keys.feedback(actor.workspace), name, json.dumps(entry))

    async def all(self, workspace: str) -> list[dict[str, Any]]:
        entries = cast("list[bytes]", await self._redis.hvals(keys.feedback(workspace)))
        return sorted((json.loads(entry) for entry in entries), key=lambda entry: entry["at"])
