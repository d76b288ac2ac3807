"""Files and threads on their way into the knowledge base, from the inbox to the message that tells how
they ended."""

from __future__ import annotations

from collections.abc import Callable
from typing import Final, cast

import structlog
from slack_sdk.errors import SlackApiError

from adapters.conversation import UploadedFile
from adapters.durable import Incoming
from adapters.edits import Edits
from adapters.ports import Actor, Refused
from adapters.slack import work
from adapters.slack.context import Installed, Slack
from adapters.slack.deliver import Delivery
from adapters.slack.edits import FAILURES
from adapters.slack.errors import NoPlace, Unclear, attempt, code_of, reason_of
from adapters.slack.files import download
from adapters.slack.history import read_thread
from adapters.slack.home import refresh_home
from adapters.slack.progress import progress_message
from adapters.slack.render import SlackMessage
from adapters.thread_document import thread_file
from adapters.uploading import Uploading, Wanted, upload_note

log = structlog.get_logger()

#: The files of an upload, by who adds them and where.
_WantedOf = Callable[[Installed, Actor], list[Wanted]]
_LONGER: Final = "This takes longer. Type /kb status to see how it goes on."
_NOT_THERE: Final = (
    "I can't read that conversation. Invite me to it (/invite and my name), then try once more."
)


async def work_upload(slack: Slack, incoming: Incoming) -> None:
    """Fetch files from Slack, add them, and show how they get on."""
    ids = dict.fromkeys(cast("list[str]", incoming.payload["files"]))

    def wanted(installed: Installed, _: Actor) -> list[Wanted]:
        async def fetch(file_id: str) -> UploadedFile:
            return await download(slack, installed, {"id": file_id}, slack.spool)

        return [Wanted(file_id, lambda file_id=file_id: fetch(file_id)) for file_id in ids]

    await _work(slack, incoming, wanted, "Your files")


async def work_save_thread(slack: Slack, incoming: Incoming) -> None:
    """Add a thread as a document whose citations lead back to it."""
    title = "The thread"

    def wanted(installed: Installed, actor: Actor) -> list[Wanted]:
        return [Wanted("thread", lambda: _thread(slack, installed, actor, incoming), title)]

    await _work(slack, incoming, wanted, title)


async def _work(slack: Slack, incoming: Incoming, wanted: _WantedOf, title: str) -> None:
    payload = incoming.payload
    installed = await slack.clients.of(payload["team"], payload["enterprise"])
    if "done" in await slack.bot.notes.read(upload_note(incoming)):
        return
    thread = payload.get("thread") if incoming.kind == work.UPLOAD else None
    actor = await slack.actor(installed, payload["user"], payload["channel"], thread=thread)
    notify = payload.get("notify")
    if not notify:
        notify, thread = await _direct(installed, payload["user"]), None
    delivery = Delivery(
        slack, installed, notify, thread, incoming.id,
        since=str(payload.get("since") or thread or "0"), resumed=incoming.starts > 1,
        answer=False,
    )  # fmt: skip
    await delivery.open()
    edits = Edits[SlackMessage](delivery, FAILURES)
    upload = Uploading(slack.bot, incoming, actor, edits, progress_message, longer=_LONGER)
    await upload.run(wanted(installed, actor), title=title)
    if payload["channel"] is None:  # it was begun in the Home tab, which lists documents
        await refresh_home(slack, installed, payload["user"])


async def _direct(installed: Installed, user: str) -> str:
    """The direct message with a person; empty where there can be none: the work goes on unseen."""
    try:
        opened = await attempt(lambda: installed.client.conversations_open(users=user))
        return str(opened["channel"]["id"])
    except (NoPlace, SlackApiError) as error:
        log.warning("slack_no_direct_message", error=reason_of(error))
        return ""


async def _thread(slack: Slack, installed: Installed, actor: Actor, incoming: Incoming) -> UploadedFile:
    channel, thread = incoming.payload["channel"], incoming.payload["thread"]
    try:
        messages = await read_thread(slack, installed, channel, thread)
    except (NoPlace, SlackApiError) as error:
        log.info("slack_thread_not_saved", code=code_of(error))
        raise Refused(_NOT_THERE) from error
    return await thread_file(
        messages,
        thread,
        slack.spool,
        platform="Slack",
        where=f"#{actor.conversation.name}" if actor.conversation.name else "",
        permalink=await _permalink(installed, channel, thread),
    )


async def _permalink(installed: Installed, channel: str, ts: str) -> str | None:
    try:
        found = await attempt(lambda: installed.client.chat_getPermalink(channel=channel, message_ts=ts))
        return str(found["permalink"])
    except (Unclear, NoPlace, SlackApiError) as error:
        log.info("slack_no_permalink", error=reason_of(error))
        return None
