"""A thread as it was before a question: from what the bot has seen, and from Slack where that has gaps."""

from __future__ import annotations

import asyncio
import time
from collections.abc import AsyncGenerator
from typing import Any, Final, cast

import structlog
from pydantic import ValidationError
from slack_sdk.errors import SlackApiError

from adapters.conversation import Conversation, Message
from adapters.history import MOST, reply_id, within
from adapters.known import KEEP
from adapters.ports import Transcript
from adapters.slack.context import Installed, Slack
from adapters.slack.errors import NoPlace, Unclear, reason_of
from adapters.slack.event import Said
from adapters.slack.message import message_of
from adapters.slack.pages import messages_of
from adapters.slack.readback import EVENT_TYPE, LONGEST_WAIT
from adapters.slack.threads import thread_note

log = structlog.get_logger()

#: Seconds that a question waits for Slack to tell the thread, in all, before it goes on without.
PATIENCE: Final = 8.0
#: Seconds after which a question that opens a thread is late: others may have answered it meanwhile.
_LATE: Final = 120.0


async def history(
    slack: Slack, installed: Installed, conversation: Conversation, *, before: str | None, store: Transcript
) -> tuple[Message, ...]:
    """Oldest first, the root always among them, of the rest the newest that fit. `before` is the
    question's own timestamp; None where it is no message of the thread.

    Slack is asked once a thread, for what was said before the bot came; afterwards events tell. Where it
    can't be asked, the question goes on with what is known.
    """
    thread = conversation.thread
    if thread is None:
        return ()
    note = thread_note(installed.team, conversation.id, thread)
    if thread == before and time.time() - float(thread) < _LATE:
        # A new thread: all that will be said in it is heard.
        await slack.bot.notes.write(note, {"filled": "1"}, seconds=KEEP)
    else:
        await _fill(slack, installed, conversation, thread, note, store)
    found = await store.recent(conversation, limit=MOST)
    # The bot's own have ids of their own; one turn at a time, so they are older than the question.
    earlier = [m for m in found if m.role == "assistant" or before is None or _earlier(m.id, before)]
    return within(earlier, thread)


async def _fill(
    slack: Slack,
    installed: Installed,
    conversation: Conversation,
    thread: str,
    note: str,
    store: Transcript,
) -> None:
    """Keep what Slack tells of the thread, once. What was read is noted: an app that may ask for a few
    messages a minute goes on there the next time."""
    known = await slack.bot.notes.read(note)
    if "filled" in known:
        return
    read = since = known.get("read", "")
    try:
        async with asyncio.timeout(PATIENCE):
            async for message, ts in _read(slack, installed, conversation, thread, since=since):
                await store.append(conversation, message)
                read = ts
        await slack.bot.notes.write(note, {"filled": "1"}, seconds=KEEP)
    except (Unclear, NoPlace, SlackApiError, TimeoutError) as error:
        log.warning("slack_thread_unread", error=reason_of(error))
        if read != since:
            await slack.bot.notes.write(note, {"read": read}, seconds=KEEP)


def _earlier(ts: str, before: str) -> bool:
    try:
        return float(ts) < float(before)
    except ValueError:
        return False


async def read_thread(slack: Slack, installed: Installed, channel: str, thread: str) -> list[Message]:
    """The whole thread from Slack, for keeping it as a document. Raises what `attempt` raises."""
    conversation = await slack.conversation(installed, channel, thread=thread)
    read = _read(slack, installed, conversation, thread, wait=LONGEST_WAIT, own=True)
    return [message async for message, _ in read]


async def _read(
    slack: Slack,
    installed: Installed,
    conversation: Conversation,
    thread: str,
    *,
    since: str = "",
    wait: float = 0.0,
    own: bool = False,
) -> AsyncGenerator[tuple[Message, str]]:
    """The whole thread, with each message's own timestamp. Slack gives the oldest first, so a first page
    alone would be the oldest part."""
    async for raw in messages_of(installed, conversation.id, thread, since=since, wait=wait):
        if (message := await _told(slack, installed, conversation, raw, own=own)) is not None:
            yield message, str(raw.get("ts") or "")


async def _told(
    slack: Slack, installed: Installed, conversation: Conversation, raw: dict[str, Any], *, own: bool
) -> Message | None:
    """None also for what can't be read: one odd message keeps no thread from being read."""
    try:
        return await _neutral(slack, installed, conversation, raw, own=own)
    except (ValidationError, AttributeError, TypeError) as error:
        log.warning("slack_message_unread", error=type(error).__name__)
        return None


async def _neutral(
    slack: Slack, installed: Installed, conversation: Conversation, raw: dict[str, Any], *, own: bool
) -> Message | None:
    """None for what is no part of the talk: joins, and the bot's own greetings and progress."""
    mine = raw.get("user") == installed.bot_user or raw.get("bot_id") == installed.bot_id
    if raw.get("subtype") not in (None, "bot_message", "file_share", "thread_broadcast", "me_message"):
        return None
    text = str(raw.get("text") or "")
    said = Said(
        team=installed.team,
        channel=conversation.id,
        user=raw.get("user"),
        bot=raw.get("bot_id"),
        bot_name=str(raw.get("username") or (raw.get("bot_profile") or {}).get("name") or ""),
        ts=str(raw.get("ts") or ""),
        thread_ts=raw.get("thread_ts"),
        # The bot's own text is cut where it is long; its blocks have all of it.
        text="" if mine and text.endswith("…") and raw.get("blocks") else text,
        blocks=tuple(raw.get("blocks") or ()),
        attachments=tuple(raw.get("attachments") or ()),
    )
    if not mine:
        return await message_of(slack, installed, said)
    metadata = cast("dict[str, Any]", raw.get("metadata") or {})
    payload = cast("dict[str, Any]", metadata.get("event_payload") or {})
    if (
        metadata.get("event_type") != EVENT_TYPE
        or payload.get("state") != "final"
        or not payload.get("answer")
    ):
        return None
    message = await message_of(slack, installed, said)
    if own:
        return message.model_copy(update={"role": "assistant", "turn_id": payload.get("turn_id")})
    return await _own_answer(slack, installed, conversation, message, payload)


async def _own_answer(
    slack: Slack,
    installed: Installed,
    conversation: Conversation,
    message: Message,
    payload: dict[str, Any],
) -> Message | None:
    """One of the bot's answers, whole: from its store by the turn that it answered. Where that is not
    kept any more, its parts as they stand on Slack."""
    turn_id, part = str(payload.get("turn_id") or ""), int(payload.get("part") or 0)
    actor = await slack.actor(installed, installed.bot_user, conversation.id, thread=conversation.thread)
    reply = await slack.bot.answers.reply(actor, turn_id)
    if reply is not None and part:
        return None
    text = reply.text if reply is not None else message.text
    return message.model_copy(
        update={
            "id": reply_id(turn_id, part),
            "role": "assistant",
            "author": None,
            "text": text,
            "turn_id": turn_id,
        }
    )
