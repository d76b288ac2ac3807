"""Files and threads on their way into the knowledge base, from the inbox to `done` or `failed: why`."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from contextlib import aclosing
from typing import Any, Final, cast

import structlog
from slack_sdk.errors import SlackApiError

from adapters.conversation import UploadedFile
from adapters.durable import Incoming
from adapters.forms import Progress, ProgressItem
from adapters.ports import Actor, Refused, UploadOptions
from adapters.slack import work
from adapters.slack.audience import fitting, told
from adapters.slack.context import Installed, Slack
from adapters.slack.deliver import Delivery
from adapters.slack.edits import Edits
from adapters.slack.errors import NoPlace, Unclear, attempt, code_of, reason_of
from adapters.slack.files import download
from adapters.slack.history import read_thread
from adapters.slack.home import refresh_home
from adapters.slack.progress import progress_message
from adapters.slack.thread_document import thread_file

log = structlog.get_logger()

#: Seconds for which it is noted what of an upload was accepted.
KEEP: Final = 7 * 24 * 3600
#: Seconds that the progress of one upload is shown: a place among the inbox's work is held meanwhile.
WATCH: Final = 1800.0
#: Beginnings after which an upload ends with an apology: it may be what kills the process.
TRIES: Final = 3
_LONGER: Final = "This takes longer. Type /kb status to see how it goes on."
_WRONG: Final = "Something went wrong on my side. Please try again."
_NOT_THERE: Final = (
    "I can't read that conversation. Invite me to it (/invite and my name), then try once more."
)


async def work_upload(slack: Slack, incoming: Incoming) -> None:
    """Fetch files from Slack, add them, and show how they get on."""
    upload = await _Upload.begin(slack, incoming)
    if upload is not None:
        await upload.run(upload.fetch_files)


async def work_save_thread(slack: Slack, incoming: Incoming) -> None:
    """Add a thread as a document whose citations lead back to it."""
    upload = await _Upload.begin(slack, incoming)
    if upload is not None:
        await upload.run(upload.fetch_thread)


async def _direct(installed: Installed, user: str) -> str:
    """The direct message with a person; empty where there can be none: the work goes on unseen."""
    try:
        opened = await attempt(lambda: installed.client.conversations_open(users=user))
        return str(opened["channel"]["id"])
    except (NoPlace, SlackApiError) as error:
        log.warning("slack_no_direct_message", error=reason_of(error))
        return ""


class _Upload:
    """One upload, from the inbox's item to the message that tells how it ended."""

    def __init__(
        self, slack: Slack, incoming: Incoming, installed: Installed, actor: Actor, delivery: Delivery
    ) -> None:
        self._slack, self._incoming, self._told = slack, incoming, incoming.payload
        self._installed, self._actor = installed, actor
        self._edits = Edits(delivery)
        self._note = f"slack-upload:{incoming.id}"
        audience = self._told.get("audience") or fitting(actor.conversation, actor.person)
        self._options = UploadOptions(
            knowledge_base=self._told.get("knowledge_base") or None,
            labels=tuple(self._told.get("labels") or ()),
            audience=audience,
            same_name=self._told.get("same_name") or "replace",
        )
        self._remark = told(audience, actor.conversation)

    @classmethod
    async def begin(cls, slack: Slack, incoming: Incoming) -> _Upload | None:
        """None where an earlier run has ended it."""
        payload = incoming.payload
        installed = await slack.clients.of(payload["team"], payload["enterprise"])
        if "done" in await slack.bot.notes.read(f"slack-upload:{incoming.id}"):
            return None
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
        return cls(slack, incoming, installed, actor, delivery)

    async def run(self, fetch: Any) -> None:
        try:
            if self._incoming.starts > TRIES:
                items = [*await self._added(), self._failed(self._title, _WRONG)]
            else:
                items = await self._watched(await fetch())
            last = progress_message(items, note=self._after(items))
        except Refused as error:
            log.info("slack_upload_refused", kind=self._incoming.kind)
            last = progress_message([self._failed(self._title, str(error))])
        finally:
            await self._edits.close()
        await self._edits.finish(last)
        await self._slack.bot.notes.write(self._note, {"done": "1"}, seconds=KEEP)
        if self._told["channel"] is None:  # it was begun in the Home tab, which lists documents
            await refresh_home(self._slack, self._installed, self._told["user"])

    def _after(self, items: Sequence[ProgressItem]) -> str:
        if not Progress(items=tuple(items)).finished:
            return _LONGER
        return self._remark if any(item.stage == "done" for item in items) else ""

    @property
    def _title(self) -> str:
        return "Your files" if self._incoming.kind == work.UPLOAD else "The thread"

    def _failed(self, name: str, why: str) -> ProgressItem:
        return ProgressItem(document_id="", version_id="", name=name, stage="failed", message=why)

    async def _added(self) -> list[ProgressItem]:
        """What earlier runs have added, as it was then."""
        noted = await self._slack.bot.notes.read(self._note)
        return [
            ProgressItem.model_validate_json(item)
            for name, item in noted.items()
            if name.startswith("file:")
        ]

    # -- fetching ------------------------------------------------------------------------------

    async def fetch_files(self) -> list[ProgressItem]:
        """One after the other; those that an earlier run has added are known from the note."""
        noted = await self._slack.bot.notes.read(self._note)
        ids = list(dict.fromkeys(cast("list[str]", self._told["files"])))
        if not ids:
            raise Refused("There is no file in that message that I can read.")
        items: list[ProgressItem] = []
        for position, file_id in enumerate(ids):
            self._edits.show(progress_message(items, fetching=len(ids) - position, note=self._remark))
            if (known := noted.get(f"file:{file_id}")) is not None:
                items.append(ProgressItem.model_validate_json(known))
                continue
            items.append(await self._add_file(file_id))
        return items

    async def _add_file(self, file_id: str) -> ProgressItem:
        try:
            file = await download(self._slack, self._installed, {"id": file_id}, self._slack.spool)
        except Refused as error:
            return await self._noted(file_id, self._failed("A file", str(error)))
        return await self._add(file_id, file)

    async def _add(self, key: str, file: UploadedFile) -> ProgressItem:
        try:
            progress = await self._slack.bot.documents.upload(self._actor, [file], self._options)
            item = progress.items[0]
        except Refused as error:
            item = self._failed(file.name, str(error))
        finally:
            await asyncio.to_thread(file.path.unlink, missing_ok=True)
        return await self._noted(key, item)

    async def _noted(self, key: str, item: ProgressItem) -> ProgressItem:
        await self._slack.bot.notes.write(self._note, {f"file:{key}": item.model_dump_json()}, seconds=KEEP)
        return item

    async def fetch_thread(self) -> list[ProgressItem]:
        noted = (await self._slack.bot.notes.read(self._note)).get("file:thread")
        if noted is not None:
            return [ProgressItem.model_validate_json(noted)]
        self._edits.show(progress_message([], fetching=1, note=self._remark))
        channel, thread = self._told["channel"], self._told["thread"]
        try:
            messages = await read_thread(self._slack, self._installed, channel, thread)
        except (NoPlace, SlackApiError) as error:
            code = code_of(error)
            log.info("slack_thread_not_saved", code=code)
            raise Refused(_NOT_THERE) from error
        file = await thread_file(
            messages,
            thread,
            self._slack.spool,
            where=self._actor.conversation.name,
            permalink=await self._permalink(channel, thread),
        )
        return [await self._add("thread", file)]

    async def _permalink(self, channel: str, ts: str) -> str | None:
        try:
            found = await attempt(
                lambda: self._installed.client.chat_getPermalink(channel=channel, message_ts=ts)
            )
            return str(found["permalink"])
        except (Unclear, NoPlace, SlackApiError) as error:
            log.info("slack_no_permalink", error=reason_of(error))
            return None

    # -- watching ------------------------------------------------------------------------------

    async def _watched(self, items: list[ProgressItem]) -> list[ProgressItem]:
        """Until all have ended, or for as long as it is shown."""
        waiting = [item.version_id for item in items if item.version_id and not item.finished]
        if not waiting:
            return items
        now = {item.version_id: item for item in items if item.version_id}
        try:
            async with asyncio.timeout(WATCH):
                watch = cast("Any", self._slack.bot.documents.watch(self._actor, waiting))
                async with aclosing(watch) as changes:
                    async for progress in changes:
                        now |= {item.version_id: item for item in progress.items}
                        items = [now.get(item.version_id, item) for item in items]
                        self._edits.show(progress_message(items, note=self._remark))
        except TimeoutError:
            log.info("slack_upload_still_running", documents=len(waiting))
        return items
