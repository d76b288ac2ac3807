"""The menu of an answer (why, again, delete), and the questions under it that can be asked at once."""

from __future__ import annotations

import re
from typing import Any, Final

import structlog
from slack_bolt.async_app import AsyncAck, AsyncApp
from slack_sdk.errors import SlackApiError

from adapters.durable import Incoming
from adapters.history import reply_id
from adapters.ports import Refused
from adapters.slack import work
from adapters.slack.context import Slack
from adapters.slack.deliver import posted_note
from adapters.slack.errors import GONE, attempt, code_of
from adapters.slack.event import lane
from adapters.slack.explain import open_explanation
from adapters.slack.kit import escape
from adapters.slack.render import AGAIN, ASK, DELETE, MENU, WHY
from adapters.slack.surface import Act, acknowledging, answer_url

log = structlog.get_logger()

_ASK: Final = re.compile(rf"{ASK}:\d+")
_FORGOTTEN: Final = "That question is not kept any more. Please ask it again in your own words."
_NOT_YOURS: Final = "Only the one who asked and admins can delete this answer."


def ask_work(act: Act, text: str, *, escaped: bool = False) -> Incoming:
    """The question in the same thread. What only one person sees is answered to that person alone.

    Args:
        escaped: `text` holds Slack's own markup; else it is a person's or a document's words.
    """
    thread = act.thread or (act.message if not act.hidden and (act.channel or "").startswith("D") else None)
    return work.incoming(
        work.ASK,
        # The click makes it a new question; a resend of the click does not.
        f"{act.team}:{act.channel}:{act.message}:{act.user}:{act.trigger}",
        lane=lane(act.team, act.channel or "", thread or f"{act.user}-{act.message}"),
        payload={
            **act.place(act.channel),
            "thread": thread,
            "text": text if escaped else escape(text),
            "private": act.hidden,
            "response_url": act.response_url if act.hidden else None,
            # Nothing of the answer is older than what was clicked on.
            "since": act.message,
        },
    )


async def ask_again(slack: Slack, act: Act, turn_id: str) -> None:
    """Raises `Refused` where the question is gone."""
    asked = await slack.bot.answers.question(await act.actor(slack), turn_id)
    if asked is None:
        raise Refused(_FORGOTTEN)
    await slack.bot.inbox.accept(ask_work(act, asked.question))


async def delete_reply(slack: Slack, act: Act, turn_id: str) -> None:
    """Take away all parts of an answer. Raises `Refused` for those who may not."""
    actor = await act.actor(slack)
    asked = await slack.bot.answers.question(actor, turn_id)
    if not actor.person.is_admin and not act.hidden and (asked is None or not asked.mine):
        raise Refused(_NOT_YOURS)
    if act.hidden:
        if act.response_url:
            await answer_url(act.response_url, {"delete_original": True})
        return
    kept = await slack.bot.notes.read(posted_note(turn_id))
    places = [tuple(place.split(" ", 1)) for part, place in kept.items() if part.isdecimal()]
    client = (await act.installed(slack)).client
    for channel, ts in places or [(act.channel or "", act.message or "")]:
        try:
            await attempt(lambda channel=channel, ts=ts: client.chat_delete(channel=channel, ts=ts))
        except SlackApiError as error:
            if code_of(error) not in GONE:
                raise
    await slack.bot.transcript.forget(actor.conversation, reply_id(turn_id))
    await act.tell(slack, "The answer is deleted.")


def read_choice(value: str) -> tuple[str, str]:
    """Which entry of the menu was chosen, and of which turn."""
    kind = next((kind for kind in (WHY, AGAIN, DELETE) if value.startswith(kind)), "")
    return kind, value.removeprefix(kind)


def register(app: AsyncApp, slack: Slack) -> None:
    @app.action(MENU)
    async def chosen(ack: AsyncAck, body: dict[str, Any]) -> None:  # pyright: ignore[reportUnusedFunction]
        act = Act.of(body)
        async with acknowledging(ack, lambda text: act.tell(slack, text), "reply_menu"):
            kind, turn_id = read_choice(act.value)
            if kind == AGAIN:
                # Before it is acknowledged: a question that was accepted survives a kill.
                await ask_again(slack, act, turn_id)
            elif kind == WHY:
                await ack()
                await open_explanation(slack, act, turn_id)
            elif kind == DELETE:
                await ack()
                await delete_reply(slack, act, turn_id)

    @app.action(_ASK)
    async def asked(ack: AsyncAck, body: dict[str, Any]) -> None:  # pyright: ignore[reportUnusedFunction]
        act = Act.of(body)
        async with acknowledging(ack, lambda text: act.tell(slack, text), "ask_button"):
            await slack.bot.inbox.accept(ask_work(act, act.value))
