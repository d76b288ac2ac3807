"""How documents are getting on, as a Slack message. Pure."""

from __future__ import annotations

from typing import Any, Final

from adapters.forms import Progress, ProgressItem
from adapters.markdown import cut
from adapters.slack.render import SlackMessage, plain_text, quiet

#: Documents told one by one; of more, those that failed and those that are worked.
_SHOWN: Final = 20
_WORDS: Final = {
    "queued": "waiting",
    "parsing": "reading",
    "chunking": "dividing into passages",
    "embedding": "embedding",
    "indexing": "indexing",
    "done": "done",
    "failed": "failed",
    "cancelled": "cancelled",
}
_SIGNS: Final = {"done": "✓", "failed": "✗", "cancelled": "–"}


def message_of(progress: Progress, *, heading: str = "Adding to the knowledge base") -> SlackMessage:
    """`text` says the same in words."""
    items = progress.items
    summary = summary_of(progress)
    if len(items) > _SHOWN:
        notable = [item for item in items if item.stage not in ("queued", "done")]
        shown = sorted(notable, key=lambda item: item.stage != "failed")[:_SHOWN]
    else:
        shown = list(items)
    lines = [f"{heading}: {summary}", *(line_of(item) for item in shown)]
    if hidden := len(items) - len(shown):
        lines.append(f"and {hidden} more")
    blocks: list[dict[str, Any]] = [{"type": "section", "text": plain_text(line)} for line in lines]
    text = "\n".join([f"{heading}: {summary}", *(line_of(item) for item in shown)])
    return SlackMessage(text=quiet(text), blocks=blocks)


def summary_of(progress: Progress) -> str:
    """Such as "3 of 5 done, 1 failed"."""
    stages = [item.stage for item in progress.items]
    parts = [f"{stages.count('done')} of {len(stages)} done"]
    parts += [
        f"{stages.count(stage)} {_WORDS[stage]}" for stage in ("failed", "cancelled") if stage in stages
    ]
    return ", ".join(parts)


def line_of(item: ProgressItem) -> str:
    """One document on one line."""
    name = quiet(cut(" ".join(item.name.split()), 120))
    sign = _SIGNS.get(item.stage, "…")
    state = _WORDS[item.stage]
    if not item.finished and item.total:
        state = f"{state}, {item.done} of {item.total}"
    message = f": {quiet(item.message)}" if item.message else ""
    return f"{sign} {name} — {state}{message}"
