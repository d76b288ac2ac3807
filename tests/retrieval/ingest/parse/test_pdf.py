"""PDF: what a reader sees on the page is what is kept."""

from __future__ import annotations

from datetime import UTC, datetime

import pytest

from retrieval.documents import ParsedDocument
from retrieval.ingest.limits import ParseLimits
from retrieval.ingest.parse import parse
from retrieval.ingest.protocol import Unreadable
from tests.retrieval.ingest.parse.matching import outcome, read_whole
from tests.retrieval.ingest.parse.pdf_files import PdfPage, pdf

BODY = (
    "Every employee has thirty days of paid leave in each calendar year of service and",
    "may carry five of them over to the next year when the team lead agrees to that in a",
    "written note. Leave is requested in the people portal under Time and is confirmed with-",
    "in two working days.",
)
WHOLE = (
    "Every employee has thirty days of paid leave in each calendar year of service and may carry five of "
    "them over to the next year when the team lead agrees to that in a written note. Leave is requested in "
    "the people portal under Time and is confirmed within two working days."
)


def read(*pages: PdfPage, **kwargs: object) -> ParsedDocument:
    return parse("a.pdf", pdf(*pages, **kwargs))  # pyright: ignore[reportArgumentType]


def outline_of(document: ParsedDocument) -> list[tuple[int | None, tuple[str, ...]]]:
    return [(section.page, section.heading_path) for section in document.sections]


def page(number: int, title: str, *, of: int = 4) -> PdfPage:
    sheet = (
        PdfPage().text("ACME Handbook", y=40, size=8).text(f"Page {number} of {of}", y=770, x=280, size=8)
    )
    return sheet.text(title, y=100, size=18, bold=True).lines(*BODY, y=130)


def test_headings_by_size_and_weight() -> None:
    first = page(1, "Leave").text("Sick leave", y=200, bold=True).lines(*BODY, y=216)
    document = read(first, page(2, "Travel"))
    assert outline_of(document) == [(1, ("Leave",)), (1, ("Leave", "Sick leave")), (2, ("Travel",))]
    assert {section.markdown for section in document.sections} == {WHOLE}
    assert document.title == "Leave"
    assert document.pages == 2


def test_the_outline_of_the_file_comes_first() -> None:
    sheet = (
        PdfPage().text("1.2 Small heading", y=100).lines(*BODY, y=120).text("Large words", y=300, size=18)
    )
    document = read(sheet.lines(*BODY, y=330), outline=[("Small heading", 0)])
    assert outline_of(document)[0] == (1, ("1.2 Small heading",))


def test_numbers_of_headings_count_their_levels() -> None:
    sheet = PdfPage()
    for at, title in enumerate(("1 Scope", "1.1 People", "1.1.1 Staff", "2 Terms", "2.3 Places")):
        sheet.text(title, y=80 + at * 100, bold=True).lines(*BODY, y=100 + at * 100)
    paths = [path for _, path in outline_of(read(sheet))]
    assert paths == [
        ("1 Scope",),
        ("1 Scope", "1.1 People"),
        ("1 Scope", "1.1 People", "1.1.1 Staff"),
        ("2 Terms",),
        ("2 Terms", "2.3 Places"),
    ]


def test_running_heads_feet_and_page_numbers_go() -> None:
    whole = read_whole(read(*(page(number, f"Part {number}") for number in range(1, 5))))
    assert "ACME Handbook" not in whole
    assert "of 4" not in whole
    assert "Part 4" in whole


def test_heads_that_change_with_the_chapter_are_known_by_their_page_number() -> None:
    pages = [page(number, f"Part {number}") for number in range(1, 7)]
    for number, sheet in enumerate(pages, 1):
        sheet.text(f"Chapter about subject {'abcdef'[number // 2]} {number + 10}", y=60, size=8)
    whole = read_whole(read(*pages))
    assert "Chapter about" not in whole
    assert "Part 6" in whole


def test_a_table_head_that_each_page_repeats_stays() -> None:
    def sheet(start: int) -> PdfPage:
        made = PdfPage()
        for at, row in enumerate(
            [("Item", "Size", "Price"), *((f"Bolt {start + i}", "M4", "1.20") for i in range(30))]
        ):
            for column, text in enumerate(row):
                made.text(text, x=72 + 120 * column, y=60 + 14 * at)
        return made

    document = read(*(sheet(start) for start in (0, 30, 60, 90)))
    assert all(
        section.markdown.startswith("| Item | Size | Price |\n| --- |") for section in document.sections
    )
    assert "| Bolt 119 | M4 | 1.20 |" in document.sections[-1].markdown


def test_words_broken_at_a_line_end_are_whole_and_compounds_keep_their_hyphen() -> None:
    sheet = PdfPage().lines(
        "The well-known rules of the company apply to all of the people who work for it, the well-",
        "known ones first of all, and then those that the board has com-",
        "municated later on.",
    )
    text = read(sheet).sections[0].markdown
    assert "the well-known ones" in text
    assert "communicated" in text


def test_tables_have_columns_and_lists_stay_lists() -> None:
    sheet = PdfPage().text("Prices", y=80, size=16, bold=True)
    rows = [
        ("Item", "Size", "Price"),
        ("Bolt", "M4", "1.20"),
        ("Nut", "M5", "0.80"),
        ("Washer", "", "0.10"),
    ]
    for at, row in enumerate(rows):
        for column, text in enumerate(row):
            sheet.text(text, x=72 + 120 * column, y=110 + 14 * at, bold=at == 0)
    for at in range(1, 4):
        sheet.text(f"{at}.", x=72, y=200 + 14 * at).text(f"Thing number {at}", x=92, y=200 + 14 * at)
    document = read(sheet)
    assert document.sections[0].markdown == (
        "| Item | Size | Price |\n| --- | --- | --- |\n| Bolt | M4 | 1.20 |\n| Nut | M5 | 0.80 |\n"
        "| Washer |  | 0.10 |\n\n1. Thing number 1\n2. Thing number 2\n3. Thing number 3"
    )


def test_two_columns_of_prose_are_read_one_after_the_other() -> None:
    sheet = PdfPage()
    left = [f"left line {at} of a narrow column" for at in range(12)]
    right = [f"right line {at} of a narrow column" for at in range(12)]
    sheet.lines(*left, x=72, y=100).lines(*right, x=320, y=100)
    text = read(sheet).sections[0].markdown
    assert "|" not in text
    assert text.index("left line 11") < text.index("right line 0")


def test_text_drawn_in_another_order_is_read_from_the_top() -> None:
    sheet = PdfPage().lines(*BODY, y=500).text("Last heading", y=470, size=16, bold=True)
    sheet.lines(*BODY, y=200).text("First heading", y=170, size=16, bold=True)
    assert [path for _, path in outline_of(read(sheet))] == [("First heading",), ("Last heading",)]


@pytest.mark.parametrize("turned", [0, 90, 180, 270])
def test_pages_shown_turned_and_moved_are_read_as_shown(turned: int) -> None:
    """A page drawn sideways and shown turned back reads as one that was never turned."""
    rows = [
        ("Item", "Size", "Price"),
        ("Bolt", "M4", "1.20"),
        ("Nut", "M5", "0.80"),
        ("Washer", "M6", "0.10"),
    ]
    sheet = PdfPage(turned=turned, moved=(50, 30))
    for at, row in enumerate(rows):
        for column, text in enumerate(row):
            sheet.text_seen(text, x=100 + 110 * column, y=100 + 14 * at)
    sheet.text_seen("the web shop", x=100, y=300).link_seen("https://e.com/a", x=100, y=300, width=70)
    assert read(sheet).sections[0].markdown == (
        "| Item | Size | Price |\n| --- | --- | --- |\n| Bolt | M4 | 1.20 |\n| Nut | M5 | 0.80 |\n"
        "| Washer | M6 | 0.10 |\n\n[the web shop](https://e.com/a)"
    )


def test_links_code_and_form_fields() -> None:
    sheet = (
        PdfPage()
        .text("see our web shop for more", y=60)
        .link("https://shop.example.com/a", x=72, y=60, width=120)
    )
    sheet.text("visit www.example.com now", y=90).link("https://www.example.com/", x=72, y=90, width=130)
    sheet.text("def pay(amount):", y=120, mono=True).text("return amount * 2", x=96, y=132, mono=True)
    sheet.text("Name:", y=180).form_field("Ada Lovelace", x=110, y=183)
    text = read(sheet).sections[0].markdown
    assert "[see our web shop for more](https://shop.example.com/a)" in text
    assert "visit www.example.com now" in text
    assert "```\ndef pay(amount):\n    return amount * 2\n```" in text
    assert "Name: Ada Lovelace" in text


def test_a_damaged_page_and_a_scanned_one_are_told_and_the_rest_is_read() -> None:
    document = read(page(1, "Leave"), page(2, "Gone"), PdfPage().picture(), broken=(1,))
    assert {section.page for section in document.sections} == {1}
    assert document.warnings == (
        "Could not be read: page 2.",
        "No text but a picture: page 3. Run text recognition (OCR) to search there.",
    )


def test_what_the_file_states_of_itself() -> None:
    document = read(page(1, "Leave"), info={"Title": "Handbook", "ModDate": "D:20240203040506+01'00'"})
    assert (document.title, document.document_date) == (
        "Handbook",
        datetime(2024, 2, 3, 3, 5, 6, tzinfo=UTC),
    )
    assert document.parser == "pdf/1"


def test_a_scan_is_empty() -> None:
    with pytest.raises(Unreadable, match="empty"):
        read(PdfPage().picture(), PdfPage())


def test_too_many_pages() -> None:
    with pytest.raises(Unreadable, match="too_large"):
        parse("a.pdf", pdf(*[PdfPage().text("x")] * 4), limits=ParseLimits(max_pages=3))


@pytest.mark.parametrize("cut", [20, 200, 500])
def test_the_rest_of_a_truncated_file_is_read_or_refused(cut: int) -> None:
    found = outcome("a.pdf", pdf(page(1, "Leave"), page(2, "Travel"))[:-cut])
    assert found in ("corrupt", "empty") or isinstance(found, ParsedDocument)


def test_the_plain_parser_changes_nothing() -> None:
    document = parse("a.pdf", pdf(page(1, "Leave"), page(2, "Travel")), parser="pdf-text")
    assert document.parser == "pdf-text/1"
    assert [section.page for section in document.sections] == [1, 2]
    assert "ACME Handbook" in document.sections[1].markdown


def test_xberg_reads_pdf_too() -> None:
    document = parse("a.pdf", pdf(page(1, "Leave"), page(2, "Travel")), parser="xberg")
    assert document.parser == "xberg/1"
    assert {section.page for section in document.sections} == {1, 2}
