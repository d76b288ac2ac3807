"""Documents on their way, as one message that is edited. Pure."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from typing import Any, Final

from adapters.forms import DocumentStage, Progress, ProgressItem
from adapters.slack import limits
from adapters.slack.kit import cut16, escape, quiet_line, section
from adapters.slack.render import SlackMessage

#: Documents that are named; of the others it is said how many they are.
NAMED: Final = 20
_STAGES: Final[dict[DocumentStage, str]] = {
    "queued": "waiting",
    "parsing": "reading",
    "chunking": "cutting into passages",
    "embedding": "learning the passages",
    "indexing": "adding to the index",
    "done": "done",
    "failed": "failed",
    "cancelled": "cancelled",
}
_SIGNS: Final[dict[DocumentStage, str]] = {"done": "✓", "failed": "✗", "cancelled": "–"}
#: What people look for first.
_ORDER: Final[dict[DocumentStage, int]] = {
    "failed": 0, "indexing": 1, "embedding": 1, "chunking": 1, "parsing": 1, "queued": 2, "cancelled": 3,
    "done": 4,
}  # fmt: skip
_BAR: Final = 10
_NAME, _WHY = 80, 200


def stage_words(item: ProgressItem) -> str:
    """Such as `reading ▓▓▓░░░░░░░ 30 of 100`, `done`, or `failed: why`."""
    word = _STAGES[item.stage]
    if item.finished:
        return f"{word}: {cut16(_line(item.message), _WHY)}" if item.message.strip() else word
    if item.total > 0:
        done = max(0, min(item.done, item.total))
        full = done * _BAR // item.total
        return f"{word} {'▓' * full}{'░' * (_BAR - full)} {done} of {item.total}"
    return word


def item_line(item: ProgressItem) -> str:
    """One document on one line."""
    return f"{_SIGNS.get(item.stage, '…')} {cut16(_line(item.name), _NAME) or 'file'}: {stage_words(item)}"


def summary(items: Sequence[ProgressItem], *, fetching: int = 0) -> str:
    """How it stands, in one sentence."""
    count = len(items) + fetching
    documents = "1 document" if count == 1 else f"{count} documents"
    if fetching:
        return f"Fetching {documents} from Slack…"
    by_stage = Counter(item.stage for item in items)
    if not Progress(items=tuple(items)).finished:
        finished = sum(by_stage[stage] for stage in ("done", "failed", "cancelled"))
        return f"Adding {documents}…" if count == 1 else f"Adding {documents}: {finished} finished…"
    failed, cancelled = by_stage["failed"], by_stage["cancelled"]
    if not failed and not cancelled:
        return f"Added {documents}. Ask away!"
    parts = [f"{by_stage['done']} added"] if by_stage["done"] else []
    parts += [f"{failed} failed"] if failed else []
    parts += [f"{cancelled} cancelled"] if cancelled else []
    return f"Finished: {', '.join(parts)}."


def progress_message(items: Sequence[ProgressItem], *, fetching: int = 0, note: str = "") -> SlackMessage:
    """The message as it stands now.

    Args:
        fetching: files that are still to be brought from Slack.
        note: who will be able to read the documents, for instance.
    """
    head = summary(items, fetching=fetching)
    ordered = sorted(items, key=lambda item: _ORDER[item.stage])
    lines = [item_line(item) for item in ordered[:NAMED]]
    if rest := ordered[NAMED:]:
        counts = Counter(_STAGES[item.stage] for item in rest)
        lines.append(f"And {len(rest)} more: " + ", ".join(f"{n} {word}" for word, n in counts.items()))
    blocks: list[dict[str, Any]] = [section(head)]
    # A section holds about thirty lines; each line stands whole in one.
    for start in range(0, len(lines), 8):
        text = "\n".join(lines[start : start + 8])
        blocks.append(section(text))
    if note:
        blocks.append(quiet_line(note))
    text = "\n".join([head, *lines])
    return SlackMessage(text=cut16(escape(text), limits.TEXT), blocks=blocks)


def _line(text: str) -> str:
    return " ".join(text.split())
