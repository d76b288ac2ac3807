"""Words cut to what platforms take. They count in UTF-16 code units."""

from __future__ import annotations


def utf16(text: str) -> int:
    """Length in UTF-16 code units."""
    return len(text.encode("utf-16-le", "replace")) // 2


def cut16(text: str, most: int) -> str:
    """At most `most` UTF-16 code units, and never half a character."""
    text = text.strip()
    if utf16(text) <= most:
        return text
    head = text.encode("utf-16-le", "replace")[: 2 * (most - 1)].decode("utf-16-le", "ignore")
    return f"{head.rstrip()}…"


def line16(text: str, most: int) -> str:
    """The same, on one line."""
    return cut16(" ".join(text.split()), most)
