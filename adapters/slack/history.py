"""A thread as it was before a question: from what the bot has seen, and from Slack where that has gaps."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Sequence
from typing import Any, Final, cast

import structlog
from slack_sdk.errors import SlackApiError

from adapters.conversation import Conversation, Message
from adapters.ports import Transcript
from adapters.slack.context import Installed, Slack
from adapters.slack.errors import NoPlace, RateLimited, Unclear, attempt
from adapters.slack.event import Said
from adapters.slack.message import message_of
from adapters.slack.readback import EVENT_TYPE, LONGEST_WAIT
from adapters.slack.threads import KEEP, thread_note

log = structlog.get_logger()

#: Estimated tokens that a thread's older messages may have together.
BUDGET: Final = 4_000
#: Messages looked at.
MOST: Final = 200
#: Seconds that Slack's "later" is waited for before a question goes on without.
_PATIENCE: Final = 3.0


def tokens(text: str) -> int:
    """An estimate: four characters of an alphabet, or one of another script."""
    wide = sum(1 for char in text if ord(char) > 0x2E80)
    return wide + (len(text) - wide) // 4 + 4


async def history(
    slack: Slack, installed: Installed, conversation: Conversation, *, before: str, store: Transcript
) -> tuple[Message, ...]:
    """Oldest first, the root always among them, of the rest the newest that fit.

    Slack is asked once a thread, for what was said before the bot came; afterwards events tell. Where it
    can't be asked, the question goes on with what is known.
    """
    thread = conversation.thread
    if thread is None:
        return ()
    note = thread_note(installed.team, conversation.id, thread)
    if thread != before and "filled" not in await slack.bot.notes.read(note):
        try:
            async for message in _read(slack, installed, conversation, thread, wait=_PATIENCE):
                await store.append(conversation, message)
            await slack.bot.notes.write(note, {"filled": "1"}, seconds=KEEP)
        except (Unclear, NoPlace, SlackApiError) as error:
            log.warning("slack_thread_unread", error=str(error)[:80])
    elif thread == before:
        # A new thread: all that will be said in it is heard.
        await slack.bot.notes.write(note, {"filled": "1"}, seconds=KEEP)
    found = await store.recent(conversation, limit=MOST)
    # The bot's own have ids of their own; one turn at a time, so they are older than the question.
    return within([m for m in found if m.role == "assistant" or _earlier(m.id, before)], thread)


def within(messages: Sequence[Message], root: str, budget: int = BUDGET) -> tuple[Message, ...]:
    """The root and the newest messages that fit the budget; at least the newest one."""
    first = [message for message in messages if message.id == root]
    left = budget - sum(tokens(message.text) for message in first)
    newest: list[Message] = []
    for message in reversed([message for message in messages if message.id != root]):
        left -= tokens(message.text)
        if left < 0 and newest:
            break
        newest.append(message)
    return (*first, *reversed(newest))


def _earlier(ts: str, before: str) -> bool:
    try:
        return float(ts) < float(before)
    except ValueError:
        return False


async def read_thread(slack: Slack, installed: Installed, channel: str, thread: str) -> list[Message]:
    """The whole thread from Slack, for keeping it as a document. Raises what `attempt` raises."""
    conversation = await slack.conversation(installed, channel, thread=thread)
    read = _read(slack, installed, conversation, thread, wait=LONGEST_WAIT, own=True)
    return [message async for message in read]


async def _read(
    slack: Slack,
    installed: Installed,
    conversation: Conversation,
    thread: str,
    *,
    wait: float,
    own: bool = False,
) -> AsyncIterator[Message]:
    """All pages: Slack gives the oldest first, so a first page alone would be the oldest part."""
    cursor = ""
    while True:
        page = await _page(installed, conversation.id, thread, cursor, wait)
        for raw in page.get("messages") or []:
            if (message := await _neutral(slack, installed, conversation, raw, own=own)) is not None:
                yield message
        cursor = (page.get("response_metadata") or {}).get("next_cursor") or ""
        if not cursor:
            return


async def _page(installed: Installed, channel: str, thread: str, cursor: str, wait: float) -> Any:
    for last in (False, True):
        try:
            return await attempt(
                lambda: installed.client.conversations_replies(
                    channel=channel, ts=thread, limit=200, include_all_metadata=True, cursor=cursor or None
                )
            )
        except RateLimited as error:
            if last or error.seconds > wait:
                raise
            await asyncio.sleep(error.seconds)
    raise AssertionError("unreachable")


async def _neutral(
    slack: Slack, installed: Installed, conversation: Conversation, raw: dict[str, Any], *, own: bool
) -> Message | None:
    """None for what is no part of the talk: joins, and the bot's own greetings and progress."""
    mine = raw.get("user") == installed.bot_user or raw.get("bot_id") == installed.bot_id
    if raw.get("subtype") not in (None, "bot_message", "file_share", "thread_broadcast", "me_message"):
        return None
    said = Said(
        team=installed.team,
        channel=conversation.id,
        user=raw.get("user"),
        bot=raw.get("bot_id"),
        bot_name=str(raw.get("username") or (raw.get("bot_profile") or {}).get("name") or ""),
        ts=str(raw.get("ts") or ""),
        thread_ts=raw.get("thread_ts"),
        text=str(raw.get("text") or ""),
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
    """One of the bot's answers, whole: from its store by the turn that it answered; its parts on Slack
    are pieces of it."""
    if payload.get("part"):
        return None
    turn_id = str(payload.get("turn_id") or "")
    actor = await slack.actor(installed, installed.bot_user, conversation.id, thread=conversation.thread)
    reply = await slack.bot.answers.reply(actor, turn_id)
    text = reply.text if reply is not None else message.text
    return message.model_copy(
        update={
            "id": f"reply:{turn_id}",
            "role": "assistant",
            "author": None,
            "text": text,
            "turn_id": turn_id,
        }
    )
