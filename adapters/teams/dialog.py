"""What dialogs have in common: how they are shown, who acts in one, and how it ends. No call in it may
take longer than Teams waits."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from typing import Any, Final

from adapters.ports import Actor
from adapters.teams import limits
from adapters.teams.activity import Invoked
from adapters.teams.card import Json, attachment, one_line, whole, words
from adapters.teams.context import Teams

#: Answers one kind of dialog, or of submission, with the body of the answer. The data is the person's:
#: whatever it names is checked. Raises `Refused`, whose sentence the person reads.
Handler = Callable[[Teams, Invoked, Json], Awaitable[Json]]

TITLE: Final = "Footnote"


def opened(title: str, card: Json) -> Json:
    """A dialog with that card, in place of what it showed."""
    value = {
        "title": one_line(title, limits.DIALOG_TITLE) or TITLE,
        "height": "medium",
        "width": "medium",
        "card": attachment(card),
    }
    return {"task": {"type": "continue", "value": value}}


def notice(title: str, text: str) -> Json:
    """A dialog that only says something."""
    return opened(title, whole([words(text)]))


async def actor_of(teams: Teams, invoked: Invoked) -> Actor:
    who = invoked.who
    return await teams.actor(invoked.reference, who.user, aad=who.aad, name=who.name)


def text_of(data: Json, name: str) -> str:
    """What a button carried; empty where it carries no such text."""
    value: Any = data.get(name)
    return value if isinstance(value, str) else ""
