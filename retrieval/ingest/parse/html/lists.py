"""Lists of HTML while they are read: marks, numbers and indentation."""

from __future__ import annotations

_MAX_INDENT = 8


class HtmlLists:
    """The open lists, one in another, and the lines of their items so far."""

    def __init__(self) -> None:
        #: For each open list whether it is numbered, and the number of its last item.
        self._open: list[tuple[bool, int]] = []
        self._mark = ""
        self._lines: list[str] = []

    def __bool__(self) -> bool:
        return bool(self._open)

    def start(self, *, numbered: bool) -> None:
        self._open.append((numbered, 0))

    def item(self) -> None:
        if self._open:
            numbered, last = self._open[-1]
            self._open[-1] = numbered, last + 1
            self._mark = f"{last + 1}." if numbered else "-"

    def add(self, text: str) -> None:
        """A block of the item that is open; its first gets the mark."""
        indent = "  " * min(len(self._open) - 1, _MAX_INDENT)
        self._lines.append(f"{indent}{self._mark or ' '} " + text.replace("\n", f"\n{indent}  "))
        self._mark = ""

    def end(self) -> None:
        if self._open:
            self._open.pop()
        self._mark = ""

    def take(self) -> str:
        """The lines so far, which are forgotten."""
        lines, self._lines = self._lines, []
        return "\n".join(lines)
