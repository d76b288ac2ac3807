"""What the inbox holds for Slack, each to the part that works it."""

from __future__ import annotations

from collections.abc import Awaitable, Callable

import structlog

from adapters.ports import Incoming
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
    kinds: dict[str, Callable[[Incoming], Awaitable[None]]] = {
        work.MESSAGE: answering.message,
        work.ASK: lambda incoming: work_ask(slack, answering, incoming),
        work.WITHDRAWN: lambda incoming: work_withdrawn(slack, incoming),
        work.JOINED: lambda incoming: work_joined(slack, incoming),
        work.UPLOAD: lambda incoming: work_upload(slack, incoming),
        work.SAVE_THREAD: lambda incoming: work_save_thread(slack, incoming),
    }

    async def handle(incoming: Incoming) -> None:
        if (act := kinds.get(incoming.kind)) is None:
            return
        try:
            await act(incoming)
        except NotInstalled:
            # Nobody can be told: the bot has no right to write there any more.
            log.warning("slack_not_installed", kind=incoming.kind)

    return handle
