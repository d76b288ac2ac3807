"""A reply as Teams activities. Pure: plain dicts, without a Bot Framework type."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any, Final

from adapters.blocks import Block, Table, to_blocks
from adapters.conversation import Citation, Reply
from adapters.teams import limits
from adapters.teams.card import (
    Json,
    actions,
    asks,
    attachment,
    line,
    one_line,
    opens,
    quiet,
    run,
    size,
    table,
    whole,
    words,
)
from adapters.teams.claims import address_of, claim, message_entity
from adapters.teams.streamed import streamed_text
from adapters.teams.text import dialect

__all__ = ["PASSAGES", "WHY", "placeholder", "render", "smaller", "streamed_text"]

#: Kinds of dialogs; their data holds the turn.
WHY, PASSAGES = "why", "passages"
#: Characters of a block of the answer, and bytes of an activity beside its text, claims and card.
_BLOCK: Final = 8_000
_FRAME: Final = 4_000
#: Bytes of the rows that stand together on a card.
_ROWS: Final = limits.CARD_BYTES // 2
_TITLE: Final = 200
_NO_TEXT: Final = "There is no text in this answer."
_AFTER: Final = "Sources and notes"
_GOES_ON: Final = "This answer is longer than Teams can show. Ask for less at a time to see the rest."


def render(reply: Reply, *, asker: str | None = None) -> list[dict[str, Any]]:
    """One message, or several in order where the reply is too long for one. Never empty.

    Each is text with marks as numbers, the claims of those that stand in it, and a card with its tables.
    Teams takes ten claims: further sources, and notes, stand on the last message's card, quietly.

    Args:
        asker: their id in the chat with the bot alone, where questions can be suggested.
    """
    parts = _parts(reply)
    told = {citation.number for part in parts for citation in part.claims}
    after = _after(reply, [citation for citation in reply.citations if citation.number not in told])
    buttons = _buttons(reply)
    asked = [question for question in reply.suggestions if question.strip()] if asker else []
    if after or buttons:
        after += actions([*buttons, *map(asks, asked[: limits.SUGGESTED])])
    for block in after:
        if not parts[-1].holds([block]):
            parts.append(_Part(texts=[_AFTER]))
        parts[-1].card.append(block)
    activities = [part.activity(reply) for part in parts]
    last = activities[-1]
    if reply.kind in ("answer", "not_covered"):
        last["channelData"] = {"feedbackLoop": {"type": "default"}}
    if asked and "attachments" not in last:  # Teams shows these under messages without a card only
        said = [{"type": "imBack", "title": one_line(q, limits.BUTTON), "value": q} for q in asked]
        last["suggestedActions"] = {"to": [asker], "actions": said[: limits.SUGGESTED]}
    return activities


def placeholder(text: str) -> dict[str, Any]:
    """A message that stands where the reply will: neither labelled nor rated."""
    return {"type": "message", "textFormat": "markdown", "text": text}


def smaller(activity: dict[str, Any]) -> dict[str, Any] | None:
    """What is left where Teams finds a message too large after all; None where nothing can be spared."""
    text = str(activity.get("text") or "")
    if "attachments" in activity and text:
        rest = {name: value for name, value in activity.items() if name != "attachments"}
        return {**rest, "text": f"{text}\n\n{_GOES_ON}"}
    if len(text) <= _BLOCK:
        return None
    head = text[: len(text) // 2].rsplit("\n\n", 1)[0].removesuffix(_GOES_ON).rstrip()
    if len(re.findall(r"^ {0,3}```", head, re.MULTILINE)) % 2:
        head += "\n```"
    return {**activity, "text": f"{head}\n\n{_GOES_ON}"}


@dataclass
class _Part:
    """One message on its way."""

    texts: list[str] = field(default_factory=list[str])
    claims: list[Citation] = field(default_factory=list[Citation])
    card: list[Json] = field(default_factory=list[Json])
    tables: int = 0
    #: Marks that stand in tables, where Teams would show them nowhere.
    marks: list[str] = field(default_factory=list[str])
    used: int = _FRAME

    def holds(self, card: Sequence[Json], *, extra: int = 0) -> bool:
        """Whether that fits onto its card, and into it as a whole."""
        added, there = size(card), size(self.card)
        fits = there + added <= limits.CARD_BYTES - _FRAME
        return fits and self.used + there + added + extra <= limits.ACTIVITY_BYTES

    def activity(self, reply: Reply) -> dict[str, Any]:
        texts = list(self.texts)
        if self.tables:
            below = "See the table below." if self.tables == 1 else "See the tables below."
            texts.append(" ".join([below, *self._missing()]))
        activity: dict[str, Any] = {
            "type": "message",
            "textFormat": "markdown",
            "text": "\n\n".join(texts) or _NO_TEXT,
            "entities": [
                message_entity(sorted(self.claims, key=lambda c: c.number), sensitivity=reply.sensitivity)
            ],
        }
        if self.card:
            activity["attachments"] = [attachment(whole(self.card))]
        return activity

    def _missing(self) -> list[str]:
        shown = "\n".join(self.texts)
        return [mark for mark in dict.fromkeys(self.marks) if mark not in shown]


def _parts(reply: Reply) -> list[_Part]:
    marks = {citation.label: citation.number for citation in reply.citations}
    claimed = reply.citations[: limits.CITATIONS]
    parts = [_Part()]
    for block in to_blocks(reply.text, dialect(marks), limit=_BLOCK):
        for text, card in _pieces(block):
            named = [c for c in claimed if f"[{c.number}]" in text]
            new = [c for c in named if c not in parts[-1].claims]
            cost = sum(size(claim(c)) for c in new) + (0 if card else size(text) + 8)
            begun = parts[-1].texts or parts[-1].card
            if begun and not parts[-1].holds(card, extra=cost):
                parts.append(_Part())
                new = named
                cost = sum(size(claim(c)) for c in new) + (0 if card else size(text) + 8)
            part = parts[-1]
            part.used += cost
            part.claims += new
            part.card += card
            if card:
                part.tables += 1
                part.marks += [f"[{c.number}]" for c in named]
            else:
                part.texts.append(text)
    return parts


def _pieces(block: Block) -> list[tuple[str, list[Json]]]:
    """As text, or as tables that each fit onto a card, with the text that they hold."""
    if block.table is None:
        return [(block.text, [])]
    head, *rows = block.table.rows
    costs = [size(_table(Table((row,), block.table.align))) for row in block.table.rows]
    if max(costs) > _ROWS // 2:  # a row that no card holds
        return [(block.text, [])]
    groups: list[list[tuple[str, ...]]] = [[head]]
    room = _ROWS - costs[0]
    for row, cost in zip(rows, costs[1:], strict=True):
        if cost > room:
            groups.append([head])
            room = _ROWS - costs[0]
        groups[-1].append(row)
        room -= cost
    tables = [Table(tuple(group), block.table.align) for group in groups]
    return [("\n".join(cell for row in one.rows for cell in row), [_table(one)]) for one in tables]


def _table(found: Table) -> Json:
    """Cells in Markdown, the first row as the head, which is what cards assume."""
    return table(
        [[_cell(cell, head=n == 0) for cell in row] for n, row in enumerate(found.rows)], found.align
    )


def _cell(text: str, *, head: bool) -> Json:
    block: Json = {"type": "TextBlock", "text": text or "\u00a0", "wrap": True}
    return {**block, "weight": "Bolder"} if head else block


def _after(reply: Reply, others: Sequence[Citation]) -> list[Json]:
    """Sources without a claim, then quiet lines."""
    blocks = [words("More sources", "bold")] if others else []
    blocks += [_source(citation) for citation in others]
    notes = [*reply.notes, *([f"Reference: {reply.reference}"] if reply.reference else [])]
    return blocks + [quiet(note) for note in notes if note.strip()]


def _source(citation: Citation) -> Json:
    title = one_line(citation.title, _TITLE) or one_line(citation.name, _TITLE) or "Untitled"
    place = one_line(citation.place(), _TITLE)
    after = [run(f", {place}")] if place else []
    return line(run(f"{citation.number}. "), run(title, url=address_of(citation)), *after)


def _buttons(reply: Reply) -> list[Json]:
    if reply.kind not in ("answer", "not_covered"):
        return []
    buttons = [opens("Why this answer?", WHY, turn=reply.turn_id)]
    if any(address_of(citation) is None for citation in reply.citations):
        buttons.insert(0, opens("Show the passages", PASSAGES, turn=reply.turn_id))
    return buttons
