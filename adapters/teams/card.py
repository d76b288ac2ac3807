"""Small pieces of Adaptive Cards 1.5. Words go in as text runs, in which Teams reads no markup. Pure."""

from __future__ import annotations

import json
import re
from collections.abc import Sequence
from typing import Any, Final, Literal

from adapters.markdown import JOINER
from adapters.short import cut16
from adapters.teams import limits

Json = dict[str, Any]

CARD: Final = "application/vnd.microsoft.card.adaptive"
_VERSION: Final = "1.5"
#: Begins a mention.
_AT: Final = re.compile(r"<(?=/?at\b)", re.IGNORECASE)
_CONTROL: Final = re.compile(r"[\x00-\x08\x0b\x0c\x0e-\x1f\x7f]")
_MORE: Final = "There is more than Teams can show."
_EMPTY: Final = "There is nothing to show."

Look = Literal["plain", "bold", "heading", "quiet", "alert"]
_LOOKS: Final[dict[Look, Json]] = {
    "plain": {},
    "bold": {"weight": "Bolder"},
    "heading": {"weight": "Bolder", "size": "Medium"},
    "quiet": {"isSubtle": True, "size": "Small"},
    "alert": {"color": "Attention", "weight": "Bolder"},
}


def size(value: object) -> int:
    """Bytes in UTF-16."""
    return len(json.dumps(value, ensure_ascii=False).encode("utf-16-le", "replace"))


def safe(text: str, most: int) -> str:
    """Words that mention nobody: at most `most` UTF-16 code units, and never half a character."""
    text = _CONTROL.sub("", text.encode("utf-8", "replace").decode()).strip()
    return cut16(_AT.sub(f"<{JOINER}", text), most)


def one_line(text: str, most: int) -> str:
    return safe(" ".join(text.split()), most)


def run(text: str, look: Look = "plain", *, url: str | None = None) -> Json:
    """A piece of a line; with `url` (https) it opens that."""
    piece: Json = {"type": "TextRun", "text": text, **_LOOKS[look]}
    return piece if url is None else {**piece, "selectAction": open_url("Open", url)}


def line(*runs: Json) -> Json:
    """Text of several pieces."""
    return {"type": "RichTextBlock", "inlines": list(runs)}


def words(text: str, look: Look = "plain", *, most: int = limits.TEXT_BLOCK) -> Json:
    """Text as it reads; an empty one is a dash."""
    return line(run(safe(text, most) or "–", look))


def heading(text: str) -> Json:
    return words(text, "heading", most=300)


def quiet(text: str) -> Json:
    """Small and grey."""
    return words(text, "quiet")


def alert(text: str) -> Json:
    """What went wrong."""
    return words(text, "alert")


def submit(title: str, kind: str, **data: Any) -> Json:
    """Comes back as a message of the person, whose `value` is `data` with the kind."""
    return {"type": "Action.Submit", "title": _title(title), "data": {"kind": kind, **data}}


def opens(title: str, kind: str, **data: Any) -> Json:
    """Opens a dialog: Teams asks for it with `task/fetch`, whose data holds the kind."""
    return submit(title, kind, msteams={"type": "task/fetch"}, **data)


def asks(question: str) -> Json:
    """Says the question in the person's name; in a chat with the bot alone."""
    back = {"type": "imBack", "value": safe(question, limits.TEXT_BLOCK) or "…"}
    return {"type": "Action.Submit", "title": _title(question), "data": {"msteams": back}}


def open_url(title: str, url: str) -> Json:
    return {"type": "Action.OpenUrl", "title": _title(title), "url": url}


def is_https(url: str | None) -> bool:
    """What Teams opens."""
    return (
        url is not None and len(url) <= limits.URL and re.fullmatch(r"https://[^\s<>|]+", url) is not None
    )


def actions(buttons: Sequence[Json]) -> list[Json]:
    """As many sets as needed."""
    return [
        {"type": "ActionSet", "actions": list(buttons[start : start + limits.ACTIONS])}
        for start in range(0, len(buttons), limits.ACTIONS)
    ]


def beside(block: Json, button: Json) -> Json:
    """A line with a button at its end."""
    return {
        "type": "ColumnSet",
        "columns": [
            {"type": "Column", "width": "stretch", "items": [block], "verticalContentAlignment": "Center"},
            {"type": "Column", "width": "auto", "items": actions([button])},
        ],
    }


def table(rows: Sequence[Sequence[Json]], align: Sequence[str]) -> Json:
    """Of blocks by row and column; the first row is the head. `align` is left, center or right."""
    return {
        "type": "Table",
        "columns": [{"width": 1, "horizontalCellContentAlignment": side.title()} for side in align],
        "rows": [
            {"type": "TableRow", "cells": [{"type": "TableCell", "items": [cell]} for cell in row]}
            for row in rows
        ],
    }


def whole(body: Sequence[Json], *, most: int = limits.CARD_BYTES) -> Json:
    """The card. What is beyond `most` bytes is left out from the end, which the card then says."""
    made: Json = {
        "type": "AdaptiveCard",
        "$schema": "http://adaptivecards.io/schemas/adaptive-card.json",
        "version": _VERSION,
        "msteams": {"width": "Full"},
        "body": [],
    }
    room = most - size(made) - size(quiet(_MORE))
    blocks: list[Json] = made["body"]
    for block in body:
        room -= size(block) + 4
        if room < 0:
            blocks.append(quiet(_MORE))
            break
        blocks.append(block)
    if not blocks:
        blocks.append(quiet(_EMPTY))
    return made


def attachment(card: Json) -> Json:
    return {"contentType": CARD, "content": card}


def message(card: Json, summary: str) -> Json:
    """An activity that is a card; `summary` is what a notification says."""
    return {"type": "message", "summary": one_line(summary, 200), "attachments": [attachment(card)]}


def _title(text: str) -> str:
    return one_line(text, limits.BUTTON) or "…"
