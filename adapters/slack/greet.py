"""First words: a greeting in a channel that the bot was added to, prompts where a person opens its chat."""

from __future__ import annotations

from typing import Any, Final

import structlog
from slack_bolt.async_app import AsyncApp
from slack_sdk.errors import SlackApiError

from adapters.conversation import Reply
from adapters.durable import Incoming
from adapters.slack import limits
from adapters.slack.context import Slack
from adapters.slack.deliver import Delivery
from adapters.slack.errors import NoPlace, Unclear, attempt, reason_of
from adapters.slack.render import render

log = structlog.get_logger()

#: Seconds within which a channel is greeted once, and a person's prompts are not set again.
GREETED, PROMPTED = 30 * 24 * 3600, 300
_GREETING: Final = (
    "Hello! Mention me with a question, and I answer from this workspace's documents, with links to the "
    "places that the answer comes from. `/kb upload` adds a document, `/kb help` tells the rest."
)


async def work_joined(slack: Slack, incoming: Incoming) -> None:
    """Greet a channel, once. Rather not at all than twice, so a greeting that fails is not tried again."""
    told = incoming.payload
    if not await slack.bot.notes.claim(f"slack-greeted:{told['team']}:{told['channel']}", seconds=GREETED):
        return
    installed = await slack.clients.of(told["team"], told["enterprise"])
    delivery = Delivery(slack, installed, told["channel"], None, incoming.id, since="0", answer=False)
    try:
        await delivery.finish(render(Reply(turn_id=incoming.id, kind="notice", text=_GREETING)))
    except (NoPlace, Unclear, SlackApiError) as error:
        log.info("slack_greeting_failed", error=reason_of(error))


def register(app: AsyncApp, slack: Slack) -> None:
    """Suggested prompts in the chat with the bot, drawn from what the person may read."""

    @app.event("app_home_opened")
    async def opened(body: dict[str, Any]) -> None:  # pyright: ignore[reportUnusedFunction]
        event = body["event"]
        if event.get("tab") != "messages":
            return
        team, user, channel = body["team_id"], event["user"], event["channel"]
        if not await slack.bot.notes.claim(f"slack-prompted:{team}:{user}", seconds=PROMPTED):
            return
        installed = await slack.clients.of(team, body.get("enterprise_id"))
        actor = await slack.actor(installed, user, channel)
        questions = await slack.bot.answers.suggestions(actor, limit=limits.PROMPTS)
        if not questions:
            questions = ["What can you do?"]
        prompts = [
            {"title": question[: limits.PROMPT_TITLE], "message": question} for question in questions
        ]
        try:
            # Without `thread_ts`: with one, Slack ignores it in an app with the agent view.
            await attempt(
                lambda: installed.client.assistant_threads_setSuggestedPrompts(
                    channel_id=channel, prompts=prompts
                )
            )
        except (NoPlace, Unclear, SlackApiError) as error:
            log.info("slack_prompts_not_set", error=reason_of(error))
