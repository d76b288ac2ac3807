from __future__ import annotations

from datetime import UTC, datetime

import pytest

from retrieval.ingest.parse import parse
from retrieval.ingest.protocol import Unreadable
from tests.retrieval.ingest.parse.office_files import zipped

_SPACE = "http://www.idpf.org/2007/opf"


def epub(
    chapters: dict[str, str], *, order: list[str] | None = None, extra: dict[str, str] | None = None
) -> bytes:
    """A book of chapters by file name, in `order`."""
    items = "".join(
        f'<item id="{at}" href="text/{name.replace(" ", "%20")}" media-type="application/xhtml+xml"/>'
        for at, name in enumerate([*chapters, "missing.xhtml"])
    )
    ids = {name: at for at, name in enumerate([*chapters, "missing.xhtml"])}
    spine = "".join(f'<itemref idref="{ids[name]}"/>' for name in order or chapters)
    package = (
        f'<package xmlns="{_SPACE}" xmlns:dc="http://purl.org/dc/elements/1.1/"><metadata>'
        "<dc:title>The book</dc:title>"
        f"<dc:date>2020-02-03</dc:date></metadata><manifest>{items}</manifest><spine>{spine}</spine></package>"
    )
    return zipped(
        {
            "mimetype": "application/epub+zip",
            "META-INF/container.xml": '<container><rootfile full-path="OEBPS/book.opf"/></container>',
            "OEBPS/book.opf": package,
            **{
                f"OEBPS/text/{name}": f"<html><body>{text}</body></html>" for name, text in chapters.items()
            },
            **(extra or {}),
        },
        stored=("mimetype",),
    )


def test_chapters_in_the_order_of_the_spine() -> None:
    chapters = {
        "b.xhtml": "<h1>Two</h1><p>Second</p>",
        "a one.xhtml": "<h1>One</h1><p>First</p><h2>Part</h2><p>More",
    }
    document = parse("a.epub", epub(chapters, order=["a one.xhtml", "b.xhtml"]))
    assert [(section.heading_path, section.markdown) for section in document.sections] == [
        (("One",), "First"),
        (("One", "Part"), "More"),
        (("Two",), "Second"),
    ]
    assert (document.title, document.document_date) == ("The book", datetime(2020, 2, 3, tzinfo=UTC))


def test_a_missing_chapter_is_told() -> None:
    document = parse("a.epub", epub({"a.xhtml": "<p>Text"}, order=["a.xhtml", "missing.xhtml"]))
    assert document.warnings == ("Chapters missing in this book: 1.",)


@pytest.mark.parametrize(
    ("algorithm", "readable"),
    [("http://www.w3.org/2001/04/xmlenc#aes128-cbc", False), ("http://www.idpf.org/2008/embedding", True)],
)
def test_rights_management_is_encryption_and_scrambled_fonts_are_not(
    algorithm: str, readable: bool
) -> None:
    encryption = f'<encryption><EncryptionMethod Algorithm="{algorithm}"/></encryption>'
    data = epub({"a.xhtml": "<p>Text"}, extra={"META-INF/encryption.xml": encryption})
    if readable:
        assert parse("a.epub", data).sections
    else:
        with pytest.raises(Unreadable, match="encrypted"):
            parse("a.epub", data)


def test_a_book_without_its_package_is_corrupt() -> None:
    with pytest.raises(Unreadable, match="corrupt"):
        parse("a.epub", zipped({"mimetype": "application/epub+zip", "a.xhtml": "<p>Text"}))
