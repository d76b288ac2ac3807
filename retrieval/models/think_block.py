"""Open reasoning models write `<think>...</think>` before their answer on servers that don't part it."""

from __future__ import annotations

_OPEN, _CLOSE = "<think>", "</think>"


class ThinkBlock:
    """Takes deltas, gives them without a leading think block. Anything else passes unchanged."""

    def __init__(self) -> None:
        self._held = ""
        self._state = "start"

    def feed(self, delta: str) -> str:
        if self._state == "text":
            return delta
        self._held += delta
        if self._state == "start":
            begun = self._held.lstrip()
            if begun.startswith(_OPEN):
                self._state = "thinking"
            elif not _OPEN.startswith(begun):
                return self._release(self._held)
        if self._state == "thinking" and _CLOSE in self._held:
            return self._release(self._held.split(_CLOSE, 1)[1].lstrip())
        return ""

    def end(self) -> str:
        """What was held back and is no think block after all."""
        return "" if self._state == "thinking" else self._release(self._held)

    def _release(self, text: str) -> str:
        # White space after the block may still come: it stays at the start of the text.
        self._state, self._held = "text", ""
        return text


def without_thinking(text: str) -> str:
    block = ThinkBlock()
    return block.feed(text) + block.end()
