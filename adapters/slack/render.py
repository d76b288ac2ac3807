"""A reply as Slack messages. Pure: the JSON that `chat.postMessage` takes, without a client."""

from __future__ import annotations

import json
import re
from typing import Any, TypedDict

from adapters.blocks import Block, Table, to_blocks
from adapters.conversation import Citation, Reply
from adapters.markdown import JOINER, Dialect, cut, is_web, to_plain
from adapters.short import utf16
from adapters.slack import limits

#: `action_id`s, whose values hold turn ids; of `ASK` a question.
FEEDBACK, MENU, ASK = "reply_feedback", "reply_menu", "ask"
UP, DOWN = "up:", "down:"
#: Values of the menu's entries begin so.
WHY, AGAIN, DELETE = "why:", "again:", "delete:"
#: `action_id` of the button that opens a citation's passage, with its number; the value is the turn's id,
#: a space and the number.
PASSAGE = "passage"

#: `<!channel>`, `<@U1>`, `<#C1>`, links to other schemes in Slack's own form, and names that ping.
_ACTIVE = re.compile(
    r"<(?=[!@#])|<(?=(?!https?:)[a-z][a-z0-9+.-]*:)|@(?=(?:here|channel|everyone)\b)",
    re.IGNORECASE,
)
#: Characters of a block of the answer, so that several fit into a message with their JSON around them.
_BLOCK = 5_000
_TITLE = 200
_NO_TEXT = "There is no text in this answer."
#: Half a word or entity at the end.
_BROKEN_OFF = re.compile(r"\s\S{0,80}$|&[a-z]*$")


class SlackMessage(TypedDict):
    """`text` is what notifications and screen readers get: the words of the message."""

    text: str
    blocks: list[dict[str, Any]]


def render(reply: Reply) -> list[SlackMessage]:
    """One message, or several in order where the reply is too long for one. Never empty."""
    dialect = Dialect(active=_ACTIVE, marks={c.label: f"[{c.label}]" for c in reply.citations})
    messages = _Messages(dialect)
    for block in to_blocks(reply.text, dialect, limit=_BLOCK) or [Block(_NO_TEXT)]:
        messages.add(_answer(block, dialect, tables=not messages.has_table), block.text)
    _sources(reply, messages)
    notes = [*reply.notes, *([f"Reference: {reply.reference}"] if reply.reference else [])]
    for note in notes:
        if text := cut(quiet(note), limits.CONTEXT_TEXT):
            messages.add({"type": "context", "elements": [plain_text(text)]}, "" if reply.text else text)
    _acts(reply, messages)
    return messages.done()


#: Up to the end of a line or sentence: what follows may still become something else.
_READY = re.compile(r".*(?:\n|[.!?…:;](?=\s)|[。！？])", re.DOTALL)
_NUMBERS = {str(number): f"[{number}]" for number in range(1, 51)}


def streamed_text(text: str) -> str:
    """What may be shown of an answer that is being written, as Markdown that Slack takes no order from."""
    ready = _READY.match(text)
    if ready is None:
        return ""
    dialect = Dialect(active=_ACTIVE, marks=_NUMBERS)
    return "\n\n".join(block.text for block in to_blocks(ready[0], dialect, limit=_BLOCK))


class _Messages:
    """Fills messages up to their limits."""

    def __init__(self, dialect: Dialect) -> None:
        self._dialect = dialect
        self._done: list[tuple[list[str], list[dict[str, Any]]]] = [([], [])]
        self._size = 0

    @property
    def has_table(self) -> bool:
        """The message that is being filled has its one table block."""
        return any(block["type"] == "table" for block in self._done[-1][1])

    def add(self, block: dict[str, Any], markdown: str = "") -> None:
        """`markdown` is what the block says in the message's text."""
        texts, blocks = self._done[-1]
        size = cost(block)
        if blocks and (len(blocks) == limits.BLOCKS or self._size + size > limits.MESSAGE):
            texts, blocks = [], []
            self._done.append((texts, blocks))
            self._size = 0
        blocks.append(block)
        self._size += size
        if markdown:
            texts.append(markdown)

    def done(self) -> list[SlackMessage]:
        return [SlackMessage(text=self._text(texts), blocks=blocks) for texts, blocks in self._done]

    def _text(self, texts: list[str]) -> str:
        """Slack reads its own markup in it, so `&`, `<` and `>` are written as entities."""
        words = quiet(to_plain("\n\n".join(texts), self._dialect))
        escaped = words.replace("&", "&amp;").replace("<", "&lt;").replace(">", "&gt;")
        if utf16(escaped) > limits.TEXT:
            head = escaped.encode("utf-16-le", "replace")[: 2 * limits.TEXT - 2].decode(
                "utf-16-le", "ignore"
            )
            escaped = _BROKEN_OFF.sub("", head) + "…"
        return escaped or "Sources and notes"


def cost(block: dict[str, Any]) -> int:
    """Of `limits.MESSAGE`."""
    return utf16(json.dumps(block, ensure_ascii=False)) + limits.BLOCK_OVERHEAD


def quiet(text: str) -> str:
    """Text that can't mention anybody, nor link to other schemes."""
    return _ACTIVE.sub(lambda match: f"{match[0]}{JOINER}", text)


def plain_text(text: str) -> dict[str, Any]:
    """A text object in which Slack reads no markup."""
    return {"type": "plain_text", "text": text, "emoji": False}


def _answer(block: Block, dialect: Dialect, *, tables: bool) -> dict[str, Any]:
    if (
        tables
        and block.whole
        and block.table is not None
        and (table := _table(block.table, dialect)) is not None
    ):
        return table
    return {"type": "markdown", "text": block.text}


def _table(table: Table, dialect: Dialect) -> dict[str, Any] | None:
    """None for what a table block can't hold, links among it: it stays Markdown."""
    if len(table.rows) > limits.TABLE_ROWS or len(table.align) > limits.TABLE_COLUMNS:
        return None
    if any("](" in cell for row in table.rows for cell in row):
        return None
    rows = [
        [{"type": "raw_text", "text": quiet(to_plain(cell, dialect)) or "\u00a0"} for cell in row]
        for row in table.rows
    ]
    made = {
        "type": "table",
        "column_settings": [{"align": side, "is_wrapped": True} for side in table.align],
        "rows": rows,
    }
    return made if cost(made) <= limits.MESSAGE else None


def _sources(reply: Reply, messages: _Messages) -> None:
    """Rich text, in which Slack takes no word of a title for markup."""
    if not reply.citations:
        return
    header: dict[str, Any] = {"type": "section", "text": {"type": "mrkdwn", "text": "*Sources*"}}
    if (menu := _menu(reply)) is not None:
        header["accessory"] = menu
    messages.add(header)
    elements: list[dict[str, Any]] = []
    for line in map(_source, reply.citations):
        if elements and cost(_rich_text([*elements, *line])) > limits.MESSAGE // 2:
            messages.add(_rich_text(elements))
            elements = []
        elements += [_NEW_LINE, *line] if elements else line
    messages.add(_rich_text(elements))
    buttons = [_show_passage(reply, citation) for citation in reply.citations if citation.url is None]
    if buttons and len(reply.turn_id) < limits.BUTTON_VALUE - 10:
        messages.add({"type": "actions", "elements": buttons[: limits.ACTIONS]})


def _show_passage(reply: Reply, citation: Citation) -> dict[str, Any]:
    """Where no page can be linked to, the passage opens in Slack."""
    mark = citation.label if citation.label.isdecimal() else f"[{citation.label}]"
    return {
        "type": "button",
        "action_id": f"{PASSAGE}:{citation.number}",
        "text": plain_text(cut(quiet(f"Show passage {mark}"), limits.BUTTON_TEXT)),
        "value": f"{reply.turn_id} {citation.number}",
    }


_NEW_LINE = {"type": "text", "text": "\n"}


def _rich_text(elements: list[dict[str, Any]]) -> dict[str, Any]:
    return {"type": "rich_text", "elements": [{"type": "rich_text_section", "elements": elements}]}


def _source(citation: Citation) -> list[dict[str, Any]]:
    """`1. Title, p. 3 · Heading`, on a line of its own."""
    number = f"{citation.label}. " if citation.label.isdecimal() else f"[{citation.label}] "
    title = _line(citation.title) or _line(citation.name) or "Untitled"
    url = citation.url or citation.source_url
    link: dict[str, Any] = {"type": "text", "text": title}
    if url and is_web(url) and len(url) <= limits.URL:
        link = {"type": "link", "url": url, "text": title}
    place = _line(citation.place())
    after = [{"type": "text", "text": f", {place}"}] if place else []
    return [{"type": "text", "text": quiet(number)}, link, *after]


def _line(text: str) -> str:
    return quiet(cut(" ".join(text.split()), _TITLE))


def _menu(reply: Reply) -> dict[str, Any] | None:
    longest = max(len(WHY), len(AGAIN), len(DELETE)) + len(reply.turn_id)
    if reply.kind == "notice" or longest > limits.OPTION_VALUE:
        return None
    entries = {WHY: "Why this answer?", AGAIN: "Ask again", DELETE: "Delete"}
    options = [
        {"text": plain_text(label), "value": f"{kind}{reply.turn_id}"} for kind, label in entries.items()
    ]
    return {"type": "overflow", "action_id": MENU, "options": options}


def _acts(reply: Reply, messages: _Messages) -> None:
    asks = [
        {
            "type": "button",
            "action_id": f"{ASK}:{number}",
            "text": plain_text(cut(quiet(question), limits.BUTTON_TEXT)),
            "value": question,
        }
        for number, question in enumerate(reply.suggestions[:5])
        if question.strip() and len(question) <= limits.BUTTON_VALUE
    ]
    menu = [menu] if not reply.citations and (menu := _menu(reply)) is not None else []
    if reply.kind in ("answer", "not_covered") and len(reply.turn_id) < limits.BUTTON_VALUE - 10:
        rate = {
            "type": "feedback_buttons",
            "action_id": FEEDBACK,
            "positive_button": {"text": plain_text("Helpful"), "value": f"{UP}{reply.turn_id}"},
            "negative_button": {"text": plain_text("Not helpful"), "value": f"{DOWN}{reply.turn_id}"},
        }
        messages.add({"type": "context_actions", "elements": [rate]})
    if asks or menu:
        messages.add({"type": "actions", "elements": [*asks, *menu]})
