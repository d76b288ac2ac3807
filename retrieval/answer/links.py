"""Targets of Markdown links in a text that is still growing."""

from __future__ import annotations

#: Longer targets are not waited for.
MAX_TARGET = 300


def target_end(text: str, at: int, *, final: bool) -> int | None:
    """Where the link target `(...)` at `text[at]` ends; -1 if none stands there.

    None if that can't be told before more text has come. Targets on one line, without `<` and with
    an optional title; those are what models write.
    """
    if not text.startswith("(", at):
        return None if at >= len(text) and not final else -1
    depth, quote = 0, ""
    begun = spaced = titled = False
    position, limit = at, at + MAX_TARGET
    while position < min(limit, len(text)):
        char = text[position]
        position += 1
        if char in "\n`<":
            return -1
        if quote:
            quote = "" if char == quote else quote
        elif char == ")":
            depth -= 1
            if not depth:
                return position
        elif char in " \t":
            spaced = begun
        elif spaced:
            if char not in "\"'" or titled:
                return -1
            quote, titled = char, True
        elif char == "(":
            depth += 1
        else:
            begun = True
            position += char == "\\"
    return -1 if final or len(text) >= limit else None
