"""The buttons of cards, as a person finds them."""

from __future__ import annotations

from tests.doubles.teams.answers import actions_of
from tests.doubles.teams.check_activity import ADAPTIVE
from tests.doubles.teams.errors import CannotAct, Json
from tests.doubles.teams.things import Message


def button_of(message: Message, title: str, number: int = 1) -> tuple[Json, Json]:
    """The card and its action; `number`: which of several of that title."""
    if message.deleted is None:
        for attachment in message.attachments:
            card: Json = attachment.get("content") or {}
            if attachment.get("contentType") == ADAPTIVE and title in titles(card):
                return card, action_of(card, title, number)
    raise CannotAct(f"there is no button {title!r}")


def action_of(card: Json, title: str, number: int = 1) -> Json:
    found = [one for one in actions_of(card) if one.get("title") == title]
    if not 1 <= number <= len(found):
        raise CannotAct(f"there are {len(found)} buttons {title!r}, and others are {titles(card)}")
    if found[number - 1].get("isEnabled") is False:
        raise CannotAct(f"the button {title!r} is off")
    return found[number - 1]


def titles(card: object) -> list[str]:
    """Of all buttons, in reading order."""
    return [str(one.get("title", "")) for one in actions_of(card)]
