"""Which turn a message of the bot's answered: for thumbs, and for telling its own messages apart."""

from __future__ import annotations

from typing import Final

from adapters.teams.context import Teams
from adapters.teams.reference import Reference

#: Seconds for which that is noted.
KEEP: Final = 90 * 24 * 3600


async def note_activity(teams: Teams, reference: Reference, activity_id: str, turn_id: str) -> None:
    if activity_id:
        await teams.bot.notes.write(_note(reference, activity_id), {"turn": turn_id}, seconds=KEEP)


async def turn_of_activity(teams: Teams, reference: Reference, activity_id: str) -> str | None:
    """None for what is no message of the bot's, or is not known any more."""
    return (await teams.bot.notes.read(_note(reference, activity_id))).get("turn")


def _note(reference: Reference, activity_id: str) -> str:
    return f"teams-activity:{reference.tenant}:{reference.channel}:{activity_id}"
