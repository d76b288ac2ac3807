"""The threads and chats that the bot takes part in: which they are, and what was said in them."""

from __future__ import annotations

from adapters.answering import Running
from adapters.conversation import Message, Person
from adapters.known import KnownThreads
from adapters.teams.activity import Said
from adapters.teams.context import Teams
from adapters.teams.reference import Reference


def thread_note(reference: Reference) -> str:
    """Name of the note about a thread; `adapters.teams.history` notes there that it has read it."""
    return f"teams-thread:{reference.lane}"


class Threads:
    def __init__(self, teams: Teams) -> None:
        self._teams = teams
        self._known = KnownThreads(teams.bot.notes)
        #: What can be stopped; what runs in another process hears of it from Teams' stream.
        self.running = Running()

    async def open(self, reference: Reference) -> None:
        """From now on messages there may be for the bot, also those that don't mention it."""
        await self._known.open(thread_note(reference))

    async def known(self, reference: Reference) -> bool:
        return await self._known.holds(thread_note(reference))

    async def remember(self, said: Said) -> None:
        """Keep a message for the thread's history; an edited one replaces what it said before."""
        message = message_of(said, author_of(said))
        await self._teams.bot.transcript.append(said.reference.neutral(), message)


def author_of(said: Said) -> Person:
    """By what the activity tells: enough for a history, not for rights."""
    return Person(id=said.who.aad or said.who.user, name=said.who.name, is_bot=said.by_bot)


def message_of(said: Said, author: Person) -> Message:
    role = "other_bot" if said.by_bot else "person"
    return Message(id=said.id, role=role, author=author, text=said.text, at=said.at)
