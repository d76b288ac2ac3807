"""Tables: whole, cut between rows under their header, or as records."""

import pytest

from retrieval.ingest.tables import cells
from retrieval.ingest.tokens import estimate
from tests.retrieval.ingest.parsed import chunks_of, section, words

HEADER = "| Key | Days | Owner |\n| --- | ---: | :---: |"


def rows(count: int) -> list[str]:
    return [f"| key {i} | {i} | {words(6, i * 6)} |" for i in range(count)]


def test_a_table_that_fits_is_not_cut() -> None:
    table = "\n".join([HEADER, *rows(15)])
    assert estimate(table) <= 350
    found = [c.text for c in chunks_of(f"{words(200)}\n\n{table}")]
    assert found == [words(200), table]


def test_a_long_table_is_cut_between_rows_with_its_header_repeated() -> None:
    all_rows = rows(200)
    found = chunks_of(section("\n".join([HEADER, *all_rows]), "Keys", page=4))
    assert len(found) > 5
    kept: list[str] = []
    for chunk in found:
        header, body = chunk.text[: len(HEADER)], chunk.text[len(HEADER) + 1 :]
        assert header == HEADER
        assert estimate(chunk.text) <= 350
        kept += body.split("\n")
    assert kept == all_rows


def test_a_table_without_a_header_is_cut_between_rows() -> None:
    found = chunks_of("\n".join(rows(200)))
    assert "\n".join(c.text for c in found) == "\n".join(rows(200))


def test_a_table_without_outer_pipes_counts() -> None:
    body = [f"key {i} | {words(6, i * 6)}" for i in range(100)]
    found = chunks_of("Key | Owner\n--- | ---\n" + "\n".join(body) + "\n\nAfter.")
    assert all(c.text.startswith("Key | Owner\n--- | ---\nkey ") for c in found)
    assert found[-1].text.endswith("\n\nAfter.")


def test_a_header_alone_is_a_row() -> None:
    assert [c.text for c in chunks_of("| Key | Days |\n| --- | --- |")] == ["| Key | Days |"]


def test_rows_too_wide_for_a_chunk_become_records_that_repeat_their_key() -> None:
    wide = f"| K-7 | {words(300)} | {words(200, 300)} | a \\| b<br>c |"
    found = chunks_of(f"| Id | First | Second | Note |\n|---|---|---|---|\n| K-6 | x | y | |\n{wide}")
    assert [c.text[:20] for c in found] == ["| Id | First | Secon", "Id: K-7\nSecond: waal"]
    assert f"| K-6 | x | y | |\n\nId: K-7\nFirst: {words(300)}" in found[0].text
    assert found[1].text == f"Id: K-7\nSecond: {words(200, 300)}\nNote: a | b c"


def test_a_header_too_wide_to_repeat_gives_records_with_short_names() -> None:
    names = [f"A column of a very wide sheet, number {i}" for i in range(40)]
    lines = ["| " + " | ".join(names) + " |", "|" + "---|" * 40]
    lines += [
        "| " + " | ".join(f"v{i}-{j}" if j % 20 == i else "" for j in range(40)) + " |" for i in range(10)
    ]
    found = "\n".join(c.text for c in chunks_of("\n".join(lines)))
    assert all(name in found for name in names)
    assert (
        "\n\nA column of a very wide sheet, number 3: v3-3\nA column of a very wide sheet, number 23: v3"
        in found
    )
    assert "| v" not in found


def test_long_names_and_short_values_grow_a_table_by_a_bounded_factor() -> None:
    names = "|" + ("n" * 150 + "|") * 300
    table = "\n".join([names, "|" + "-|" * 300, *["|" + "b|" * 300] * 30])
    found = chunks_of(table)
    assert sum(len(c.text) for c in found) < 30 * len(table)


def test_ragged_rows_keep_all_their_cells() -> None:
    found = chunks_of(f"| A |\n|---|\n| {words(200)} | {words(200, 200)} | end |")
    assert found[-1].text.endswith("end")
    assert f"A: {words(2)}" in found[0].text


@pytest.mark.parametrize(
    ("line", "expected"),
    [
        ("| a | b |", ["a", "b"]),
        ("a | b", ["a", "b"]),
        ("|a||c|", ["a", "", "c"]),
        (r"| a \| b | c\\ |", ["a | b", "c\\\\"]),
        ("|", []),
        ("||", [""]),
        ("", []),
    ],
)
def test_cells(line: str, expected: list[str]) -> None:
    assert cells(line) == expected
