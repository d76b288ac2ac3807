"""Documents on their way, as one message that is edited. Pure."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from adapters.forms import ProgressItem
from adapters.progress import progress_lines, summary
from adapters.short import cut16
from adapters.slack import limits
from adapters.slack.kit import escape, quiet_line, section
from adapters.slack.render import SlackMessage


def progress_message(items: Sequence[ProgressItem], *, fetching: int = 0, note: str = "") -> SlackMessage:
    """The message as it stands now.

    Args:
        fetching: files that are still to be brought from Slack.
        note: who will be able to read the documents, for instance.
    """
    head, lines = summary(items, fetching=fetching, source="Slack"), progress_lines(items)
    blocks: list[dict[str, Any]] = [section(head)]
    # A section holds about thirty lines; each line stands whole in one.
    for start in range(0, len(lines), 8):
        text = "\n".join(lines[start : start + 8])
        blocks.append(section(text))
    if note:
        blocks.append(quiet_line(note))
    text = "\n".join([head, *lines])
    return SlackMessage(text=cut16(escape(text), limits.TEXT), blocks=blocks)
