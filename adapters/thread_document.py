"""A thread as a Markdown document: who said what, and when."""

from __future__ import annotations

import asyncio
import re
import secrets
from collections.abc import Sequence
from pathlib import Path
from typing import Final

from adapters.conversation import Message, UploadedFile
from adapters.ports import Refused

#: Characters of a title.
_TITLE: Final = 60
_NAME: Final = re.compile(r"[^\w\- ]+")
#: What would be a heading, or would make one of the line before.
_HEADING: Final = re.compile(r"^( {0,3})(#|=+\s*$|-+\s*$)", re.MULTILINE)
_FENCE: Final = re.compile(r"^ {0,3}(```|~~~)", re.MULTILINE)


def thread_title(messages: Sequence[Message]) -> str:
    """The first words of its root."""
    root = next((message.text for message in messages if message.text.strip()), "")
    words = " ".join(root.split())
    if len(words) > _TITLE:
        words = words[:_TITLE].rsplit(" ", 1)[0] + "…"
    return words or "Thread"


def thread_markdown(messages: Sequence[Message], *, platform: str, where: str = "") -> str:
    """Each message under a heading with its author and time, so that a citation tells them."""
    place = f"A thread from {platform}, {where}" if where else f"A thread from {platform}"
    parts = [f"# {_plain(thread_title(messages))}", f"{place}."]
    for message in messages:
        if not message.text.strip():
            continue
        author = message.author.name if message.author and message.author.name else ""
        if message.role == "assistant":
            author = author or "Footnote"
        at = f", {message.at:%Y-%m-%d %H:%M} UTC" if message.at else ""
        parts += [f"## {_plain(author) or 'Somebody'}{at}", _body(message.text)]
    return "\n\n".join(parts) + "\n"


async def thread_file(
    messages: Sequence[Message],
    thread: str,
    spool: Path,
    *,
    platform: str,
    where: str,
    permalink: str | None,
) -> UploadedFile:
    """The document, spooled. Its name is the same when that thread is saved again, and no other's.

    Args:
        platform: where it is from, such as "Slack", and `where` there, such as "#general".

    Raises `Refused` for a thread without words.
    """
    if not any(message.text.strip() for message in messages):
        raise Refused("There is no text in that thread.")
    data = thread_markdown(messages, platform=platform, where=where).encode("utf-8", "replace")
    path = spool / secrets.token_hex(16)
    await asyncio.to_thread(path.write_bytes, data)
    title = _NAME.sub("", thread_title(messages)).strip() or "Thread"
    return UploadedFile(
        name=f"{title} ({thread.replace('.', '-')}).md",
        path=path,
        size=len(data),
        media_type="text/markdown",
        permalink=permalink,
    )


def _body(text: str) -> str:
    """The message's own Markdown, without what would change the document around it."""
    fences = _FENCE.findall(text)
    if not fences:
        return _HEADING.sub(r"\1\\\2", text).strip()
    return f"{text.strip()}\n{fences[-1]}" if len(fences) % 2 else text.strip()


def _plain(text: str) -> str:
    return " ".join(text.split()).replace("#", "").strip()
