"""Messages as Microsoft Graph has them (`chatMessage`), as neutral messages. Pure; never raises."""

from __future__ import annotations

import re
from datetime import datetime
from html.parser import HTMLParser
from typing import Any, Final, cast

from adapters.conversation import Message, Person

_BLOCKS: Final = frozenset({
    "address", "article", "blockquote", "br", "div", "h1", "h2", "h3", "h4", "h5", "h6", "hr", "li", "ol",
    "p", "pre", "table", "tr", "ul",
})  # fmt: skip
_CELLS: Final = frozenset({"td", "th"})
_UNSEEN: Final = frozenset({"script", "style", "head", "title", "template"})
_SPACE: Final = re.compile(r"[ \t\u00a0]+")
_LINES: Final = re.compile(r"\n{3,}")
#: Characters of a body that are read: Teams takes about 28 KB for a message.
_LONGEST: Final = 100_000


def message_of(raw: dict[str, Any], *, bot: str) -> Message | None:
    """None for what nobody said: system messages, deleted ones, odd ones.

    Args:
        raw: a `chatMessage`.
        bot: the bot's id in Teams, "28:app-id".
    """
    if raw.get("messageType") != "message" or raw.get("deletedDateTime"):
        return None
    message_id, sender = raw.get("id"), _object(raw.get("from"))
    if not isinstance(message_id, str) or not message_id:
        return None
    text = _text(_object(raw.get("body")), bot, raw.get("mentions"))
    names = [
        str(file.get("name"))
        for file in map(_object, _list(raw.get("attachments")))
        if file.get("contentType") == "reference" and file.get("name")
    ]
    text = "\n".join(filter(None, [text, *(f"[{name}]" for name in names)]))
    at = _time(raw.get("createdDateTime"))
    application = _object(sender.get("application"))
    if application:
        app_id = str(application.get("id") or "")
        if app_id and app_id == bot.removeprefix("28:"):
            return Message(id=message_id, role="assistant", text=text, at=at)
        name = str(application.get("displayName") or "")
        author = Person(id=app_id, name=name, is_bot=True)
        return Message(id=message_id, role="other_bot", author=author, text=text, at=at)
    user = _object(sender.get("user"))
    if not user or not text:
        return None
    author = Person(id=str(user.get("id") or ""), name=str(user.get("displayName") or ""))
    return Message(id=message_id, role="person", author=author, text=text, at=at)


def _text(body: dict[str, Any], bot: str, mentions: Any) -> str:
    content = str(body.get("content") or "")[:_LONGEST]
    if body.get("contentType") != "html":
        return content.strip()
    own = {
        str(mention.get("id"))
        for mention in map(_object, _list(mentions))
        if _object(_object(mention.get("mentioned")).get("application")).get("id")
        == bot.removeprefix("28:")
    }
    reader = _Reader(own)
    # The parser raises at a marked section that it does not know.
    reader.feed(content.replace("<![", "&lt;!["))
    reader.close()
    lines = [_SPACE.sub(" ", line).strip() for line in "".join(reader.parts).split("\n")]
    return _LINES.sub("\n\n", "\n".join(lines)).strip()


class _Reader(HTMLParser):
    """What a reader of the message sees, a line a block."""

    def __init__(self, own: set[str]) -> None:
        super().__init__(convert_charrefs=True)
        self._own = own
        self._hidden = 0
        self.parts: list[str] = []
        #: Inside a mention of the bot itself.
        self._mention: bool | None = None

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        if tag == "at":
            self._mention = dict(attrs).get("id") in self._own
            if not self._mention:
                self.parts.append("@")
        elif tag in _UNSEEN:
            self._hidden += 1
        elif tag in _BLOCKS:
            self.parts.append("\n")
        elif tag in _CELLS:
            self.parts.append(" ")
        if tag == "li":
            self.parts.append("- ")

    def handle_endtag(self, tag: str) -> None:
        if tag == "at":
            self._mention = None
        elif tag in _UNSEEN:
            self._hidden = max(0, self._hidden - 1)
        elif tag in _BLOCKS and tag != "br":
            self.parts.append("\n")

    def handle_data(self, data: str) -> None:
        if not self._hidden and not self._mention:
            self.parts.append(data)


def _time(value: Any) -> datetime | None:
    try:
        found = datetime.fromisoformat(str(value).replace("Z", "+00:00"))
    except ValueError:
        return None
    return found if found.tzinfo is not None else None


def _list(value: Any) -> list[Any]:
    return cast("list[Any]", value) if isinstance(value, list) else []


def _object(value: Any) -> dict[str, Any]:
    return cast("dict[str, Any]", value) if isinstance(value, dict) else {}
