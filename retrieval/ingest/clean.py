"""Text as it leaves a parser, made safe to normalise, store, embed and show."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterator

import regex

from retrieval.documents import ParsedDocument, Section

# Control characters and lone surrogates (which no encoder takes), non-characters, byte order marks,
# soft hyphens (which hide words from search), direction overrides (which turn the text around them
# when it is quoted) and tag characters (invisible text that a model reads and a person doesn't).
# U+200B to U+200F stay: Thai, Khmer, Persian and emoji need them.
_UNWANTED = re.compile(
    "[\x00-\x08\x0e-\x1f\x7f-\x84\x86-\x9f\xad\u2060\u202a-\u202e\u2066-\u2069\ufeff\ufff9-\uffff"
    "\ud800-\udfff\U000e0000-\U000e007f]"
)
_BLANK_LINES = re.compile(r"\n(?:[ \t]*\n){3,}")
_LINE_ENDS = re.compile("\r\n|[\r\x0b\x0c\x85\u2028\u2029]")
# Canonical ordering takes quadratic time over a run of combining marks. 30 is the bound of Unicode's
# Stream-Safe Text Format (UAX #15); no language needs as many.
_MARKS = regex.compile(r"(\p{M}{30})\p{M}+")

_SAFE = re.compile("[ -~]")
_PART = 65_536  # characters

# U+200C and U+200D stay inside a line: words of Persian and emoji are spelled with them.
_INVISIBLE = re.compile(
    "[\u00ad\u034f\u061c\u115f\u1160\u17b4\u17b5\u180b-\u180f\u200b\u200e\u200f\u2060-\u206f\u3164\ufeff\uffa0]"
)
_SPACES = re.compile(r"\s+")


def clean(text: str) -> str:
    """`text` in NFC, without what no reader sees, lines ended by "\\n", at most two of them blank in a row.

    Linear time.
    """
    text = _UNWANTED.sub("", _LINE_ENDS.sub("\n", text))
    text = _BLANK_LINES.sub("\n\n\n", text)
    if text.isascii():
        return text
    return unicodedata.normalize("NFC", _MARKS.sub(r"\1", text))


def clean_line(text: str, limit: int) -> str:
    """`text` as one visible line of at most `limit` characters, for titles and headings."""
    # Far more than `limit` is never shown; this keeps a megabyte "title" cheap.
    line = clean(_SPACES.sub(" ", text[: limit * 8]))
    line = _SPACES.sub(" ", _INVISIBLE.sub("", line)).strip(" \u200c\u200d")
    if len(line) <= limit:
        return line
    start = line[: limit - 1]
    words, _, _ = start.rpartition(" ")
    return (words if 2 * len(words) >= limit else start).rstrip() + "…"


def clean_in_parts(text: str) -> Iterator[str]:
    """Parts of `text`, each clean and short enough to take a few milliseconds; together the whole text."""
    start = 0
    while start < len(text):
        # In front of a printable ASCII character nothing is composed, nor is a line end divided.
        safe = _SAFE.search(text, start + _PART, start + 2 * _PART)
        stop = safe.start() if safe else start + 2 * _PART
        yield clean(text[start:stop])
        start = stop


def cleaned(section: Section, markdown: str) -> Section:
    """The section with its text, cleaned already, and headings clean."""
    path = tuple(map(clean, section.heading_path))
    if markdown == section.markdown and path == section.heading_path:
        return section
    return section.model_copy(update={"markdown": markdown, "heading_path": path})


def clean_document(parsed: ParsedDocument) -> ParsedDocument:
    """The document with all its text clean, warnings and title left as they are."""
    sections = tuple(cleaned(s, "".join(clean_in_parts(s.markdown))) for s in parsed.sections)
    return parsed.model_copy(update={"sections": sections})
