"""Markdown as Teams reads it: mentions and some HTML have an effect, `[1]` is the mark of a claim."""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Final

from adapters.markdown import JOINER, Dialect

#: Mentions, in code too.
_ACTIVE: Final = re.compile(r"<(?=/?at\b)", re.IGNORECASE)
#: Teams reads some HTML in Markdown.
_HTML: Final = re.compile(r"<(?=[a-z/!?])", re.IGNORECASE)
#: For reading only.
PLAIN: Final = Dialect(active=_ACTIVE)


def dialect(marks: Mapping[str, int]) -> Dialect:
    """`marks`: the number that stands in the text for each citation, by its label."""
    return Dialect(
        active=_ACTIVE,
        active_text=_HTML,
        bracket=f"[{JOINER}",  # Teams would take "[1]" for a mark
        marks={label: f"[{number}]" for label, number in marks.items()},
    )


def escaped(text: str) -> str:
    """Plain text as Markdown, on one line."""
    line = re.sub(r"([\\`*_\[\]#~|])", r"\\\1", " ".join(text.split()))
    return _ACTIVE.sub(f"<{JOINER}", _HTML.sub(f"<{JOINER}", line))
