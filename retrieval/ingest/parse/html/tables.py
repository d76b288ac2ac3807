"""A table of HTML while it is read: rows, cells, and cells that span others."""

from __future__ import annotations

from collections.abc import Mapping

#: What a cell may claim to span; more is a mistake or an attack.
_MAX_COLSPAN = 100
_MAX_ROWSPAN = 2000


class HtmlTable:
    """Collects the texts of cells. A cell that spans rows says its text in each of them."""

    def __init__(self) -> None:
        self.rows: list[list[str]] = []
        self.in_cell = False
        #: It holds headings or other tables: a layout, whose cells are text like any other.
        self.is_layout = False
        self._row: list[str] = []
        self._span = (1, 1)
        #: Column -> (rows to come, text) of cells that reach into them.
        self._reaching: dict[int, tuple[int, str]] = {}

    def start_row(self) -> None:
        self.end_row()

    def start_cell(self, attributes: Mapping[str, str]) -> None:
        self._span = (
            _number(attributes.get("colspan"), _MAX_COLSPAN),
            _number(attributes.get("rowspan"), _MAX_ROWSPAN),
        )
        self.in_cell = True

    def end_cell(self, text: str) -> None:
        self._fill_from_above()
        columns, rows = self._span
        at = len(self._row)
        self._row.extend([text] + [""] * (columns - 1))
        if rows > 1:
            self._reaching[at] = (rows - 1, text)
            for column in range(at + 1, at + columns):
                self._reaching[column] = (rows - 1, "")
        self.in_cell = False

    def end_row(self) -> None:
        if not self._row:
            return
        self._fill_from_above()
        self.rows.append(self._row)
        self._row = []

    def take(self) -> list[list[str]]:
        """All rows so far, which are forgotten."""
        self.end_row()
        rows, self.rows = self.rows, []
        return rows

    def _fill_from_above(self) -> None:
        while (at := len(self._row)) in self._reaching:
            left, text = self._reaching.pop(at)
            if left > 1:
                self._reaching[at] = (left - 1, text)
            self._row.append(text)


def _number(text: str | None, most: int) -> int:
    return min(max(int(text), 1), most) if text and text.strip().isascii() and text.strip().isdigit() else 1
