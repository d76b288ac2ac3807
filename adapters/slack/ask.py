"""Questions that don't come as messages: `/kb ask`, and the buttons under an answer."""

from __future__ import annotations

import structlog
from slack_sdk.errors import SlackApiError

from adapters.answering import unseen
from adapters.conversation import Reply, Turn
from adapters.durable import Incoming
from adapters.slack.answer import Answering
from adapters.slack.context import Installed, Slack
from adapters.slack.deliver import Delivery
from adapters.slack.errors import NoPlace, attempt, code_of
from adapters.slack.history import history
from adapters.slack.message import readable_text
from adapters.slack.surface import answer_url
from adapters.slack.turn import asker

log = structlog.get_logger()


async def work_ask(slack: Slack, answering: Answering, incoming: Incoming) -> None:
    """Answer to the person alone, or in the thread where the button stands."""
    told = incoming.payload
    installed = await slack.clients.of(told["team"], told["enterprise"])
    user, channel, thread = told["user"], told["channel"], told["thread"]
    person = await asker(slack, installed, user)
    conversation = await slack.conversation(installed, channel, thread=thread)
    turn = Turn(
        id=incoming.id,
        workspace=await slack.workspace(installed),
        conversation=conversation,
        asker=person,
        text=await readable_text(slack, installed, told["text"]),
        private=bool(told["private"]),
        history=await history(slack, installed, conversation, before=None, store=slack.bot.transcript),
        locale=await slack.people.locale(installed, user),
    )
    if turn.private:
        await _privately(slack, answering, installed, turn, told["response_url"], incoming)
        return
    delivery = Delivery(
        slack, installed, channel, thread, incoming.id, since=told.get("since") or thread or "0",
        resumed=incoming.starts > 1,
    )  # fmt: skip
    note = f"{person.name or 'Somebody'} asked: {turn.text}"
    await answering.end(incoming, installed, delivery, turn, user=user, lane=incoming.lane, notes=[note])


async def _privately(
    slack: Slack,
    answering: Answering,
    installed: Installed,
    turn: Turn,
    response_url: str | None,
    incoming: Incoming,
) -> None:
    """Such a message can't be read back: after a kill it is sent again, rather than not at all."""
    reply = await unseen(slack.bot.answers, incoming, turn)
    for message in await answering.messages(reply):
        if response_url is not None and await answer_url(
            response_url, {**message, "replace_original": False}, thread=turn.conversation.thread
        ):
            continue
        try:
            await attempt(
                lambda message=message: installed.client.chat_postEphemeral(
                    channel=turn.conversation.id,
                    user=turn.asker.id,
                    thread_ts=turn.conversation.thread,
                    **message,
                )
            )
        except (NoPlace, SlackApiError) as error:
            code = code_of(error)
            log.info("slack_ephemeral_refused", code=code)
            await _by_direct_message(slack, installed, turn, reply, answering)
            return


async def _by_direct_message(
    slack: Slack, installed: Installed, turn: Turn, reply: Reply, answering: Answering
) -> None:
    opened = await attempt(lambda: installed.client.conversations_open(users=turn.asker.id))
    direct = Delivery(slack, installed, str(opened["channel"]["id"]), None, turn.id, since="0")
    await direct.finish(await answering.messages(reply))
