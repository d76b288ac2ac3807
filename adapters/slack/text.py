"""Slack's own markup as text that people and models read."""

from __future__ import annotations

import re
from collections.abc import Awaitable, Callable, Sequence
from typing import Any, Final, cast

#: `<@U1>`, `<#C1|name>`, `<!subteam^S1|@grp>`, `<!date^…|words>`, `<https://…|label>`.
_MARK: Final = re.compile(r"<([@#!]?)([^<>|]*)(?:\|([^<>]*))?>")
_SPACES: Final = re.compile(r"[ \t]{2,}")
_SCHEMES: Final = ("http://", "https://")

NameOf = Callable[[str], Awaitable[str]]


def unescape(text: str) -> str:
    """Of the three characters that Slack writes as entities."""
    return text.replace("&lt;", "<").replace("&gt;", ">").replace("&amp;", "&")


async def readable(text: str, *, bot_user: str, name_of: NameOf, channel_name_of: NameOf) -> str:
    """Without the bot's own mentions; other mentions, channels and links by their names."""
    parts: list[str] = []
    end = 0
    for match in _MARK.finditer(text):
        parts.append(unescape(text[end : match.start()]))
        end = match.end()
        sign, target, label = match[1], match[2], match[3]
        if sign == "@":
            if target != bot_user:
                parts.append(f"@{unescape(label or '').lstrip('@') or await name_of(target) or 'somebody'}")
        elif sign == "#":
            parts.append(f"#{unescape(label or '') or await channel_name_of(target) or 'a-channel'}")
        elif sign == "!":
            parts.append(_special(target, label))
        else:
            parts.append(_link(target, label))
    parts.append(unescape(text[end:]))
    lines = (_SPACES.sub(" ", line).strip() for line in "".join(parts).split("\n"))
    return "\n".join(lines).strip()


def _special(target: str, label: str | None) -> str:
    """`<!here>`, groups and dates."""
    if label:
        return unescape(label)
    name = target.split("^")[0]
    return f"@{name}" if name in ("here", "channel", "everyone") else ""


def _link(target: str, label: str | None) -> str:
    url, words = unescape(target), unescape(label or "")
    if url.startswith("mailto:"):
        return words or url.removeprefix("mailto:")
    if not words or words == url or not url.startswith(_SCHEMES) or url.removeprefix("https://") == words:
        return words or url
    return f"{words} ({url})"


def text_in(text: str, blocks: Sequence[dict[str, Any]], attachments: Sequence[dict[str, Any]]) -> str:
    """A message's words, in Slack's markup: `text`, or what stands elsewhere where that is empty; then
    what was forwarded with it."""
    words = text if text.strip() else "\n".join(filter(None, map(_block_text, blocks)))
    shared = [
        str(attachment.get("text") or attachment.get("fallback") or "")
        for attachment in attachments
        if attachment.get("is_msg_unfurl") or attachment.get("is_share") or not words.strip()
    ]
    return "\n\n".join(part for part in (words, *shared) if part.strip())


def _block_text(block: dict[str, Any]) -> str:
    if block.get("type") == "rich_text":
        return "".join(_rich(element) for element in cast("list[Any]", block.get("elements") or []))
    found: Any = block.get("text")
    if isinstance(found, dict):
        found = cast("dict[str, Any]", found).get("text")
    return found if isinstance(found, str) else ""


def _rich(element: Any) -> str:
    if not isinstance(element, dict):
        return ""
    part = cast("dict[str, Any]", element)
    match part.get("type"):
        case "text":
            return str(part.get("text") or "")
        case "user":
            return f"<@{part.get('user_id')}>"
        case "channel":
            return f"<#{part.get('channel_id')}>"
        case "link":
            return f"<{part.get('url')}|{part.get('text') or ''}>"
        case "emoji":
            return f":{part.get('name')}:"
        case "rich_text_list":
            items = cast("list[Any]", part.get("elements") or [])
            return "".join(f"- {_rich(item)}\n" for item in items)
        case _:
            inner = "".join(map(_rich, cast("list[Any]", part.get("elements") or [])))
            return inner if inner.endswith("\n") or not inner else f"{inner}\n"
