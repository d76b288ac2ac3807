"""Each turn as it was answered: kept for the stored reply, for reworks and for "Why this answer?"."""

from __future__ import annotations

import zlib
from datetime import UTC, datetime
from typing import cast

from pydantic import BaseModel, ConfigDict, Field
from redis.asyncio import Redis

from adapters.conversation import Reply
from bot import keys
from retrieval.trace import Trace


class SourceRef(BaseModel):
    """A passage that was handed on, by id: its text is read again within the scope of the next turn,
    so that what was deleted or narrowed since can't come back."""

    model_config = ConfigDict(frozen=True)

    label: str
    chunk_id: str
    score: float


class TurnRecord(BaseModel):
    """What is kept of one turn."""

    turn_id: str
    workspace: str
    conversation: str
    #: Key of the person who asked, see `bot.access.person_key`.
    asker: str
    private: bool
    #: It was asked in a channel that everybody in the workspace can read.
    public: bool = False
    question: str
    at: datetime = Field(default_factory=lambda: datetime.now(UTC))
    outcome: str = ""
    reply: Reply
    sources: tuple[SourceRef, ...] = ()
    trace: Trace | None = None


class TurnStore:
    def __init__(self, redis: Redis) -> None:
        self._redis = redis

    async def save(self, record: TurnRecord, *, days: int) -> None:
        """Keep a turn for `days`."""
        data = zlib.compress(record.model_dump_json().encode(), 3)
        await self._redis.set(keys.turn(record.turn_id), data, ex=days * 24 * 3600)

    async def get(self, turn_id: str) -> TurnRecord | None:
        data = cast("bytes | None", await self._redis.get(keys.turn(turn_id)))
        return None if data is None else TurnRecord.model_validate_json(zlib.decompress(data))
