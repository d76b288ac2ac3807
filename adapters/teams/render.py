"""A reply as a Teams activity. Pure: plain dicts, without a Bot Framework type."""

from __future__ import annotations

import json
import re
from pathlib import PurePath
from typing import Any

from adapters.blocks import Table, to_blocks
from adapters.conversation import SLIDES, Citation, Reply
from adapters.markdown import JOINER, Dialect, cut, to_plain
from adapters.teams import limits

CARD = "application/vnd.microsoft.card.adaptive"
#: Mentions, in code too.
_ACTIVE = re.compile(r"<(?=/?at\b)", re.IGNORECASE)
#: Teams reads some HTML in Markdown.
_HTML = re.compile(r"<(?=[a-z/!?])", re.IGNORECASE)
#: Characters of a block, and bytes that the rest of the activity may take.
_BLOCK = 8_000
_REST_BYTES = 22_000
_GOES_ON = "This answer is longer than Teams can show. Ask for less at a time to see the rest."
_ICONS = {
    ".pdf": "PDF", ".docx": "Microsoft Word", ".doc": "Microsoft Word", ".xlsx": "Microsoft Excel",
    ".xls": "Microsoft Excel", ".png": "Image", ".jpg": "Image", ".jpeg": "Image",
    **dict.fromkeys(SLIDES, "Microsoft PowerPoint"),
    **dict.fromkeys((".py", ".js", ".ts", ".java", ".go", ".rs", ".c", ".cpp", ".sh"), "Source Code"),
}  # fmt: skip
_PLAIN = Dialect(active=_ACTIVE)


def render(reply: Reply) -> dict[str, Any]:
    """The activity: text with its marks as numbers, tables on a card, a claim for each source.

    Sources after the tenth stand in the text, since Teams takes no more claims. A reply that is larger
    than an activity may be ends with a sentence that says so.
    """
    dialect = Dialect(
        active=_ACTIVE,
        active_text=_HTML,
        bracket=f"[{JOINER}",  # Teams would take "[1]" for a mark
        marks={citation.label: f"[{citation.number}]" for citation in reply.citations},
    )
    text, tables = _body(reply, dialect)
    activity: dict[str, Any] = {
        "type": "message",
        "textFormat": "markdown",
        "text": text,
        "entities": [_message(reply)],
        "channelData": {"feedbackLoop": {"type": "default"}},
    }
    if reply.kind in ("notice", "apology"):
        del activity["channelData"]
    if tables:
        activity["attachments"] = [{"contentType": CARD, "content": _card(tables)}]
    return activity


def size(value: object) -> int:
    """Bytes in UTF-16."""
    return len(json.dumps(value, ensure_ascii=False).encode("utf-16-le", "replace"))


def _body(reply: Reply, dialect: Dialect) -> tuple[str, list[Table]]:
    parts: list[str] = []
    tables: list[Table] = []
    room = limits.ACTIVITY_BYTES - _REST_BYTES
    for block in to_blocks(reply.text, dialect, limit=_BLOCK):
        room -= size(_card([block.table]) if block.table else block.text) + 8
        if room < 0:
            parts.append(_GOES_ON)
            break
        if block.table:
            tables.append(block.table)
        else:
            parts.append(block.text)
    if tables:
        parts.append(_of_tables(reply, parts))
    for line in (*_more_sources(reply), *_notes(reply)):
        room -= size(line) + 8
        if room >= -_REST_BYTES // 2:
            parts.append(line)
    return "\n\n".join(parts) or "There is no text in this answer.", tables


def _of_tables(reply: Reply, parts: list[str]) -> str:
    """Leads to the card; with the marks that stand only there, which Teams would show nowhere."""
    shown = "\n".join(parts)
    marks = [f"[{c.number}]" for c in reply.citations[: limits.CITATIONS] if f"[{c.number}]" not in shown]
    return " ".join(["See the table below.", *marks])


def _more_sources(reply: Reply) -> list[str]:
    lines: list[str] = []
    for citation in reply.citations[limits.CITATIONS :]:
        title, place = _escaped(cut(citation.title, 200)), _escaped(cut(citation.place(), 200))
        url = _url(citation)
        linked = f"[{title}]({_PLAIN.link(url)})" if url and title else title
        lines.append(f"{citation.number}\\. {linked}{f', {place}' if place else ''}")
    return lines


def _notes(reply: Reply) -> list[str]:
    notes = [*reply.notes, *([f"Reference: {reply.reference}"] if reply.reference else [])]
    return [_escaped(note) for note in notes if note.strip()]


def _escaped(text: str) -> str:
    """Plain text as Markdown."""
    line = re.sub(r"([\\`*_\[\]#~|])", r"\\\1", " ".join(text.split()))
    return _ACTIVE.sub(f"<{JOINER}", _HTML.sub(f"<{JOINER}", line))


def _message(reply: Reply) -> dict[str, Any]:
    message: dict[str, Any] = {
        "type": "https://schema.org/Message",
        "@type": "Message",
        "@context": "https://schema.org",
        "@id": "",
        "additionalType": ["AIGeneratedContent"],
    }
    if reply.citations:
        message["citation"] = [_claim(citation) for citation in reply.citations[: limits.CITATIONS]]
    return message


def _url(citation: Citation) -> str | None:
    """Teams opens https only."""
    for url in (citation.url, citation.source_url):
        if url and re.fullmatch(r"https://[^\s<>|]+", url) and len(url) <= limits.URL:
            return url
    return None


def _claim(citation: Citation) -> dict[str, Any]:
    title = ", ".join(filter(None, (citation.title.strip() or citation.name, citation.place())))
    quote = " ".join(to_plain(citation.quote, _PLAIN).split())
    document: dict[str, Any] = {
        "@type": "DigitalDocument",
        "name": cut(title, limits.CITATION_NAME) or "Untitled",
        "abstract": cut(quote, limits.CITATION_ABSTRACT)
        or cut(title, limits.CITATION_ABSTRACT)
        or "Untitled",
        "image": {
            "@type": "ImageObject",
            "name": _ICONS.get(PurePath(citation.name).suffix.lower(), "Text"),
        },
    }
    if (url := _url(citation)) is not None:
        document["url"] = url
    return {"@type": "Claim", "position": citation.number, "appearance": document}


def _card(tables: list[Table]) -> dict[str, Any]:
    return {
        "type": "AdaptiveCard",
        "$schema": "http://adaptivecards.io/schemas/adaptive-card.json",
        "version": "1.5",
        "msteams": {"width": "Full"},
        "body": [_table(table) for table in tables],
    }


def _table(table: Table) -> dict[str, Any]:
    """Its first row is its head, which is what cards assume."""
    return {
        "type": "Table",
        "columns": [{"width": 1, "horizontalCellContentAlignment": side.title()} for side in table.align],
        "rows": [
            {
                "type": "TableRow",
                "cells": [{"type": "TableCell", "items": [_cell(cell, head=number == 0)]} for cell in row],
            }
            for number, row in enumerate(table.rows)
        ],
    }


def _cell(text: str, *, head: bool) -> dict[str, Any]:
    block: dict[str, Any] = {"type": "TextBlock", "text": text or "\u00a0", "wrap": True}
    return {**block, "weight": "Bolder"} if head else block
