"""A thread as it was before a question: from what the bot has seen, and from Graph where it may."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from datetime import UTC, datetime, timedelta
from typing import Any, Final

import structlog

from adapters.conversation import Message
from adapters.history import MOST, reply_id, within
from adapters.known import KEEP
from adapters.teams.activity import Said
from adapters.teams.context import Teams
from adapters.teams.errors import NoGraph
from adapters.teams.graph_messages import message_of
from adapters.teams.posted import turn_of_activity
from adapters.teams.reference import Reference
from adapters.teams.threads import thread_note

log = structlog.get_logger()

#: Seconds that a question waits for Graph, in all, before it goes on without.
PATIENCE: Final = 8.0
#: A chat has no threads: a silence of that length begins a new talk.
SILENCE: Final = timedelta(hours=8)


async def history(teams: Teams, said: Said) -> tuple[Message, ...]:
    """Oldest first, the thread's root always among them, of the rest the newest that fit.

    Graph is asked once a thread, for what was said before the bot came; afterwards activities tell. Where
    it can't be asked, the question goes on with what is known.
    """
    reference = said.reference
    conversation = reference.neutral()
    await _fill(teams, said)
    found = await teams.bot.transcript.recent(conversation, limit=MOST)
    earlier = [message for message in found if message.id != said.id and _before(message, said.at)]
    if reference.root is None:
        earlier = _same_talk(earlier, said.at)
    return within(earlier, reference.root)


def _before(message: Message, at: datetime | None) -> bool:
    """One turn at a time: the bot's own are older than the question."""
    return message.role == "assistant" or message.at is None or at is None or message.at <= at


def _same_talk(messages: Sequence[Message], until: datetime | None) -> list[Message]:
    """The messages after the last long silence."""
    following = until or datetime.now(UTC)
    for position in range(len(messages) - 1, -1, -1):
        at = messages[position].at
        if at is not None:
            if following - at > SILENCE:
                return list(messages[position + 1 :])
            following = at
    return list(messages)


async def _fill(teams: Teams, said: Said) -> None:
    """Keep what Graph tells of the thread, once."""
    reference = said.reference
    note = thread_note(reference)
    if reference.direct or "filled" in await teams.bot.notes.read(note):
        return
    # A post that opens a thread: all that will be said under it is heard.
    if reference.root != said.id:
        try:
            async with asyncio.timeout(PATIENCE):
                await _read(teams, reference)
        except (NoGraph, TimeoutError) as error:
            log.info("teams_thread_unread", why=error.why if isinstance(error, NoGraph) else "too slow")
            return  # a later question may have more luck
    await teams.bot.notes.write(note, {"filled": "1"}, seconds=KEEP)


async def _read(teams: Teams, reference: Reference) -> None:
    raw = (
        await teams.graph.chat(reference)
        if reference.root is None
        else await teams.graph.replies(reference)
    )
    for one in raw:
        if (message := await _own(teams, reference, one)) is not None:
            await teams.bot.transcript.append(reference.neutral(), message)


async def _own(teams: Teams, reference: Reference, raw: dict[str, Any]) -> Message | None:
    """As the transcript keeps it: the bot's own answers, whole, by the turn that they answered."""
    message = message_of(raw, bot=reference.bot)
    if message is None or message.role != "assistant":
        return message
    turn_id = await turn_of_activity(teams, reference, message.id)
    if turn_id is None:
        return None  # a welcome, or progress
    actor = await teams.actor(reference, reference.bot)
    reply = await teams.bot.answers.reply(actor, turn_id)
    return message.model_copy(
        update={
            "id": reply_id(turn_id),
            "turn_id": turn_id,
            "text": reply.text if reply is not None else message.text,
        }
    )
