"""Word, PowerPoint, Excel, OpenDocument, RTF, Outlook."""

from __future__ import annotations

from datetime import UTC, datetime

import pytest

from retrieval.documents import ParsedDocument
from retrieval.ingest.parse import parse
from retrieval.ingest.parse.office import parser as office
from retrieval.ingest.protocol import Unreadable
from tests.retrieval.ingest.parse.matching import outcome, read_whole
from tests.retrieval.ingest.parse.office_files import (
    Sheet,
    Slide,
    docx,
    odf,
    odf_table,
    paragraph,
    pptx,
    word_table,
    xlsx,
)
from tests.retrieval.ingest.parse.ole_files import outlook_message

LITERAL = r"C:\temp\[x] a*b #1 !bang -dash *star* _init_ <tag> `tick` ~x~ 3 > 2 & {c} __dunder__"


def bodies(document: ParsedDocument) -> list[tuple[tuple[str, ...], str]]:
    return [(section.heading_path, section.markdown) for section in document.sections]


@pytest.mark.parametrize("parser", ["office", "office-text"])
def test_word(parser: str) -> None:
    data = docx(
        paragraph("Leave", "Heading1"),
        paragraph(LITERAL),
        paragraph("Sick leave #2", "Heading2"),
        word_table([["Kind", "Days"], ["Sick", "10"], ["a|b", "2"]]),
        paragraph("# not a heading"),
        title="Leave policy",
        modified="2024-01-02T03:04:05Z",
    )
    document = parse("a.docx", data, parser=parser)
    assert bodies(document) == [
        (("Leave",), LITERAL),
        (
            ("Leave", "Sick leave #2"),
            "| Kind | Days |\n| --- | --- |\n| Sick | 10 |\n| a\\|b | 2 |\n\n\\# not a heading",
        ),
    ]
    assert (document.title, document.document_date) == (
        "Leave policy",
        datetime(2024, 1, 2, 3, 4, 5, tzinfo=UTC),
    )
    assert document.parser == f"{parser}/1"


def test_word_keeps_links_and_footnotes() -> None:
    linked = (
        '<w:p><w:hyperlink r:id="rL"><w:r><w:t>the Größe rules</w:t></w:r></w:hyperlink>'
        '<w:r><w:t xml:space="preserve"> hold.</w:t></w:r></w:p>'
    )
    document = parse("a.docx", docx(linked, links={"rL": "https://example.com/a_(b)"}))
    assert document.sections[0].markdown == "[the Größe rules](https://example.com/a_%28b%29) hold."


def test_a_document_that_the_first_parser_gives_up_on_is_read_by_the_second(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    def give_up(*_: object) -> None:
        raise Unreadable("corrupt", "panic")

    monkeypatch.setattr(office, "_extract", give_up)
    document = parse("a.docx", docx(paragraph("Leave", "Heading1"), paragraph("Thirty days")))
    assert bodies(document) == [(("Leave",), "Thirty days")]
    assert document.parser == "office-text/1"
    assert document.warnings == ("This file was read in a simpler way; its structure may be incomplete.",)


def test_slides() -> None:
    data = pptx(
        Slide("Results", [["Sales ", "rose", " by 3 %"], ["Costs fell"]], notes="Thank the team"),
        Slide("", [["No title here"]]),
        Slide("Table", [], table=[["Year", "Sum"], ["2023", "5"]]),
        Slide("Chart", [], chart=("Growth", "Sales", ["Q1", "Q2"], ["3", "4"])),
        title="Review",
    )
    document = parse("a.pptx", data)
    assert [(section.page, section.heading_path, section.markdown) for section in document.sections] == [
        (1, ("Results",), "- Sales rose by 3 %\n- Costs fell\n\nNotes: Thank the team"),
        (2, (), "- No title here"),
        (3, ("Table",), "| Year | Sum |\n| --- | --- |\n| 2023 | 5 |"),
        (4, ("Chart",), "Growth\n\n|  | Sales |\n| --- | --- |\n| Q1 | 3 |\n| Q2 | 4 |"),
    ]
    assert (document.title, document.pages) == ("Review", 4)


def test_a_damaged_slide_is_told_and_the_others_are_read() -> None:
    document = parse("a.pptx", pptx(Slide("One", [["First"]]), Slide("Two", [["Second"]]), broken=1))
    assert [section.page for section in document.sections] == [1]
    assert document.warnings == ("Slide 2 could not be read.",)


@pytest.mark.parametrize("parser", ["office", "office-text"])
def test_slides_with_the_other_parsers(parser: str) -> None:
    document = parse("a.pptx", pptx(Slide("Results", [["Sales rose"]])), parser=parser)
    assert document.sections[0].page == 1
    assert document.sections[0].heading_path == ("Results",)
    assert "Sales rose" in document.sections[0].markdown


def test_sheets() -> None:
    data = xlsx(
        Sheet("Prices", [["Price list 2024"], ["Item", "Cost"], ["Bolt", "1.5"], ["Nut", "2"]]),
        Sheet("Two", [["A", "B"], ["1", "2"], [], ["C", "D"], ["3", "4"]]),
    )
    assert bodies(parse("a.xlsx", data)) == [
        (("Prices",), "Price list 2024\n\n| Item | Cost |\n| --- | --- |\n| Bolt | 1.5 |\n| Nut | 2 |"),
        (("Two",), "| A | B |\n| --- | --- |\n| 1 | 2 |\n\n| C | D |\n| --- | --- |\n| 3 | 4 |"),
    ]
    assert all(section.page is None for section in parse("a.xlsx", data).sections)


@pytest.mark.parametrize("parser", ["office", "office-text"])
def test_open_document_text(parser: str) -> None:
    data = odf(
        "text",
        '<office:text><text:h text:outline-level="1">Leave policy</text:h>'
        '<text:p>Everyone has <text:a xlink:href="https://example.com/d">thirty days</text:a>.'
        '<text:note text:note-class="footnote"><text:note-citation>1</text:note-citation>'
        "<text:note-body><text:p>Pro rata.</text:p></text:note-body></text:note></text:p>"
        + odf_table("T", [["Kind", "Days"], ["Sick", "10"]])
        + "</office:text>",
        title="Leave",
    )
    document = parse("a.odt", data, parser=parser)
    assert document.title == "Leave"
    assert document.document_date == datetime(2024, 5, 6, 7, 8, 9, tzinfo=UTC)
    assert {section.heading_path for section in document.sections} == {("Leave policy",)}
    whole = read_whole(document)
    for wanted in ("thirty days", "Pro rata.", "| Kind | Days |\n| --- | --- |\n| Sick | 10 |"):
        assert wanted in whole


@pytest.mark.parametrize("parser", ["office", "office-text"])
def test_open_document_spreadsheet(parser: str) -> None:
    sheets = odf_table("Prices", [["Item", "Cost"], ["Bolt", "3.50"]]) + odf_table(
        "Staff", [["Name", "Role"], ["Ada", "Boss"]]
    )
    document = parse(
        "a.ods", odf("spreadsheet", f"<office:spreadsheet>{sheets}</office:spreadsheet>"), parser=parser
    )
    assert bodies(document) == [
        (("Prices",), "| Item | Cost |\n| --- | --- |\n| Bolt | 3.50 |"),
        (("Staff",), "| Name | Role |\n| --- | --- |\n| Ada | Boss |"),
    ]


def test_open_document_presentation() -> None:
    pages = "".join(
        '<draw:page><draw:frame presentation:class="title"><draw:text-box>'
        f"<text:p>{title}</text:p></draw:text-box></draw:frame><draw:frame><draw:text-box><text:list><text:list-item>"
        f"<text:p>{point}</text:p></text:list-item></text:list></draw:text-box></draw:frame><presentation:notes>"
        f"<draw:frame><draw:text-box><text:p>Say {title}</text:p></draw:text-box></draw:frame>"
        "</presentation:notes></draw:page>"
        for title, point in (("First", "Alpha"), ("Second", "Beta"))
    )
    document = parse("a.odp", odf("presentation", f"<office:presentation>{pages}</office:presentation>"))
    assert [(section.page, section.heading_path, section.markdown) for section in document.sections] == [
        (1, ("First",), "- Alpha\n\nNotes: Say First"),
        (2, ("Second",), "- Beta\n\nNotes: Say Second"),
    ]


def test_rtf() -> None:
    data = (
        rb"{\rtf1\ansi\ansicpg1252{\stylesheet{\s1 heading 1;}}{\info{\title The title}}"
        rb"\pard\s1\outlinelevel0 Chapter one\par\pard Caf\'e9 costs \u8364? 3.\par"
        rb'{\field{\*\fldinst{HYPERLINK "https://example.com/x"}}{\fldrslt the link}}\par'
        rb"\trowd\cellx1000\cellx2000 A\cell B\cell\row\trowd\cellx1000\cellx2000 C\cell D\cell\row"
        rb"\pard end\par}"
    )
    document = parse("a.rtf", data)
    assert bodies(document) == [
        (
            ("Chapter one",),
            "Café costs € 3.\n\n[the link](https://example.com/x)\n\n"
            "| A | B |\n| --- | --- |\n| C | D |\n\nend",
        )
    ]
    assert document.title == "The title"


def test_an_outlook_message() -> None:
    document = parse(
        "a.msg", outlook_message("Quarterly numbers", "The numbers are in.\r\nPlease read them.", "Ada")
    )
    assert document.title == "Quarterly numbers"
    assert "The numbers are in." in read_whole(document)
    assert "From: Ada" in read_whole(document)


@pytest.mark.parametrize(
    "body",
    [
        "<w:tbl>" * 3000 + "</w:tbl>" * 3000,
        "".join(f"<w:tbl><w:tr><w:tc>{paragraph('x')}" for _ in range(2000))
        + "</w:tc></w:tr></w:tbl>" * 2000,
    ],
)
def test_nesting_without_end_is_refused(body: str) -> None:
    with pytest.raises(Unreadable) as refusal:
        parse("a.docx", docx(body, paragraph("Hello")))
    assert refusal.value.reason in ("too_large", "corrupt")


def test_entities_are_not_expanded() -> None:
    entities = "".join(f'<!ENTITY e{at} "{f"&e{at - 1};" * 10}">' for at in range(1, 12))
    bomb = f'<!DOCTYPE x [<!ENTITY e0 "haha">{entities}]>'
    data = docx(paragraph("Hello"), "<w:p><w:r><w:t>&e11;</w:t></w:r></w:p>", doctype=bomb)
    for parser in ("office", "office-text"):
        found = outcome("a.docx", data, parser=parser, max_text_chars=10_000)
        if isinstance(found, ParsedDocument):
            assert "hahahaha" not in read_whole(found)
        else:
            assert found in ("corrupt", "too_large", "empty")
