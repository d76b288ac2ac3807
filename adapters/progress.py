"""Documents on their way, as words: a head and a line a document, which each platform shows in its own way.
Pure."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from typing import Final

from adapters.forms import DocumentStage, Progress, ProgressItem
from adapters.short import line16

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
        return f"{word}: {line16(item.message, _WHY)}" if item.message.strip() else word
    if item.total > 0:
        done = max(0, min(item.done, item.total))
        full = done * _BAR // item.total
        return f"{word} {'▓' * full}{'░' * (_BAR - full)} {done} of {item.total}"
    return word


def item_line(item: ProgressItem) -> str:
    """One document on one line."""
    return f"{_SIGNS.get(item.stage, '…')} {line16(item.name, _NAME) or 'file'}: {stage_words(item)}"


def summary(items: Sequence[ProgressItem], *, fetching: int = 0, source: str = "") -> str:
    """How it stands, in one sentence.

    Args:
        fetching: files that are still to be brought here.
        source: from where, such as "Slack".
    """
    count = len(items) + fetching
    documents = "1 document" if count == 1 else f"{count} documents"
    if fetching:
        return f"Fetching {documents} from {source}…" if source else f"Fetching {documents}…"
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


def progress_lines(items: Sequence[ProgressItem]) -> list[str]:
    """A line a document, what people look for first; then how many more there are of which kind."""
    ordered = sorted(items, key=lambda item: _ORDER[item.stage])
    lines = [item_line(item) for item in ordered[:NAMED]]
    if rest := ordered[NAMED:]:
        counts = Counter(_STAGES[item.stage] for item in rest)
        lines.append(f"And {len(rest)} more: " + ", ".join(f"{n} {word}" for word, n in counts.items()))
    return lines
