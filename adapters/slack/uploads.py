"""Documents from Slack: files that were shared, or a thread, into the knowledge base."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncGenerator, Sequence
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any, Final

import structlog
from slack_sdk.errors import SlackApiError

from adapters.conversation import ConversationKind, Reply, UploadedFile
from adapters.forms import Progress, ProgressItem
from adapters.ports import Actor, AudienceChoice, Incoming, Refused, UploadOptions
from adapters.slack.context import Installed, Slack
from adapters.slack.deliver import Delivery
from adapters.slack.errors import NoPlace, Unclear, attempt
from adapters.slack.files import download
from adapters.slack.history import read_thread
from adapters.slack.progress import message_of
from adapters.slack.render import SlackMessage, render
from adapters.slack.thread_document import document_of

log = structlog.get_logger()

#: Seconds between two edits of the progress message.
EVERY: Final = 2.0
_AGAIN: Final = "Something went wrong on my side. Share the file again."


def audience_of(kind: ConversationKind, chosen: str | None) -> AudienceChoice:
    """What was chosen, else whoever can see the place where it was shared."""
    match chosen:
        case "everyone" | "channel" | "person" | "shareable":
            return chosen
        case _:
            if kind == "direct":
                return "person"
            return "everyone" if kind == "public_channel" else "channel"


async def work_upload(slack: Slack, incoming: Incoming) -> None:
    """Files by their ids; each one ends as done or as failed with a sentence."""
    told = incoming.payload

    async def add(installed: Installed, actor: Actor) -> list[ProgressItem]:
        options = _options(told, actor)
        items: list[ProgressItem] = []
        for number, file_id in enumerate(told["files"]):
            items.append(await _one(slack, installed, actor, file_id, options, f"{incoming.id}:{number}"))
        return items

    await _work(slack, incoming, add)


async def work_save_thread(slack: Slack, incoming: Incoming) -> None:
    """A thread as a document, whose citations lead back to it."""
    told = incoming.payload

    async def add(installed: Installed, actor: Actor) -> list[ProgressItem]:
        messages = await read_thread(slack, installed, told["channel"], told["thread"])
        link = await attempt(
            lambda: installed.client.chat_getPermalink(channel=told["channel"], message_ts=told["thread"])
        )
        name, text = document_of(messages, actor.conversation.name)
        async with _spooled(slack.spool, incoming.id, text) as path:
            file = UploadedFile(
                name=name,
                path=path,
                size=path.stat().st_size,
                media_type="text/markdown",
                permalink=str(link["permalink"]),
            )
            progress = await slack.bot.documents.upload(actor, [file], _options(told, actor))
        return list(progress.items)

    await _work(slack, incoming, add)


@asynccontextmanager
async def _spooled(spool: Path, name: str, text: str) -> AsyncGenerator[Path]:
    path = spool / f"thread-{name}"
    await asyncio.to_thread(path.write_text, text, "utf-8")
    try:
        yield path
    finally:
        await asyncio.to_thread(path.unlink, missing_ok=True)


def _options(told: dict[str, Any], actor: Actor) -> UploadOptions:
    return UploadOptions(
        knowledge_base=told.get("knowledge_base"),
        labels=tuple(told.get("labels") or ()),
        audience=audience_of(actor.conversation.kind, told.get("audience")),
        same_name=told.get("same_name") or "replace",
    )


async def _one(
    slack: Slack, installed: Installed, actor: Actor, file_id: str, options: UploadOptions, name: str
) -> ProgressItem:
    """Accept one file. What was accepted before a kill is not accepted again."""
    note = f"slack-upload:{name}"
    if kept := await slack.bot.notes.read(note):
        return ProgressItem.model_validate_json(kept["item"])
    try:
        file = await download(slack, installed, {"id": file_id}, slack.spool)
    except Refused as error:
        return _failed(file_id, name, str(error))
    try:
        item = (await slack.bot.documents.upload(actor, [file], options)).items[0]
    except Refused as error:
        return _failed(file.name, name, str(error))
    finally:
        await asyncio.to_thread(file.path.unlink, missing_ok=True)
    await slack.bot.notes.write(note, {"item": item.model_dump_json()}, seconds=24 * 3600)
    return item


def _failed(name: str, version: str, message: str) -> ProgressItem:
    return ProgressItem(document_id="", version_id=version, name=name, stage="failed", message=message)


async def _work(slack: Slack, incoming: Incoming, add: Any) -> None:
    """Add, and show how it goes in one message that is edited, until everything is finished."""
    told = incoming.payload
    installed = await slack.clients.of(told["team"], told["enterprise"])
    place, thread = told.get("notify") or told["channel"], told.get("thread")
    try:
        if place is None:
            opened = await attempt(lambda: installed.client.conversations_open(users=told["user"]))
            place, thread = str(opened["channel"]["id"]), None
        actor = await slack.actor(installed, told["user"], told["channel"], thread=told.get("thread"))
        delivery = Delivery(
            slack, installed, place, thread, incoming.id, since=thread or "0", resumed=incoming.starts > 1,
            answer=False,
        )  # fmt: skip
        await delivery.open()
        if delivery.done:
            return
        if not delivery.posted:
            await _show(delivery, SlackMessage(text="Fetching…", blocks=[]), final=False)
        try:
            items = await add(installed, actor)
        except Refused as error:
            await delivery.finish(render(Reply(turn_id=incoming.id, kind="notice", text=str(error))))
            return
        except Exception:
            log.exception("slack_upload_failed")
            if incoming.starts < 3:
                raise
            apology = Reply(turn_id=incoming.id, kind="apology", text=_AGAIN, reference=incoming.id)
            await delivery.finish(render(apology))
            return
        await _follow(slack, actor, delivery, items)
    except NoPlace as error:
        log.warning("slack_no_place", code=error.code)


async def _follow(slack: Slack, actor: Actor, delivery: Delivery, items: Sequence[ProgressItem]) -> None:
    """Edit the message as documents move on. Those that were refused at once have nothing to watch."""
    known = {item.version_id: item for item in items}
    waiting = [item.version_id for item in items if not item.finished]
    if waiting:
        last = 0.0
        async for progress in slack.bot.documents.watch(actor, waiting):
            known |= {item.version_id: item for item in progress.items}
            now = asyncio.get_running_loop().time()
            if now - last >= EVERY:
                last = now
                await _show(delivery, message_of(Progress(items=tuple(known.values()))), final=False)
    await delivery.finish([message_of(Progress(items=tuple(known.values())), heading=_heading(known))])


def _heading(known: dict[str, ProgressItem]) -> str:
    done = any(item.stage == "done" for item in known.values())
    return "Added to the knowledge base" if done else "Not added"


async def _show(delivery: Delivery, message: SlackMessage, *, final: bool) -> None:
    """On the way: what can't be shown now is shown later."""
    try:
        await delivery.put(0, message, final=final, tries=1)
    except (Unclear, SlackApiError) as error:
        log.info("slack_progress_not_shown", error=str(error)[:80])
