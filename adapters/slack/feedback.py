"""Thumbs under an answer; a thumbs-down asks why."""

from __future__ import annotations

from typing import Any, Final, Literal

from slack_bolt.async_app import AsyncAck, AsyncApp

from adapters.forms import Feedback, Field, Form
from adapters.slack import limits
from adapters.slack.context import Slack
from adapters.slack.modal import context_of, form_view, submission_of
from adapters.slack.render import DOWN, FEEDBACK, UP
from adapters.slack.submission import acknowledge
from adapters.slack.surface import Act, ending, open_view

CALLBACK: Final = "reply_reason"
_THANKS: Final = "Thank you! That helps."
_NOTED: Final = "Thank you. I'll pass it on to whoever looks after the documents."


def reason_form(turn_id: str, channel: str | None, thread: str | None) -> Form:
    """What was wrong, in the person's own words or not at all."""
    context = {"turn": turn_id, "channel": channel or "", "thread": thread or ""}
    return Form(
        id=CALLBACK,
        title="What was wrong?",
        submit="Send",
        context=context,
        fields=(
            Field(name="reason", label="What was wrong with this answer?", kind="long_text",
                  max_length=limits.INPUT, placeholder="It names the old price list, for instance."),
        ),
    )  # fmt: skip


async def _record(
    slack: Slack, act: Act, turn_id: str, rating: Literal["up", "down"], why: str = ""
) -> None:
    await slack.bot.feedback.record(
        await act.actor(slack),
        Feedback(turn_id=turn_id, person_id=act.user, rating=rating, reason=why[: limits.INPUT]),
    )


async def _kept(slack: Slack, act: Act, turn_id: str, reason: str) -> dict[str, Any]:
    await _record(slack, act, turn_id, "down", reason)
    return {}


def register(app: AsyncApp, slack: Slack) -> None:
    @app.action(FEEDBACK)
    async def rated(ack: AsyncAck, body: dict[str, Any]) -> None:  # pyright: ignore[reportUnusedFunction]
        await ack()
        act = Act.of(body)
        async with ending(lambda text: act.tell(slack, text), "feedback"):
            if act.value.startswith(UP):
                await _record(slack, act, act.value.removeprefix(UP), "up")
                await act.tell(slack, _THANKS)
                return
            turn_id = act.value.removeprefix(DOWN)
            # First the thumb: the modal may be closed without a word.
            await _record(slack, act, turn_id, "down")
            await open_view(slack, act, form_view(reason_form(turn_id, act.channel, act.thread), CALLBACK))

    @app.view(CALLBACK)
    async def said(ack: AsyncAck, body: dict[str, Any]) -> None:  # pyright: ignore[reportUnusedFunction]
        view, context = body["view"], context_of(body["view"])
        # A modal knows no place; the thanks belong beside the answer.
        place = {"channel_id": context["channel"] or None, "thread_ts": context["thread"] or None}
        act = Act.of({**body, "container": place})
        form = reason_form(context["turn"], context["channel"], context["thread"])
        reason = str(submission_of(form, view).values.get("reason") or "").strip()
        kept = _kept(slack, act, context["turn"], reason)
        if not await acknowledge(ack, view, kept, "feedback", again="Please send it again."):
            return
        async with ending(lambda text: act.tell(slack, text), "feedback"):
            await act.tell(slack, _NOTED)
