"""Content decides what a file is; its name decides only where content does not."""

from __future__ import annotations

import pytest

from retrieval.ingest.limits import ParseLimits
from retrieval.ingest.parse.detect import Kind, detect, kind_of_name
from retrieval.ingest.protocol import Reason, Unreadable
from tests.retrieval.ingest.parse.office_files import docx, paragraph, zipped
from tests.retrieval.ingest.parse.ole_files import ole, outlook_message
from tests.retrieval.ingest.parse.pdf_files import PdfPage, pdf

LIMITS = ParseLimits()
WORD = docx(paragraph("Hello"))
PDF = pdf(PdfPage().text("Hello"))
PNG = b"\x89PNG\r\n\x1a\n" + bytes(range(256))
NOISE = bytes((i * 73 + i // 7) % 256 for i in range(2048))
MAIL = (
    b"From: a@example.com\nTo: b@example.com\nSubject: Hi\nDate: Mon, 1 Jan 2024 10:00:00 +0000\n\nText\n"
)


@pytest.mark.parametrize(
    ("name", "data", "kind"),
    [
        ("a.docx", WORD, "docx"),
        ("a.pdf", WORD, "docx"),
        ("a.docx", PDF, "pdf"),
        ("a", PDF, "pdf"),
        ("a.pdf", b"\r\n junk before\n" + PDF, "pdf"),
        ("a.doc", rb"{\rtf1 Hello}", "rtf"),
        ("a.xls", b"<html><body><table><tr><td>1</td></tr></table></body></html>", "html"),
        ("a.pdf", b"<!DOCTYPE html><p>Please log in", "html"),
        ("a.txt", b"<!-- saved --><html><p>Hi", "html"),
        ("a.md", b"<html> in Markdown is still Markdown", "markdown"),
        ("a.xls", b"Name\tCost\nBolt\t3\n", "csv"),
        ("A.CSV", b"a,b\n1,2\n", "csv"),
        ("notes", b"Just some words", "text"),
        ("data", b'{"a": 1}', "json"),
        ("message", MAIL, "eml"),
        ("message.txt", MAIL, "text"),
        ("run", b"#!/bin/sh\necho hi\n", "code"),
        ("main.rs", b"fn main() {}", "code"),
        ("values.yml", b"a: 1\n", "yaml"),
        ("page.htm", "Grüße".encode("utf-16"), "html"),
        ("mail.msg", outlook_message("Hi", "Text"), "msg"),
        ("a.bin", outlook_message("Hi", "Text"), "msg"),
    ],
)
def test_kind(name: str, data: bytes, kind: Kind) -> None:
    assert detect(name, data, LIMITS) == kind


@pytest.mark.parametrize(
    ("name", "data", "reason"),
    [
        ("a.txt", b"", "empty"),
        ("a.docx", b" \r\n\t\n", "empty"),
        ("a.txt", b"\xef\xbb\xbf", "empty"),
        ("a.pdf", b"not really a PDF", "corrupt"),
        ("a.odt", b"not a ZIP file", "corrupt"),
        ("a.docx", NOISE, "corrupt"),
        ("a.docx", WORD[: len(WORD) // 2], "corrupt"),
        ("a.docx", zipped({"[Content_Types].xml": "<Types/>"}), "corrupt"),
        ("a.bin", NOISE, "unsupported"),
        ("a.png", PNG, "unsupported"),
        ("a.zip", zipped({"a.txt": "Hello"}), "unsupported"),
        ("a.pdf", PNG, "mislabelled"),
        ("a.txt", PNG, "mislabelled"),
        ("a.md", NOISE, "mislabelled"),
        ("a.docx", zipped({"a.txt": "Hello"}), "mislabelled"),
        ("a.xlsx", ole({"EncryptedPackage": b"x", "EncryptionInfo": b"y"}), "encrypted"),
        ("a.msi", ole({"SummaryInformation": b"x"}), "unsupported"),
    ],
)
def test_refusal(name: str, data: bytes, reason: Reason) -> None:
    with pytest.raises(Unreadable) as refusal:
        detect(name, data, LIMITS)
    assert refusal.value.reason == reason


@pytest.mark.parametrize("kind", ["text", "spreadsheet", "presentation"])
def test_encrypted_open_document(kind: str) -> None:
    manifest = "<manifest><file-entry><encryption-data/></file-entry></manifest>"
    data = zipped(
        {"mimetype": f"application/vnd.oasis.opendocument.{kind}", "META-INF/manifest.xml": manifest}
    )
    with pytest.raises(Unreadable, match="encrypted"):
        detect("a.odt", data, LIMITS)


@pytest.mark.parametrize(
    "start", [b"BMW builds cars.", b"MZ is a code.", b"ID3 is no tag here", b"RIFF raff"]
)
def test_text_that_begins_like_another_format_is_text(start: bytes) -> None:
    assert (
        detect("a.txt", start + b" And so on, for a sentence or two, until it is long enough.", LIMITS)
        == "text"
    )


def test_the_name_alone() -> None:
    assert kind_of_name("C:\\files\\Report.PDF") == "pdf"
    assert kind_of_name("Makefile") == "text"
    assert kind_of_name("movie.mp4") is None
