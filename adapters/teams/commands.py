"""Typed commands: plain words in a chat with the bot alone, `kb …` where others read along.

What a person may see is nobody else's business, so where others read along a card opens it in a dialog.
"""

from __future__ import annotations

import re
from typing import Any, Final

from adapters.kb import Command, Verb, read_command
from adapters.listing import find
from adapters.ports import Actor, Refused
from adapters.teams.activity import Said
from adapters.teams.card import Json, actions, message, one_line, opens, quiet, whole, words
from adapters.teams.context import Teams
from adapters.teams.listing import (
    DELETE,
    DELETE_NOW,
    KEEP,
    LIST_PAGE,
    choose_card,
    confirm_card,
    hits_card,
    list_card,
    status_card,
)
from adapters.teams.settings_dialog import SETTINGS
from adapters.teams.upload_dialog import offer
from adapters.teams.welcome import help_card

#: Kind of the dialog that shows what a command says; its data holds `verb` and `rest`.
SHOW: Final = "show"
#: `/list`, `kb list`, `/kb list`: what follows is a command, or a question.
_PREFIX: Final = re.compile(r"\s*(?:/?\s*kb(?=[\s:,]|$)|/)[\s:,]*", re.IGNORECASE)
#: Verbs that take words, and how many there are at most without "kb" or "/".
_WITH_WORDS: Final[frozenset[Verb]] = frozenset({"search", "delete"})
_WORDS: Final = 8
#: Said with files, it asks for these to be added.
_ADD: Final = re.compile(r"(?:please\s+)?(?:add|upload|save|index|learn)\b", re.IGNORECASE)
_ASKS: Final = ("?", "？", "؟")
#: Passages that a search shows.
_HITS: Final = 5
_TITLES: Final[dict[Verb, str]] = {
    "list": "Documents", "status": "Documents on their way", "search": "Search", "delete": "Delete",
}  # fmt: skip
_OPEN: Final[dict[Verb, str]] = {
    "list": "Show the documents", "status": "Show what is on its way", "search": "Show the passages",
    "delete": "Choose what to delete",
}  # fmt: skip


def command_of(said: Said) -> Command | None:
    """The command; None for a question. A real question is never taken for one.

    Files without a word are to be added, in a chat with the bot alone.
    """
    text, direct = said.text.strip(), said.reference.direct
    files, asks = bool(said.files) and direct, text.endswith(_ASKS)
    if not text:
        return Command("upload") if files else None
    prefix = _PREFIX.match(text)
    command = read_command(text[prefix.end() :] if prefix is not None else text)
    count = len(text.split())
    if prefix is not None:
        # "kb settings of the printer?" and "kb list all holidays" are questions.
        most = _WORDS if command.verb in (*_WITH_WORDS, "unknown") else 1
        asks = asks and command.verb != "search"
        return None if command.verb == "ask" or asks or len(command.rest.split()) > most else command
    if files and not asks and count <= _WORDS and _ADD.match(text):
        return Command("upload")
    if count == 1 and command.verb not in ("ask", "unknown"):
        return command
    said_to = command.verb in _WITH_WORDS or (command.verb == "list" and command.rest.isdecimal())
    return command if said_to and direct and not asks and count <= _WORDS else None


def question_of(text: str) -> str:
    """The question without what says that it is one: `kb ask …`."""
    prefix = _PREFIX.match(text)
    command = read_command(text[prefix.end() :]) if prefix is not None else None
    return command.rest if command is not None and command.verb == "ask" and command.rest else text


async def run_command(teams: Teams, said: Said) -> list[Json]:
    """What is said to it. Raises `Refused`."""
    command = command_of(said)
    if command is None or command.verb == "help":
        return [message(help_card(direct=said.reference.direct), "What I can do")]
    actor = await teams.actor(said.reference, said.who.user, aad=said.who.aad, name=said.who.name)
    match command.verb:
        case "upload":
            return [await offer(teams, said, actor)]
        case "settings":
            await teams.bot.settings.form(actor)  # whether they may
            card = whole([words("The settings of this workspace:"), *_button("Open settings", SETTINGS)])
            return [message(card, "Settings")]
        case "unknown":
            return [message(_unknown(said, command), "I don't know that")]
        case _ if said.reference.direct:
            card = await show(teams, actor, command)
            return [message(card, _TITLES[command.verb])]
        case _:
            needed = _lacking(command)
            if needed is not None:
                raise Refused(needed)
            data = {"verb": command.verb, "rest": command.rest}
            body = [*_button(_OPEN[command.verb], SHOW, **data), quiet("Only you see what opens.")]
            return [message(whole(body), _TITLES[command.verb])]


async def show(teams: Teams, actor: Actor, command: Command) -> Json:
    """The card of `list`, `status`, `search` or `delete`. Raises `Refused`."""
    documents = teams.bot.documents
    if (needed := _lacking(command)) is not None:
        raise Refused(needed)
    match command.verb:
        case "status":
            return status_card(await documents.list(actor))
        case "search":
            return hits_card(command.rest, await documents.search(actor, command.rest, limit=_HITS))
        case "delete":
            found = find(await documents.list(actor), command.rest)
            mine = [document for document in found if document.editable]
            if not found:
                raise Refused(f"There is no document “{one_line(command.rest, 100)}”. “list” shows all.")
            if not mine:
                raise Refused("Only the one who added it and admins can delete it.")
            return confirm_card(mine[0]) if len(mine) == 1 else choose_card(mine)
        case _:
            return list_card(await documents.list(actor), _page(command.rest))


def title_of(verb: Verb) -> str:
    return _TITLES.get(verb, "Documents")


async def run_click(teams: Teams, said: Said) -> tuple[list[Json], Json | None]:
    """What a click on a card does: messages, and what the card becomes. Raises `Refused`."""
    value = said.value or {}
    actor = await teams.actor(said.reference, said.who.user, aad=said.who.aad, name=said.who.name)
    card, title, stays = await clicked(teams, actor, value)
    if said.reply_to is None or stays:
        return [message(card, title)], None
    return [], message(card, title)


async def clicked(teams: Teams, actor: Actor, data: Json) -> tuple[Json, str, bool]:
    """The card that a click leads to, its title, and whether the one that was clicked stays.

    Raises `Refused` for what the person may not do, and for a click on nothing that is known.
    """
    documents, kind = teams.bot.documents, data.get("kind")
    named = str(data.get("document") or "")
    if kind == LIST_PAGE:
        return list_card(await documents.list(actor), _page(data.get("page"))), title_of("list"), False
    if kind == DELETE:
        document = await documents.get(actor, named)
        if not document.editable:
            raise Refused("Only the one who added it and admins can delete it.")
        return confirm_card(document), title_of("delete"), True
    if kind == DELETE_NOW:
        document = await documents.get(actor, named)
        await documents.delete(actor, named)
        gone = f"“{one_line(document.name, 200)}” is deleted."
        return whole([words(gone)]), title_of("delete"), False
    if kind == KEEP:
        return whole([words("Nothing was deleted.")]), title_of("delete"), False
    raise Refused("That button does nothing any more.")


def _lacking(command: Command) -> str | None:
    if command.rest or command.verb not in _WITH_WORDS:
        return None
    if command.verb == "search":
        return "Type what to search for: search and some words."
    return "Say which one: delete and its name, or its number in the list."


def _page(value: Any) -> int:
    text = str(value)
    return int(text) if text.isascii() and text.isdecimal() and len(text) < 6 else 1


def _unknown(said: Said, command: Command) -> Json:
    prefix = _PREFIX.match(said.text)
    typed = said.text[prefix.end() :] if prefix is not None else said.text
    text = f"I don't know “{one_line(typed.split()[0], 40)}”."
    if command.guess is not None:
        text += f" Did you mean: {one_line(f'{command.guess} {command.rest}', 200)}"
    return help_card(direct=said.reference.direct, line=text)


def _button(title: str, kind: str, **data: Any) -> list[Json]:
    return actions([opens(title, kind, **data)])
