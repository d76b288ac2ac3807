"""Slack's own markup as text that people and models read."""

from __future__ import annotations

import re
from collections.abc import Awaitable, Callable, Sequence
from typing import Any, Final, cast

#: `<@U1>`, `<#C1|name>`, `<!subteam^S1|@grp>`, `<!date^…|words>`, `<https://…|label>`.
_MARK: Final = re.compile(r"<([@#!]?)([^<>|]*)(?:\|([^<>]*))?>")
_MENTION: Final = re.compile(r"<@([A-Z0-9]+)(?:\|[^<>]*)?>")
#: What stands between the bot's name and the question: "<@bot>, how …".
_AFTER_NAME: Final = re.compile(r"\s*[,:]?\s*")
_SCHEME: Final = re.compile(r"[a-z][a-z0-9+.-]*:(//)?", re.IGNORECASE)
#: Lists within lists are as deep as that at Slack; what is deeper was made by no person.
_DEEPEST: Final = 12

NameOf = Callable[[str], Awaitable[str]]


def unescape(text: str) -> str:
    """Of the three characters that Slack writes as entities."""
    return text.replace("&lt;", "<").replace("&gt;", ">").replace("&amp;", "&")


def escape(text: str) -> str:
    """As Slack writes what a person typed, so that none of it is markup."""
    return text.replace("&", "&amp;").replace("<", "&lt;").replace(">", "&gt;")


def mentions(text: str) -> set[str]:
    """Ids of the people and bots that a message names."""
    return set(_MENTION.findall(text))


def addresses(text: str, bot_user: str) -> bool:
    """Whether the bot is named, anywhere in it."""
    return bot_user in mentions(text)


async def readable(text: str, *, bot_user: str, name_of: NameOf, channel_name_of: NameOf) -> str:
    """Without the bot's own mentions; other mentions, channels and links by their names. Indentation and
    line breaks stay."""
    found = ""
    end = 0
    named = False
    for match in _MARK.finditer(text):
        found += _following(found, unescape(text[end : match.start()]), named)
        end = match.end()
        sign, target, label = match[1], match[2], match[3]
        named = sign == "@" and target == bot_user
        if named:
            continue
        if sign == "@":
            part = f"@{unescape(label or '').lstrip('@') or await name_of(target) or 'somebody'}"
        elif sign == "#":
            part = f"#{unescape(label or '') or await channel_name_of(target) or 'a-channel'}"
        elif sign == "!":
            part = _special(target, label)
        else:
            part = _link(target, label)
        found += part
    found += _following(found, unescape(text[end:]), named)
    return "\n".join(line.rstrip() for line in found.split("\n")).strip()


def _following(before: str, text: str, named: bool) -> str:
    """Text as it goes on; where the bot's name was, it leaves no gap."""
    if not named:
        return text
    if not before.strip():
        return text[cast("re.Match[str]", _AFTER_NAME.match(text)).end() :]
    return text.lstrip(" \t") if before[-1].isspace() else text


def _special(target: str, label: str | None) -> str:
    """`<!here>`, groups and dates."""
    if label:
        return unescape(label)
    name = target.split("^")[0]
    if name == "subteam":
        return "@a-group"
    return f"@{name}" if name in ("here", "channel", "everyone") else ""


def _link(target: str, label: str | None) -> str:
    """Words and address; one of them where the words are the address."""
    url, words = unescape(target), unescape(label or "")
    scheme = _SCHEME.match(url)
    bare = url[scheme.end() :] if scheme else url
    if not words or words in (url, bare):
        return words or (bare if scheme and not scheme[1] else url)
    return f"{words} ({bare if scheme and not scheme[1] else url})"


def text_in(text: str, blocks: Sequence[dict[str, Any]], attachments: Sequence[dict[str, Any]]) -> str:
    """A message's words, in Slack's markup: `text`, or what stands elsewhere where that is empty; then
    what was forwarded with it."""
    words = text if text.strip() else "\n".join(filter(None, map(_block_text, blocks)))
    shared = [
        _attached(attachment)
        for attachment in attachments
        if attachment.get("is_msg_unfurl") or attachment.get("is_share") or not words.strip()
    ]
    return "\n\n".join(part for part in (words, *shared) if part.strip())


def _attached(attachment: dict[str, Any]) -> str:
    """A forwarded message with its author, or what an older app has written."""
    body = _string(attachment, "text")
    if not body and isinstance(attachment.get("blocks"), list):
        blocks = cast("list[Any]", attachment["blocks"])
        body = "\n".join(
            _block_text(cast("dict[str, Any]", one)) for one in blocks if isinstance(one, dict)
        )
    parts = [_string(attachment, "pretext"), _string(attachment, "title"), body]
    for field in _items(attachment, "fields"):
        parts.append(": ".join(filter(None, (_string(field, "title"), _string(field, "value")))))
    words = "\n".join(part for part in parts if part.strip()) or _string(attachment, "fallback")
    author = _string(attachment, "author_name")
    return f"{author}: {words}" if author and words else words


def _block_text(block: dict[str, Any]) -> str:
    if block.get("type") == "rich_text":
        return "".join(_rich(element) for element in _items(block, "elements")).rstrip("\n")
    parts = [_composed(block.get("text")), *map(_composed, _items(block, "fields"))]
    if block.get("type") == "context":
        parts += map(_composed, _items(block, "elements"))
    return "\n".join(filter(None, parts))


def _composed(value: Any) -> str:
    """A text object, or a `markdown` block's own string."""
    if isinstance(value, str):
        return value
    if not isinstance(value, dict):
        return ""
    found = cast("dict[str, Any]", value)
    words = _string(found, "text")
    return words if found.get("type") == "mrkdwn" else escape(words)


def _rich(part: dict[str, Any], depth: int = 0) -> str:
    """Rich text in Slack's markup. Its words are literal: none of them may become a mention."""
    match part.get("type"):
        case "text":
            return escape(_string(part, "text"))
        case "user":
            return f"<@{_id(part, 'user_id')}>"
        case "channel":
            return f"<#{_id(part, 'channel_id')}>"
        case "usergroup":
            return f"<!subteam^{_id(part, 'usergroup_id')}>"
        case "broadcast":
            return f"<!{_id(part, 'range')}>"
        case "date":
            return escape(_string(part, "fallback"))
        case "link":
            url, words = _string(part, "url").replace("|", "%7C"), _string(part, "text").replace("|", "¦")
            return f"<{escape(url)}|{escape(words)}>" if words else f"<{escape(url)}>"
        case "emoji":
            return f":{escape(_string(part, 'name'))}:"
        case _ if depth > _DEEPEST:
            return ""
        case "rich_text_list":
            indent = part.get("indent")
            lead = "  " * min(indent, _DEEPEST) if isinstance(indent, int) else ""
            ordered = part.get("style") == "ordered"
            return "".join(
                f"{lead}{f'{number}.' if ordered else '-'} {_rich(item, depth + 1).strip()}\n"
                for number, item in enumerate(_items(part, "elements"), 1)
            )
        case _:
            inner = "".join(_rich(item, depth + 1) for item in _items(part, "elements"))
            return inner if inner.endswith("\n") or not inner else f"{inner}\n"


def _string(holder: dict[str, Any], key: str) -> str:
    value = holder.get(key)
    return value if isinstance(value, str) else ""


def _id(holder: dict[str, Any], key: str) -> str:
    return re.sub(r"[^A-Za-z0-9_]", "", _string(holder, key))


def _items(holder: dict[str, Any], key: str) -> list[dict[str, Any]]:
    value = holder.get(key)
    if not isinstance(value, list):
        return []
    return [cast("dict[str, Any]", item) for item in cast("list[Any]", value) if isinstance(item, dict)]
