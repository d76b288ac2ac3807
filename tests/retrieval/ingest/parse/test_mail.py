"""Mail: headers, text, and attachments to a bounded depth."""

from __future__ import annotations

from datetime import UTC, datetime
from email.message import EmailMessage

import pytest

from retrieval.documents import ParsedDocument
from retrieval.ingest.limits import ParseLimits
from retrieval.ingest.parse import parse
from retrieval.ingest.protocol import Unreadable
from tests.retrieval.ingest.parse.matching import outcome, read_whole
from tests.retrieval.ingest.parse.office_files import docx, paragraph
from tests.retrieval.ingest.parse.pdf_files import PdfPage, pdf


def message(text: str = "The body.", subject: str = "Plans") -> EmailMessage:
    mail = EmailMessage()
    mail["From"] = "Ada Lovelace <ada@example.com>"
    mail["To"] = "bob@example.com"
    mail["Subject"] = subject
    mail["Date"] = "Mon, 01 Jan 2024 10:00:00 +0200"
    mail.set_content(text)
    return mail


def read(mail: EmailMessage, **limits: int) -> ParsedDocument:
    return parse("a.eml", mail.as_bytes(), limits=ParseLimits(**limits))  # pyright: ignore[reportArgumentType]


def test_headers_and_text() -> None:
    document = read(message("Grüße aus Köln."))
    assert document.sections[0].markdown == (
        "From: Ada Lovelace <ada@example.com>\nTo: bob@example.com\nDate: Mon, 01 Jan 2024 10:00:00 +0200\n"
        "Subject: Plans\n\nGrüße aus Köln."
    )
    assert document.title == "Plans"
    assert document.document_date == datetime(2024, 1, 1, 8, tzinfo=UTC)


def test_of_text_and_html_the_html_with_its_table_is_read_once() -> None:
    mail = message("Plain form")
    mail.add_alternative("<p>Rich form<table><tr><td>a<td>b<tr><td>1<td>2</table>", subtype="html")
    whole = read_whole(read(mail))
    assert "Rich form" in whole
    assert "| 1 | 2 |" in whole
    assert "Plain form" not in whole


def test_attachments_stand_under_their_names() -> None:
    mail = message()
    policy = docx(paragraph("Leave", "Heading1"), paragraph("Thirty days"))
    mail.add_attachment(policy, maintype="application", subtype="octet-stream", filename="policy.docx")
    mail.add_attachment(
        pdf(PdfPage().text("A page")), maintype="application", subtype="pdf", filename="a.pdf"
    )
    mail.add_attachment(
        b"\x89PNG\r\n\x1a\n" + bytes(300), maintype="image", subtype="png", filename="logo.png"
    )
    document = read(mail)
    assert [(s.heading_path, s.page, s.markdown) for s in document.sections[1:]] == [
        (("policy.docx", "Leave"), None, "Thirty days"),
        (("a.pdf",), 1, "A page"),
        (("logo.png",), None, "# logo.png"),
    ]
    assert len(document.warnings) == 1
    assert document.warnings[0].startswith("Attachment logo.png could not be read")


def test_a_mail_in_a_mail() -> None:
    inner = message("Inner text", "Inner subject")
    inner.add_attachment("attached words", filename="note.txt")
    outer = message("Outer text")
    outer.add_attachment(inner)
    document = read(outer)
    paths = {section.heading_path for section in document.sections}
    assert paths == {(), ("Inner subject.eml",), ("Inner subject.eml", "note.txt")}
    assert "Inner text" in read_whole(document)


def test_mails_in_mails_without_end() -> None:
    mail = message("level 0")
    for level in range(1, 12):
        outer = message(f"level {level}")
        outer.add_attachment(mail)
        mail = outer
    document = read(mail)
    assert "level 8" in read_whole(document)
    assert any("too deep" in warning for warning in document.warnings)


def test_parts_in_parts_without_end() -> None:
    depth = 400
    opening = "".join(
        f'Content-Type: multipart/mixed; boundary="b{at}"\n\n--b{at}\n' for at in range(depth)
    )
    data = (
        f"From: a@b.c\nSubject: x\nMIME-Version: 1.0\n{opening}Content-Type: text/plain\n\ndeep\n".encode()
    )
    with pytest.raises(Unreadable, match="too_large"):
        parse("a.eml", data)


def test_only_so_many_attachments() -> None:
    mail = message()
    for at in range(5):
        mail.add_attachment(f"words {at}", filename=f"{at}.txt")
    document = read(mail, max_attachments=3)
    assert "words 2" in read_whole(document)
    assert "words 3" not in read_whole(document)
    assert document.warnings == ("Only the first 3 attachments were read.",)


@pytest.mark.parametrize(
    "data",
    [
        b"Subject: =?utf-8?b?broken\nFrom: a@b.c\nDate: never\n\nThe text\n",
        b"From: a@b.c\nContent-Type: text/plain; charset=no-such\n\nThe text\n",
        b"From: a@b.c\nContent-Type: multipart/mixed\n\nThe text\n",
        b"From: a@b.c\nContent-Transfer-Encoding: base64\nContent-Type: text/plain\n\nVGhlIHRleHQ\n",
        b"From a@b.c\nSubject: x\nContent-Disposition: inline; filename*=utf-8''%ff%fe\n\nThe text\n",
        b"Subject: x\r\n\r\nThe text\xff\xfe",
    ],
)
def test_malformed_mail_is_read_as_far_as_it_goes(data: bytes) -> None:
    assert "The text" in read_whole(parse("a.eml", data))


@pytest.mark.parametrize("kind", ["multipart/encrypted; boundary=b", "application/pkcs7-mime"])
def test_encrypted_mail(kind: str) -> None:
    data = f"Subject: x\nMIME-Version: 1.0\nContent-Type: {kind}\n\n--b\n\nVersion: 1\n--b--\n"
    assert outcome("a.eml", data.encode()) == "encrypted"


def test_a_saved_page_without_what_it_shows() -> None:
    data = (
        b'Subject: Page\nMIME-Version: 1.0\nContent-Type: multipart/related; boundary="b"\n\n'
        b"--b\nContent-Type: text/html\n\n<h1>Page</h1><p>Its text\n"
        b"--b\nContent-Type: text/css\n\nh1 { color: red }\n"
        b"--b\nContent-Type: image/png\nContent-Transfer-Encoding: base64\n\niVBORw0KGgo=\n--b--\n"
    )
    document = parse("a.mht", data)
    assert [section.heading_path for section in document.sections] == [(), ("Page",)]
    assert document.sections[-1].markdown == "Its text"
    assert document.warnings == ()


def test_the_charset_of_a_part_that_lies() -> None:
    data = "From: a@b.c\nContent-Type: text/plain; charset=us-ascii\n\nGrüße\n"
    assert "Grüße" in read_whole(parse("a.eml", data.encode()))
