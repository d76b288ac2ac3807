"""`/kb`: answers only the person who typed it."""

from __future__ import annotations

import re
from typing import Any, Final

import structlog
from slack_bolt.async_app import AsyncAck, AsyncApp

from adapters.durable import Incoming
from adapters.kb import HELP, Command, read_command
from adapters.listing import find
from adapters.ports import Actor, DocumentView, Refused
from adapters.short import cut16
from adapters.slack import work
from adapters.slack.context import Slack
from adapters.slack.home import publish_home
from adapters.slack.kit import sentence
from adapters.slack.listing import (
    CANCEL,
    DELETE,
    LIST_PAGE,
    choose_message,
    confirm_message,
    hits_message,
    list_message,
    status_message,
)
from adapters.slack.message import readable_text
from adapters.slack.render import SlackMessage
from adapters.slack.settings_modal import open_settings
from adapters.slack.surface import Act, acknowledging, ending
from adapters.slack.upload_modal import open_upload

log = structlog.get_logger()

COMMAND: Final = "/kb"
_PAGES: Final = re.compile(rf"{LIST_PAGE}:\d+")
#: Passages that `/kb search` shows.
_HITS: Final = 5
_LONGEST: Final = 4_000
#: Characters of what was typed that are shown again.
_SHOWN: Final = 500
_ELSE: Final = (
    "Or mention me in a channel, or write to me directly. To add larger files, share them with me in a "
    "direct message."
)


def ask_work(act: Act, text: str) -> Incoming:
    """A question whose answer only the asker sees. Each command is a question of its own."""
    return work.incoming(
        work.ASK,
        f"{act.team}:{act.user}:{act.trigger}",
        lane=f"{act.team}:{act.channel}:{act.user}",
        payload={
            **act.place(act.channel),
            "thread": None,
            "text": text[:_LONGEST],
            "private": True,
            "response_url": act.response_url,
        },
    )


def help_message(text: str = "") -> SlackMessage:
    """What there is, under what went wrong."""
    markup = _help()
    block = {"type": "section", "text": {"type": "mrkdwn", "text": markup}}
    words = markup.replace("*", "").replace("`", "")
    if not text:
        return SlackMessage(text=words, blocks=[block])
    first = sentence(text)
    return SlackMessage(text=f"{first['text']}\n{words}", blocks=[*first["blocks"], block])


def _help() -> str:
    """In Slack's markup."""
    lines = [f"• `/kb {one.verb}`{f' {one.argument}' if one.argument else ''}: {one.what}" for one in HELP]
    return "\n".join(["*What I can do*", *lines, _ELSE])


def unknown(command: Command, typed: str) -> SlackMessage:
    word = cut16(typed.split()[0], 40)
    if command.guess is None:
        return help_message(f"I don't know “{word}”.")
    meant = cut16(f"/kb {command.guess} {command.rest}".strip(), _SHOWN)
    return help_message(f"I don't know “{word}”. Did you mean: {meant}")


def _to_delete(documents: list[DocumentView], wanted: str) -> SlackMessage:
    if not wanted:
        return sentence("Say which one: /kb delete and its name, or its number in /kb list.")
    found = find(documents, wanted)
    mine = [document for document in found if document.editable]
    if not found:
        return sentence(f"There is no document “{cut16(wanted, 100)}”. /kb list shows all.")
    if not mine:
        return sentence("Only the one who added it and admins can delete it.")
    return confirm_message(mine[0]) if len(mine) == 1 else choose_message(mine)


async def _run(slack: Slack, act: Act, command: Command) -> SlackMessage | None:
    """What is answered at once; None where a modal opens, or an answer comes later."""
    if command.verb == "upload":
        await open_upload(slack, act)
        return None
    if command.verb == "settings":
        await open_settings(slack, act)
        return None
    actor = await act.actor(slack)
    documents = slack.bot.documents
    match command.verb:
        case "list":
            page = int(command.rest) if command.rest.isdecimal() and len(command.rest) < 6 else 1
            return list_message(await documents.list(actor), page)
        case "status":
            return status_message(await documents.list(actor))
        case "delete":
            return _to_delete(await documents.list(actor), await _readable(slack, act, command.rest))
        case "search":
            return await _search(slack, act, actor, command.rest)
        case "unknown":
            return unknown(command, act.value)
        case _:
            return help_message()


async def _readable(slack: Slack, act: Act, text: str) -> str:
    return await readable_text(slack, await act.installed(slack), text)


async def _search(slack: Slack, act: Act, actor: Actor, rest: str) -> SlackMessage:
    words = await _readable(slack, act, rest)
    if not words:
        raise Refused("Type what to search for: /kb search and some words.")
    return hits_message(words, await slack.bot.documents.search(actor, words, limit=_HITS))


def register(app: AsyncApp, slack: Slack) -> None:
    @app.command(COMMAND)
    async def kb(ack: AsyncAck, body: dict[str, Any]) -> None:  # pyright: ignore[reportUnusedFunction]
        act = Act.of(body)
        command = read_command(act.value)
        async with acknowledging(ack, lambda text: act.tell(slack, text), f"kb_{command.verb}"):
            if command.verb == "ask" and command.rest:
                await slack.bot.inbox.accept(ask_work(act, command.rest))
                return
            await ack()
            if command.verb == "ask":
                raise Refused("Type your question after it: /kb ask How often do keys change?")
            if (message := await _run(slack, act, command)) is not None:
                await act.tell(slack, message)

    @app.action(DELETE)
    async def delete(ack: AsyncAck, body: dict[str, Any]) -> None:  # pyright: ignore[reportUnusedFunction]
        await ack()
        act = Act.of(body)
        async with ending(lambda text: act.tell(slack, text), "kb_delete"):
            actor = await act.actor(slack)
            document = await slack.bot.documents.get(actor, act.value)
            await slack.bot.documents.delete(actor, act.value)
            if act.channel is None:
                await publish_home(slack, await act.installed(slack), act.user)
            else:
                await act.tell(slack, f"“{cut16(document.name, 200)}” is deleted.", replace=True)

    @app.action(CANCEL)
    async def keep(ack: AsyncAck, body: dict[str, Any]) -> None:  # pyright: ignore[reportUnusedFunction]
        await ack()
        act = Act.of(body)
        async with ending(lambda text: act.tell(slack, text), "kb_keep"):
            await act.tell(slack, "Nothing was deleted.", replace=True)

    @app.action(_PAGES)
    async def turn(ack: AsyncAck, body: dict[str, Any]) -> None:  # pyright: ignore[reportUnusedFunction]
        await ack()
        act = Act.of(body)
        async with ending(lambda text: act.tell(slack, text), "kb_page"):
            documents = await slack.bot.documents.list(await act.actor(slack))
            await act.tell(slack, list_message(documents, int(act.value)), replace=True)
