"""The workspace's settings in a dialog, for admins."""

from __future__ import annotations

from typing import Final

from adapters.teams.activity import Invoked
from adapters.teams.card import Json
from adapters.teams.context import Teams
from adapters.teams.dialog import actor_of, notice, opened
from adapters.teams.form_card import conflict_card, filled, form_card, submission_of

#: Kind of the dialog and of its submission.
SETTINGS: Final = "settings"


async def open_settings(teams: Teams, invoked: Invoked, data: Json) -> Json:  # noqa: ARG001
    """Raises `Refused` for those who may not change settings."""
    form = await teams.bot.settings.form(await actor_of(teams, invoked))
    return opened(form.title, form_card(form, SETTINGS))


async def save_settings(teams: Teams, invoked: Invoked, data: Json) -> Json:
    """That it is saved; else the form again, with what is wrong, or as it is after somebody else saved."""
    actor = await actor_of(teams, invoked)
    form = await teams.bot.settings.form(actor)
    submission = submission_of(form, data)
    result = await teams.bot.settings.submit(actor, submission)
    if result.errors:
        return opened(form.title, form_card(filled(form, submission), SETTINGS, errors=result.errors))
    if result.conflict is not None:
        return opened(form.title, conflict_card(result.conflict, SETTINGS))
    return notice(form.title, result.message or "Saved.")
