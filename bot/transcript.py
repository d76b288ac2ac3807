"""What the bot has seen and said in each thread. Implements the port `Transcript`."""

from __future__ import annotations

from datetime import UTC, datetime
from typing import cast

from redis.asyncio import Redis

from adapters.conversation import Conversation, Message
from bot import keys

#: Messages kept a thread, and for how long after the last one.
MAX_MESSAGES = 200
KEEP_SECONDS = 90 * 24 * 3600


class TranscriptStore:
    def __init__(self, redis: Redis) -> None:
        self._redis = redis

    async def append(self, conversation: Conversation, message: Message) -> None:
        order, texts = _names(conversation)
        at = (message.at or datetime.now(UTC)).timestamp()
        async with self._redis.pipeline(transaction=True) as batch:
            batch.hset(texts, message.id, message.model_dump_json())
            # NX: an edited message keeps its place.
            batch.zadd(order, {message.id: at}, nx=True)
            # The very first one stays: the thread hangs on it.
            batch.zrange(order, 1, -MAX_MESSAGES)
            batch.expire(order, KEEP_SECONDS)
            batch.expire(texts, KEEP_SECONDS)
            oldest = cast("list[bytes]", (await batch.execute())[2])
        if oldest:
            async with self._redis.pipeline(transaction=True) as batch:
                batch.zrem(order, *oldest)
                batch.hdel(texts, *cast("list[str]", oldest))
                await batch.execute()

    async def recent(self, conversation: Conversation, *, limit: int = 50) -> list[Message]:
        order, texts = _names(conversation)
        ids = cast("list[bytes]", await self._redis.zrange(order, -limit, -1))
        if not ids:
            return []
        found = await self._redis.hmget(texts, cast("list[str]", ids))
        return [Message.model_validate_json(cast("bytes", text)) for text in found if text is not None]

    async def forget(self, conversation: Conversation, message_id: str) -> None:
        order, texts = _names(conversation)
        async with self._redis.pipeline(transaction=True) as batch:
            batch.zrem(order, message_id)
            batch.hdel(texts, message_id)
            await batch.execute()


def _names(conversation: Conversation) -> tuple[str, str]:
    return keys.transcript(conversation.key), keys.transcript_messages(conversation.key)
