"""Small pieces of Block Kit, cut to what Slack takes. Text goes in as plain text: it orders nothing."""

from __future__ import annotations

from typing import Any

from adapters.markdown import cut
from adapters.slack import limits

Json = dict[str, Any]


def plain(text: str, limit: int = limits.SECTION_TEXT) -> Json:
    """Never empty: Slack refuses that."""
    return {"type": "plain_text", "text": cut(text, limit) or "\u00a0", "emoji": False}


def section(text: str, accessory: Json | None = None) -> Json:
    made: Json = {"type": "section", "text": plain(text)}
    if accessory is not None:
        made["accessory"] = accessory
    return made


def header(text: str) -> Json:
    return {"type": "header", "text": plain(text, limits.HEADER_TEXT)}


def quiet(text: str) -> Json:
    """A small grey line."""
    return {"type": "context", "elements": [plain(text, limits.CONTEXT_TEXT)]}


def button(text: str, action_id: str, value: str = "", **more: Any) -> Json:
    made: Json = {"type": "button", "action_id": action_id, "text": plain(text, limits.BUTTON_TEXT), **more}
    if value:
        made["value"] = value
    return made


def actions(*elements: Json) -> Json:
    return {"type": "actions", "elements": list(elements)}


def confirm(title: str, text: str, yes: str) -> Json:
    """Asks once more before a button does what it does."""
    return {
        "title": plain(title, limits.CONFIRM_TITLE),
        "text": plain(text, limits.CONFIRM_TEXT),
        "confirm": plain(yes, limits.CONFIRM_BUTTON),
        "deny": plain("Cancel", limits.CONFIRM_BUTTON),
    }


def bold(text: str) -> Json:
    return {"type": "text", "text": text, "style": {"bold": True}}


def word(text: str) -> Json:
    return {"type": "text", "text": text}


def rich(*elements: Json) -> Json:
    """A paragraph whose parts have styles or links."""
    return {"type": "rich_text", "elements": [{"type": "rich_text_section", "elements": list(elements)}]}


def modal(title: str, blocks: list[Json], **more: Any) -> Json:
    return {
        "type": "modal",
        "title": plain(title, limits.MODAL_TITLE),
        "close": plain("Close", limits.MODAL_TITLE),
        "blocks": blocks[: limits.VIEW_BLOCKS],
        **more,
    }
