"""Documents on their way, as one card that is updated. Pure."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from adapters.forms import ProgressItem
from adapters.progress import progress_lines, summary
from adapters.teams.card import heading, message, quiet, whole, words


def progress_card(items: Sequence[ProgressItem], *, fetching: int = 0, note: str = "") -> dict[str, Any]:
    """The activity as it stands now.

    Args:
        fetching: files that are still to be brought from Teams.
        note: who will be able to read the documents, for instance.
    """
    head = summary(items, fetching=fetching, source="Teams")
    body = [heading(head), *(words(line, most=400) for line in progress_lines(items))]
    if note.strip():
        body.append(quiet(note))
    return message(whole(body), head)
