"""What was said on Slack as a neutral message."""

from __future__ import annotations

from datetime import UTC, datetime

from adapters.conversation import Message, Person
from adapters.slack.context import Installed, Slack
from adapters.slack.event import Said
from adapters.slack.text import readable, text_in


def time_of(ts: str) -> datetime | None:
    """When a message was written; None for what is no timestamp."""
    try:
        return datetime.fromtimestamp(float(ts), UTC)
    except (ValueError, OverflowError, OSError):
        return None


async def readable_text(slack: Slack, installed: Installed, text: str) -> str:
    """With names for mentions, and without the bot's own."""

    async def name_of(user: str) -> str:
        return await slack.people.name(installed, user)

    async def channel_name_of(channel: str) -> str:
        return await slack.people.channel_name(installed, channel)

    return await readable(
        text, bot_user=installed.bot_user, name_of=name_of, channel_name_of=channel_name_of
    )


async def message_of(slack: Slack, installed: Installed, said: Said) -> Message:
    words = text_in(said.text, said.blocks, said.attachments)
    text = await readable_text(slack, installed, words)
    if said.user is None or said.bot is not None:
        author = Person(id=said.bot or said.user or "", name=said.bot_name, is_bot=True)
        return Message(id=said.ts, role="other_bot", author=author, text=text, at=time_of(said.ts))
    author = await slack.people.person(installed, said.user)
    return Message(id=said.ts, role="person", author=author, text=text, at=time_of(said.ts))
