"""ZIP containers that are made to do harm."""

from __future__ import annotations

import io
import struct
import zipfile

import pytest

from retrieval.ingest.limits import ParseLimits
from retrieval.ingest.parse import parse
from retrieval.ingest.parse.archive import Archive
from retrieval.ingest.protocol import Unreadable
from tests.retrieval.ingest.parse.office_files import docx, paragraph, zipped

LIMITS = ParseLimits(max_unpacked_bytes=1_000_000, max_archive_entries=50)


def refused(data: bytes) -> str:
    with pytest.raises(Unreadable) as refusal:
        Archive(data, LIMITS)
    return refusal.value.reason


def test_a_bomb_is_too_large() -> None:
    assert refused(zipped({f"part{i}": b"\0" * 200_000 for i in range(6)})) == "too_large"


def test_too_many_entries() -> None:
    assert refused(zipped({f"part{i}": b"x" for i in range(51)})) == "too_large"


@pytest.mark.parametrize(
    "name", ["../../etc/passwd", "/etc/passwd", "word/..\\..\\x", "C:\\x", "\\\\host\\x"]
)
def test_names_that_lead_out_of_it(name: str) -> None:
    assert refused(zipped({name: b"x"})) == "corrupt"


def test_encrypted_entries() -> None:
    data = bytearray(zipped({"word/document.xml": b"x" * 100}))
    for signature, at in ((b"PK\x03\x04", 6), (b"PK\x01\x02", 8)):
        struct.pack_into("<H", data, data.index(signature) + at, 1)
    assert refused(bytes(data)) == "encrypted"


@pytest.mark.parametrize(
    "data",
    [b"PK\x03\x04", b"PK\x05\x06" + b"\xff" * 18, zipped({"a": b"x" * 999})[:-30]],
    ids=["start", "end", "cut"],
)
def test_damaged_archives(data: bytes) -> None:
    assert refused(data) == "corrupt"


def test_an_entry_with_a_wrong_checksum() -> None:
    data = bytearray(zipped({"a": b"hello" * 50}, stored=("a",)))
    data[data.index(b"hello")] ^= 0xFF
    with pytest.raises(Unreadable, match="corrupt"):
        Archive(bytes(data), LIMITS).read("a")


def test_an_entry_that_holds_more_than_it_says() -> None:
    data = bytearray(zipped({"a": b"\0" * 900_000}))
    for signature, at in ((b"PK\x03\x04", 22), (b"PK\x01\x02", 24)):
        struct.pack_into("<I", data, data.index(signature) + at, 10)
    with pytest.raises(Unreadable, match="corrupt"):
        Archive(bytes(data), LIMITS).read("a")


def test_a_missing_entry() -> None:
    assert Archive(zipped({"a": b"x"}), LIMITS).read("b") is None


def test_archives_in_a_document_are_not_unpacked() -> None:
    inner = zipped({"bomb": b"\0" * 5_000_000})
    with zipfile.ZipFile(io.BytesIO(docx(paragraph("Harmless text")))) as file:
        parts: dict[str, str | bytes] = {name: file.read(name) for name in file.namelist()}
    data = zipped({**parts, "word/embeddings/a.zip": inner, "word/embeddings/b.docx": inner})
    document = parse("a.docx", data, limits=LIMITS)
    assert [section.markdown for section in document.sections] == ["Harmless text"]
