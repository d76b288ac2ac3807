"""What the inbox holds for Slack, each to the part that works it."""

from __future__ import annotations

from collections.abc import Awaitable, Callable

import structlog

from adapters.durable import Incoming
from adapters.slack import work
from adapters.slack.answer import Answering
from adapters.slack.ask import work_ask
from adapters.slack.context import NotInstalled, Slack
from adapters.slack.greet import work_joined
from adapters.slack.threads import Threads
from adapters.slack.uploads import work_save_thread, work_upload
from adapters.slack.withdraw import work_withdrawn

log = structlog.get_logger()


def handler(slack: Slack, threads: Threads) -> Callable[[Incoming], Awaitable[None]]:
    """For `Inbox.serve`."""
    answering = Answering(slack, threads)

    async def act(incoming: Incoming) -> None:
        match incoming.kind:
            case work.MESSAGE:
                await answering.message(incoming)
            case work.ASK:
                await work_ask(slack, answering, incoming)
            case work.WITHDRAWN:
                await work_withdrawn(slack, incoming)
            case work.JOINED:
                await work_joined(slack, incoming)
            case work.UPLOAD:
                await work_upload(slack, incoming)
            case work.SAVE_THREAD:
                await work_save_thread(slack, incoming)
            case _:
                pass  # stands for an event that shall only be known

    async def handle(incoming: Incoming) -> None:
        try:
            await act(incoming)
        except NotInstalled:
            # Nobody can be told: the bot has no right to write there any more.
            log.warning("slack_not_installed", kind=incoming.kind)

    return handle
