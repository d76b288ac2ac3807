"""From an event to the inbox. In this order: bolt verifies, authorises and drops the bot's own; then here
edits, unfurls and other bots are set aside, and what is for the bot is accepted, in one step that also
tells resends. Only then is the event acknowledged: a listener of bolt's would acknowledge first.
"""

from __future__ import annotations

import re
from collections.abc import Awaitable, Callable
from typing import Any, Final

import structlog
from slack_bolt.async_app import AsyncAck, AsyncApp
from slack_bolt.response import BoltResponse

from adapters.slack import work
from adapters.slack.context import Installed, Slack
from adapters.slack.event import Deleted, Edited, Said, lane, read_event
from adapters.slack.threads import Threads

log = structlog.get_logger()

_MESSAGES: Final = frozenset({"message", "app_mention"})


def register(app: AsyncApp, slack: Slack, threads: Threads) -> None:
    """Put the way of an event into the app, after all other listeners."""

    @app.middleware
    async def accept(  # pyright: ignore[reportUnusedFunction]
        body: dict[str, Any], next: Callable[[], Awaitable[BoltResponse]]
    ) -> BoltResponse:
        event = body.get("event") if body.get("type") == "event_callback" else None
        if isinstance(event, dict) and await _accept(slack, threads, body):
            return BoltResponse(status=200)
        return await next()

    async def told(ack: AsyncAck) -> None:
        """What nobody else listens to is acknowledged, or Slack tells it again."""
        await ack()

    anything = re.compile(".*", re.DOTALL)
    app.event(anything)(told)
    app.action(anything)(told)


async def _accept(slack: Slack, threads: Threads, body: dict[str, Any]) -> bool:
    """Whether that was all that is to be done with the event."""
    event: dict[str, Any] = body["event"]
    match event.get("type"):
        case kind if kind in _MESSAGES:
            await _message(slack, threads, body)
        case "member_joined_channel":
            await _joined(slack, body)
        case "agent_session_stopped":
            name = lane(body.get("team_id", ""), event.get("channel", ""), event.get("thread_ts", ""))
            threads.running.stop(name)
        case _:
            return False
    return True


async def _message(slack: Slack, threads: Threads, body: dict[str, Any]) -> None:
    match read_event(body):
        case Said() as said:
            installed = await slack.clients.of(said.team, said.enterprise)
            await _said(slack, threads, installed, said)
        case Deleted() as deleted:
            await _deleted(slack, threads, deleted)
        case Edited(message=said):
            if await threads.known(said.team, said.channel, said.root):
                installed = await slack.clients.of(said.team, said.enterprise)
                await threads.remember(installed, said)
        case ignored:
            log.debug("slack_event_ignored", why=ignored.why)


async def _said(slack: Slack, threads: Threads, installed: Installed, said: Said) -> None:
    """Accept what may be a question to the bot; keep what is said in its threads beside."""
    if said.user == installed.bot_user or (said.bot is not None and said.bot == installed.bot_id):
        return
    ours = said.thread_ts is not None and await threads.known(said.team, said.channel, said.thread_ts)
    if said.bot is not None or said.user is None:
        if ours:
            await threads.remember(installed, said)
        return
    addressed = said.direct or said.mentions(installed.bot_user)
    if not addressed and not ours:
        return
    if said.files and said.only_mentions and addressed:
        await slack.bot.inbox.accept(_upload(said))
        return
    accepted = await slack.bot.inbox.accept(
        work.incoming(
            work.MESSAGE,
            said.name,
            lane=said.lane,
            payload={"said": said.model_dump(mode="json"), "addressed": addressed},
            also=(f"event:{said.event_id}",) if said.event_id else (),
        )
    )
    if accepted and addressed:
        await threads.open(said.team, said.channel, said.root)


def _upload(said: Said) -> Any:
    return work.incoming(
        work.UPLOAD,
        said.name,
        lane=said.lane,
        payload={
            "team": said.team,
            "enterprise": said.enterprise,
            "user": said.user,
            "channel": said.channel,
            "thread": said.root,
            "files": [file["id"] for file in said.files if isinstance(file.get("id"), str)],
            "knowledge_base": None,
            "labels": [],
            # By the place: what is shared in a private channel is for its members.
            "audience": None,
            "same_name": "replace",
            "notify": said.channel,
        },
        # A mention comes as two events.
        also=(f"{work.MESSAGE}:{said.name}",),
    )


async def _deleted(slack: Slack, threads: Threads, deleted: Deleted) -> None:
    """Withdraw the question. One whose event is still on its way is not accepted any more."""
    name = f"{deleted.team}:{deleted.channel}:{deleted.ts}"
    thread = lane(deleted.team, deleted.channel, deleted.root)
    question = work.incoming(work.MESSAGE, name, lane=thread, payload={})
    if await slack.bot.inbox.accept(question.model_copy(update={"kind": work.NOTHING})):
        return
    await slack.bot.inbox.accept(
        work.incoming(
            work.WITHDRAWN,
            name,
            lane=thread,
            payload={**deleted.model_dump(mode="json"), "question": question.id},
        )
    )
    await slack.bot.inbox.cancel(work.PLATFORM, thread, question.id)
    await threads.forget(deleted.team, deleted.channel, deleted.root, deleted.ts)


async def _joined(slack: Slack, body: dict[str, Any]) -> None:
    event, team, enterprise = body["event"], body.get("team_id", ""), body.get("enterprise_id")
    installed = await slack.clients.of(team, enterprise)
    channel = event.get("channel", "")
    if event.get("user") != installed.bot_user:
        return
    await slack.bot.inbox.accept(
        work.incoming(
            work.JOINED,
            f"{team}:{channel}:{event.get('event_ts', '')}",
            lane=lane(team, channel, "joined"),
            payload={"team": team, "enterprise": enterprise, "channel": channel},
        )
    )
