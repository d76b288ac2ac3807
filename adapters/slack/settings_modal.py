"""The workspace's settings as a modal, for admins."""

from __future__ import annotations

from typing import Any, Final

from slack_bolt.async_app import AsyncAck, AsyncApp

from adapters.slack.context import Slack
from adapters.slack.kit import notice_view
from adapters.slack.modal import (
    conflict_view,
    context_of,
    errors_of,
    form_view,
    submission_of,
)
from adapters.slack.submission import acknowledge
from adapters.slack.surface import Act, open_view

CALLBACK: Final = "kb_settings"
_AGAIN: Final = "Please save again."


async def open_settings(slack: Slack, act: Act) -> None:
    """Raises `Refused` for those who may not change settings."""
    form = await slack.bot.settings.form(await act.actor(slack))
    context = {"channel": act.channel} if act.channel else {}
    form = form.model_copy(update={"context": {**form.context, **context}})
    await open_view(slack, act, form_view(form, CALLBACK))


async def save_settings(slack: Slack, body: dict[str, Any]) -> dict[str, Any]:
    """What the submission is acknowledged with."""
    view = body["view"]
    installed = await Act.of(body).installed(slack)
    context = context_of(view)
    actor = await slack.actor(installed, body["user"]["id"], context.get("channel"))
    form = await slack.bot.settings.form(actor)
    result = await slack.bot.settings.submit(actor, submission_of(form, view))
    if result.errors:
        return {"response_action": "errors", "errors": errors_of(form, view, result.errors)}
    if result.conflict is not None:
        fresh = result.conflict.model_copy(update={"context": context})
        return {"response_action": "update", "view": conflict_view(fresh, CALLBACK)}
    return {"response_action": "update", "view": notice_view("Settings", result.message or "Saved.")}


def register(app: AsyncApp, slack: Slack) -> None:
    @app.view(CALLBACK)
    async def submitted(ack: AsyncAck, body: dict[str, Any]) -> None:  # pyright: ignore[reportUnusedFunction]
        await acknowledge(ack, body["view"], save_settings(slack, body), "settings", again=_AGAIN)
