"""Long tables as parts of whole rows."""

from __future__ import annotations

from adapters.blocks import to_blocks
from adapters.teams.text import PLAIN


def _table(*cells: str) -> str:
    return "\n".join(["| head |", "| --- |", *(f"| {cell} |" for cell in cells)])


def test_a_table_that_fits_is_whole() -> None:
    (block,) = to_blocks(_table("a", "b"), PLAIN, limit=100)
    assert block.whole
    assert block.table is not None
    assert block.table.rows == (("head",), ("a",), ("b",))


def test_parts_of_a_long_table_hold_whole_rows_under_its_head() -> None:
    cells = [f"cell {number}" for number in range(30)]
    blocks = to_blocks(_table(*cells), PLAIN, limit=100)
    assert len(blocks) > 3
    assert not any(block.whole for block in blocks)
    rows = [block.table.rows for block in blocks if block.table is not None]
    assert len(rows) == len(blocks)
    assert [row[0] for one in rows for row in one[1:]] == cells
    assert {one[0] for one in rows} == {("head",)}


def test_a_row_that_has_to_be_cut_leaves_text_only() -> None:
    blocks = to_blocks(_table("a", "word " * 60, "b"), PLAIN, limit=100)
    assert len(blocks) > 1
    assert all(block.table is None and len(block.text) <= 100 for block in blocks)
