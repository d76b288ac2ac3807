"""Small pieces of Block Kit. Text goes in as plain text, cut to what Slack takes: it orders nothing."""

from __future__ import annotations

from typing import Any

from adapters.short import cut16
from adapters.slack import limits
from adapters.slack.render import SlackMessage, plain_text, quiet

Json = dict[str, Any]


def plain(text: str, most: int) -> dict[str, Any]:
    """A text object with at most `most` characters, and never empty."""
    return plain_text(cut16(quiet(text), most) or "…")


def escape(text: str) -> str:
    """Text of ours, where Slack reads its own markup."""
    return quiet(text).replace("&", "&amp;").replace("<", "&lt;").replace(">", "&gt;")


def one_line(text: str, most: int) -> str:
    """Words that order nothing, on one line."""
    return cut16(quiet(" ".join(text.split())), most)


def section(text: str) -> Json:
    return {"type": "section", "text": plain(text, limits.SECTION_TEXT)}


def quiet_line(text: str) -> Json:
    """Small and grey."""
    return {"type": "context", "elements": [plain(text, limits.CONTEXT_TEXT)]}


def sentence(text: str) -> SlackMessage:
    """A message of some words, without markup."""
    short = cut16(text, limits.SECTION_TEXT)
    return SlackMessage(text=cut16(escape(short), limits.TEXT), blocks=[section(short)])


def notice_view(title: str, text: str) -> dict[str, Any]:
    """A modal that only says something."""
    return {
        "type": "modal",
        "title": plain(title, limits.VIEW_TITLE),
        "close": plain_text("Close"),
        "blocks": [section(text)],
    }
