"""The passage that a citation stands for, as a modal, where no page can be linked to."""

from __future__ import annotations

import re
from typing import Any, Final

from slack_bolt.async_app import AsyncAck, AsyncApp

from adapters.conversation import Citation
from adapters.markdown import is_web
from adapters.ports import Refused
from adapters.short import cut16
from adapters.slack import limits
from adapters.slack.context import Slack
from adapters.slack.kit import Json, plain, quiet_line
from adapters.slack.render import PASSAGE, plain_text, quiet
from adapters.slack.surface import Act, ending, open_view

_BUTTON: Final = re.compile(rf"{PASSAGE}:\d+")
_GONE: Final = "This answer is not kept any more. Please ask again."
#: Characters shown before and after the cited words, and of these.
_AROUND, _QUOTE = 3_000, 3_000
_TITLE: Final = 150


def passage_view(citation: Citation) -> Json:
    """Title, place, the passage with the cited words in bold, and the way to the original."""
    title = citation.title.strip() or citation.name
    blocks: list[Json] = [{"type": "header", "text": plain(title, _TITLE)}]
    if place := citation.place():
        blocks.append(quiet_line(place))
    before, quote, after = split(citation.passage, citation.quote)
    parts = [(before, False), (quote, True), (after, False)]
    elements: list[Json] = [
        {"type": "text", "text": quiet(text), **({"style": {"bold": True}} if bold else {})}
        for text, bold in parts
        if text
    ]
    elements = elements or [{"type": "text", "text": "There is no text in this passage."}]
    blocks.append({"type": "rich_text", "elements": [{"type": "rich_text_section", "elements": elements}]})
    url = citation.source_url
    if url is not None and is_web(url) and len(url) <= limits.URL:
        button = {
            "type": "button",
            "action_id": "open_original",
            "text": plain_text("Open the original"),
            "url": url,
        }
        blocks.append({"type": "actions", "elements": [button]})
    return {
        "type": "modal",
        "title": plain_text(cut16(f"Passage {citation.label}", limits.VIEW_TITLE)),
        "close": plain_text("Close"),
        "blocks": blocks,
    }


def split(passage: str, quote: str) -> tuple[str, str, str]:
    """What stands before the cited words, these, and what follows; spaces may differ.

    Where the words are not found in the passage, the whole passage is meant.
    """
    passage, words = passage.strip(), quote.split()
    if not passage:
        return "", cut16(quote, _QUOTE), ""
    found = re.search(r"\s+".join(map(re.escape, words)), passage) if words else None
    if found is None:
        return cut16(passage, 2 * _AROUND), "", ""
    before, after = passage[: found.start()], passage[found.end() :]
    if len(before) > _AROUND:
        before = f"…{before[-_AROUND:]}"
    if len(after) > _AROUND:
        after = f"{after[:_AROUND]}…"
    return before, _cut(found[0]), after


def _cut(text: str) -> str:
    return text if len(text) <= _QUOTE else f"{text[:_QUOTE]}…"


async def open_passage(slack: Slack, act: Act) -> None:
    """Raises `Refused` for a turn that the person may not see or that is gone."""
    turn_id, _, number = act.value.rpartition(" ")
    reply = await slack.bot.answers.reply(await act.actor(slack), turn_id)
    cited = [c for c in reply.citations if str(c.number) == number] if reply is not None else []
    if not cited:
        raise Refused(_GONE)
    await open_view(slack, act, passage_view(cited[0]))


def register(app: AsyncApp, slack: Slack) -> None:
    @app.action(_BUTTON)
    async def show(ack: AsyncAck, body: dict[str, Any]) -> None:  # pyright: ignore[reportUnusedFunction]
        await ack()
        act = Act.of(body)
        async with ending(lambda text: act.tell(slack, text), "passage"):
            await open_passage(slack, act)
