"""Bytes to text, whatever the charset says or does not say."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from retrieval.ingest.parse.charset import decode, looks_like_text

RUSSIAN = "Однажды, в студёную зимнюю пору, я из лесу вышел; был сильный мороз. Гляжу, поднимается."
JAPANESE = "吾輩は猫である。名前はまだ無い。どこで生れたかとんと見当がつかぬ。"
CHINESE = "话说天下大势，分久必合，合久必分。周末七国分争，并入于秦。及秦灭之后，楚、汉分争，又并入于汉。"
KOREAN = "나는 왕이로소이다. 어머니의 가장 어여쁜 아들, 나는 왕이로소이다. 가장 가난한 농군의 아들로서."
GERMAN = "Über allen Gipfeln ist Ruh, in allen Wipfeln spürest du kaum einen Hauch; warte nur."
ARABIC = "في قرية من القرى كان هناك رجل حكيم يعرف كل شيء عن الحياة وكان يعلم الناس كيف يعيشون بسلام"
GREEK = "Μήνιν άειδε θεά Πηληιάδεω Αχιλήος ουλομένην, η μυρί Αχαιοίς άλγε έθηκε, πολλάς δ ιφθίμους ψυχάς"


@pytest.mark.parametrize(
    ("text", "codec"),
    [
        *(
            (RUSSIAN, codec)
            for codec in ("utf-8", "utf-8-sig", "utf-16", "utf-32", "cp1251", "koi8-r", "cp866")
        ),
        *((JAPANESE, codec) for codec in ("utf-8", "shift_jis", "euc-jp", "iso2022_jp", "utf-16")),
        *((CHINESE, codec) for codec in ("gb18030", "gb2312", "gbk")),
        *((KOREAN, codec) for codec in ("euc-kr", "cp949")),
        *((GERMAN, codec) for codec in ("cp1252", "latin-1", "utf-16-le", "utf-16-be")),
        (ARABIC, "cp1256"),
        (GREEK, "cp1253"),
    ],
)
def test_text_without_a_declaration(text: str, codec: str) -> None:
    assert decode(text.encode(codec)) == text


@pytest.mark.parametrize(
    "page",
    [
        '<meta charset="{}">',
        "<meta http-equiv='Content-Type' content='text/html; charset={}'>",
        '<?xml version="1.0" encoding="{}"?>',
    ],
)
def test_a_declaration_that_holds(page: str) -> None:
    text = page.format("iso-8859-2") + "Łódź, Kraków, Gdańsk"
    assert decode(text.encode("iso-8859-2")) == text


def test_a_declaration_that_lies() -> None:
    text = '<meta charset="iso-8859-1">' + RUSSIAN
    assert decode(text.encode("utf-8")) == text
    lie = '<meta charset="utf-8">' + ARABIC
    assert decode(lie.encode("cp1256")) == lie


def test_what_a_header_declares() -> None:
    assert decode("Łódź".encode("iso-8859-2"), "iso-8859-2") == "Łódź"
    assert decode("Łódź".encode(), "iso-8859-2") == "Łódź"
    for label in ("no-such-charset", "base64", "rot13", "unicode_escape", "utf-7", "\0"):
        assert decode("naïve café".encode("cp1252"), label) == "naïve café"


def test_utf8_with_a_broken_end_stays_utf8() -> None:
    assert decode(RUSSIAN.encode()[:-1]).startswith(RUSSIAN[:-1])


@given(st.binary(max_size=3000))
def test_any_bytes_become_text_without_surrogates(data: bytes) -> None:
    decode(data).encode("utf-8")
    looks_like_text(data)


@given(st.text(st.characters(codec="utf-8", exclude_characters="\0\x1b\ufeff"), min_size=1))
def test_utf8_is_read_as_it_was_written(text: str) -> None:
    assert decode(text.encode()) == text


@pytest.mark.parametrize("data", [b"\0" * 100, bytes(range(256)) * 4, b"\x7fELF\x02\x01\x01" + b"\0" * 64])
def test_binary_is_no_text(data: bytes) -> None:
    assert looks_like_text(data) is None
