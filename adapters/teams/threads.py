"""The threads and chats that the bot takes part in: which they are, and what was said in them."""

from __future__ import annotations

from collections import OrderedDict
from typing import Final

from adapters.answering import Running
from adapters.conversation import Message, Person
from adapters.teams.activity import Said
from adapters.teams.context import Teams
from adapters.teams.reference import Reference

#: Seconds for which a thread is known after it was last begun.
KEEP: Final = 90 * 24 * 3600
_CACHED: Final = 10_000


def thread_note(reference: Reference) -> str:
    """Name of the note about a thread; `adapters.teams.history` notes there that it has read it."""
    return f"teams-thread:{reference.lane}"


class Threads:
    def __init__(self, teams: Teams) -> None:
        self._teams = teams
        #: Known ones, so that most messages cost no question to the store.
        self._known: OrderedDict[str, None] = OrderedDict()
        #: What can be stopped; what runs in another process hears of it from Teams' stream.
        self.running = Running()

    async def open(self, reference: Reference) -> None:
        """From now on messages there may be for the bot, also those that don't mention it."""
        name = thread_note(reference)
        if name not in self._known:
            await self._teams.bot.notes.write(name, {"open": "1"}, seconds=KEEP)
            self._cache(name)

    async def known(self, reference: Reference) -> bool:
        name = thread_note(reference)
        if name in self._known:
            return True
        if "open" not in await self._teams.bot.notes.read(name):
            return False
        self._cache(name)
        return True

    def _cache(self, name: str) -> None:
        self._known[name] = None
        if len(self._known) > _CACHED:
            self._known.popitem(last=False)

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
