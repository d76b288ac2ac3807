"""A thread as a Markdown document. Pure."""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import Final

from adapters.conversation import Message

_TITLE: Final = 80
_UNFIT: Final = re.compile(r"[^\w.-]+")


def document_of(messages: Sequence[Message], channel: str) -> tuple[str, str]:
    """Name and text: a title from the first words, then who said what and when.

    A message's own headings become plain lines: the document's headings are its messages.
    """
    first = next((message.text for message in messages if message.text.strip()), "Thread")
    title = " ".join(first.split())
    title = title if len(title) <= _TITLE else f"{title[:_TITLE].rsplit(' ', 1)[0]}…"
    parts = [f"# {title}"]
    if channel:
        parts.append(f"A thread in #{channel}.")
    for message in messages:
        if not message.text.strip():
            continue
        name = (
            "Footnote" if message.role == "assistant" else (message.author.name if message.author else "")
        )
        when = f", {message.at:%Y-%m-%d %H:%M} UTC" if message.at is not None else ""
        body = re.sub(r"^(\s*)#", r"\1\\#", message.text, flags=re.MULTILINE)
        parts.append(f"## {name or 'Somebody'}{when}\n\n{body}")
    name = _UNFIT.sub("-", title.rstrip("…")).strip("-.").lower()[:60] or "thread"
    return f"{name}.md", "\n\n".join(parts) + "\n"
