"""The threads that the bot takes part in: which they are, what was said in them, what runs in them now."""

from __future__ import annotations

from adapters.answering import Running
from adapters.conversation import Message
from adapters.known import KnownThreads
from adapters.slack.context import Installed, Slack
from adapters.slack.event import Said, lane
from adapters.slack.message import message_of


def thread_note(team: str, channel: str, root: str) -> str:
    """Name of the note about a thread; `adapters.slack.history` keeps there what it has read."""
    return f"slack-thread:{lane(team, channel, root)}"


class Threads:
    def __init__(self, slack: Slack) -> None:
        self._slack = slack
        self._known = KnownThreads(slack.bot.notes)
        #: What can be stopped; what runs in another process hears of it from Slack's stream.
        self.running = Running()

    async def open(self, team: str, channel: str, root: str) -> None:
        """From now on messages there may be for the bot, also those that don't mention it."""
        await self._known.open(thread_note(team, channel, root))

    async def known(self, team: str, channel: str, root: str) -> bool:
        return await self._known.holds(thread_note(team, channel, root))

    async def remember(self, installed: Installed, said: Said) -> Message:
        """Keep a message for the thread's history; an edited one replaces what it said before."""
        conversation = await self._slack.conversation(installed, said.channel, thread=said.root)
        message = await message_of(self._slack, installed, said)
        await self._slack.bot.transcript.append(conversation, message)
        return message

    async def forget(self, team: str, channel: str, root: str, ts: str) -> None:
        """What was deleted is not told to a model any more."""
        installed = await self._slack.clients.of(team)
        conversation = await self._slack.conversation(installed, channel, thread=root)
        await self._slack.bot.transcript.forget(conversation, ts)
