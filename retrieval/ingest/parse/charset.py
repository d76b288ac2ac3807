"""Bytes to text: byte order mark, UTF-8, what the file declares, then a guess."""

from __future__ import annotations

import codecs
import re

#: Bytes that tell whether this is text; a multiple of four, for UTF-32.
_TEXT_SAMPLE = 65_536
#: Bytes that the guess looks at; text of a few hundred kilobytes tells all it will.
_SAMPLE = 200_000
_BOMS = (
    (codecs.BOM_UTF8, "utf-8-sig"),
    (codecs.BOM_UTF32_LE, "utf-32"),
    (codecs.BOM_UTF32_BE, "utf-32"),
    (codecs.BOM_UTF16_LE, "utf-16"),
    (codecs.BOM_UTF16_BE, "utf-16"),
)
#: Labels that stand for a larger charset, as the WHATWG Encoding Standard has it.
_SUPERSETS = {
    "ascii": "cp1252", "iso8859-1": "cp1252", "iso8859-9": "cp1254", "iso8859-11": "cp874",
    "tis-620": "cp874", "shift_jis": "cp932", "euc_kr": "cp949", "ks_c_5601-1987": "cp949",
    "gb2312": "gb18030", "gbk": "gb18030", "big5": "big5hkscs", "iso2022_jp": "iso2022_jp_ext",
}  # fmt: skip
_DECLARED = re.compile(
    rb"""(?:<\?xml[^>]{0,200}encoding|<meta[^>]{0,300}charset|coding)\s*[=:]\s*["']?\s*([\w.:-]{2,40})""",
    re.I,
)
#: Controls that no text holds; tab, line ends, form feed and escape are none of them.
_CONTROLS = re.compile(r"[\x00-\x08\x0b\x0e-\x1a\x1c-\x1f\x7f]")
_C1 = re.compile(r"[\x80-\x84\x86-\x9f]")
_ESCAPES = (b"\x1b$", b"\x1b(")
#: Codecs that turn text into other text.
_NO_CHARSETS = ("utf-7", "idna", "punycode", "raw_unicode_escape", "unicode_escape", "rot13")
#: Share of the characters beyond ASCII that may be broken in what is UTF-8 nevertheless.
_BROKEN = 0.02
#: With no more bytes beyond ASCII than this, a guess is worth less than the most common charset.
_TOO_FEW = 3


def decode(data: bytes, declared: str | None = None) -> str:
    """The text of `data`, without byte order mark. Never fails.

    `declared` is what a header says of it; a declaration inside it is found.
    """
    for mark, codec in _BOMS:
        if data.startswith(mark):
            return data.decode(codec, "replace").replace("\ufeff", "")
    for codec in (_without_mark(data), _escaped(data)):
        if codec is not None:
            return data.decode(codec, "replace")
    return _utf8(data) or _declared(data, declared) or _guessed(data)


def looks_like_text(data: bytes) -> str | None:
    """The beginning of `data` as text; None when it is something else."""
    text = decode(data[:_TEXT_SAMPLE])
    odd = len(_CONTROLS.findall(text)) + text.count("\ufffd")
    return text if odd <= 0.005 * len(text) or (odd <= 2 and len(text) > 40) else None


def _without_mark(data: bytes) -> str | None:
    """UTF-16 without a mark: in most scripts every other byte of it is often 0."""
    sample = data[:4096]
    if b"\0" not in sample:
        return None
    even, odd = sample[0::2].count(0), sample[1::2].count(0)
    least = len(sample) // 10
    if odd > least and even * 10 <= odd:
        return "utf-16-le"
    if even > least and odd * 10 <= even:
        return "utf-16-be"
    return None


def _escaped(data: bytes) -> str | None:
    """ISO 2022: seven bits only, with escapes between the character sets."""
    if not any(escape in data for escape in _ESCAPES) or not data.isascii():
        return None
    codec = _detected(data)
    return codec if codec and codec.startswith("iso2022") else None


def _utf8(data: bytes) -> str | None:
    try:
        return data.decode("utf-8")
    except UnicodeDecodeError:
        text = data.decode("utf-8", "replace")
    broken = text.count("\ufffd")
    beyond = sum(char > "\x7f" for char in text)
    # Cut off in the middle of a character, or a stray byte in a long text.
    return text if broken <= max(1, _BROKEN * beyond) and beyond - broken >= 4 else None


def _declared(data: bytes, declared: str | None) -> str | None:
    inside = _DECLARED.search(data[:2048])
    for label in (declared, inside.group(1).decode("ascii", "ignore") if inside else None):
        codec = _known(label)
        if codec is None or codec.startswith("utf"):
            continue
        try:
            text = data.decode(codec)
        except UnicodeDecodeError:
            continue
        if not _C1.search(text) and not _CONTROLS.search(text):
            return text
    return None


def _guessed(data: bytes) -> str:
    if sum(byte > 0x7F for byte in data[:_SAMPLE]) <= _TOO_FEW:
        return data.decode("cp1252", "replace")
    return data.decode(_detected(data) or "cp1252", "replace")


def _detected(data: bytes) -> str | None:
    import chardet  # Most files are UTF-8 and never need it.

    return _known(chardet.detect(data[:_SAMPLE])["encoding"])


def _known(label: str | None) -> str | None:
    """The codec for a label, the larger one where the label is used loosely."""
    try:
        codec = codecs.lookup((label or "").strip()).name
        codec = _SUPERSETS.get(codec, codec)
        b"a".decode(codec)
    except (LookupError, ValueError):
        return None  # Unknown, or no charset: base64 is a codec too.
    return codec if codec not in _NO_CHARSETS else None
