"""Text to raw terms: words, identifiers whole and in parts, and runs of scripts without spaces.

This stage knows no language; stems and stop words come after it (`bm25.py`).
"""

from __future__ import annotations

import re
import unicodedata
from dataclasses import dataclass, field
from itertools import chain

#: Longer words are no words: encoded data, or an attack. They are left out.
MAX_WORD = 128
#: A word that falls into more pieces (a digest, a random key) is kept whole only.
MAX_PIECES = 6

# Combining marks are part of a word, but not of `\w`: vowel signs of Indic scripts, niqqud, accents
# for which there is no composed character.
_MARKS = "".join(
    chr(c)
    for c in chain(range(0x300, 0x3000), range(0xA66F, 0xAC00), range(0xFE20, 0xFE30))
    if unicodedata.category(chr(c)).startswith("M")
)
_HAN = "\u2e80-\u2fdf\u3005-\u3007\u3400-\u4dbf\u4e00-\u9fff\uf900-\ufaff\U00020000-\U0003ffff"
_KANA = "\u3041-\u309f\u30a1-\u30fa\u30fc-\u30ff\u31f0-\u31ff"
_HANGUL = "\u1100-\u11ff\u3131-\u318f\ua960-\ua97f\uac00-\ud7ff"
_THAI = "\u0e00-\u0e7f"
_LAO_BURMESE_KHMER = "\u0e80-\u0eff\u1000-\u109f\u1780-\u17ff"
_UNSPACED = _HAN + _KANA + _HANGUL + _THAI + _LAO_BURMESE_KHMER
_LETTER = rf"(?:(?![{_UNSPACED}])[\w{_MARKS}])"

_RUN = re.compile(f"[{_UNSPACED}]+")
_THAI_RUN = re.compile(f"[{_THAI}]+")
_COMPOUND = re.compile(
    rf"{_LETTER}+(?:(?:[-./:@+#]{{1,3}}|(?<=\d),(?=\d)){_LETTER}+)*(?:\+\+(?!\w)|#(?!\w))?"
)
_SEGMENT = re.compile(r"[/:@+#]+")
_PART = re.compile(r"[-._,]+")
_SEPARATOR = re.compile(r"[-._,/:@+#]+")
_DIGITS_OR_NOT = re.compile(r"\d+|\D+")
_HUMP = re.compile(r"[A-Z]+(?![a-z])|[A-Z]?[a-z]+")
# What stands before or after an apostrophe as a single letter is grammar: l'amour, it's, don't.
_ELISION = re.compile(r"\b\w['’ʼ](?=\w)|(?<=\w)['’ʼ]\w\b")
_NOT_SPACE = re.compile(r"\S{1,256}")
_FOREIGN_DIGIT = re.compile(r"[^\D0-9]")
#: Invisible inside a word: soft hyphen, zero-width characters. Hyphens that are minus signs.
_TIDY = {0xAD: None, 0x200B: None, 0x200C: None, 0x200D: None, 0x2060: None, 0xFEFF: None} | dict.fromkeys(
    (0x2010, 0x2011, 0x2212), "-"
)


@dataclass(frozen=True, slots=True)
class Terms:
    """Raw terms of a text, lower-cased, with repeats."""

    #: Each counts one towards the length of the text.
    words: list[str] = field(default_factory=list[str])
    #: Further forms of the same words: whole identifiers and pieces of words. They add no length.
    forms: list[str] = field(default_factory=list[str])
    #: Runs of Han, kana, Hangul, Thai, Lao, Burmese or Khmer, still to be segmented.
    runs: list[str] = field(default_factory=list[str])


def terms_of(text: str) -> Terms:
    """Split any string, however long or broken, in time linear in its length."""
    text = _ELISION.sub("", _normal(text))
    terms = Terms(runs=_RUN.findall(text))
    for match in _COMPOUND.finditer(text):
        _add(match[0], terms)
    return terms


def bigrams(run: str) -> list[str]:
    """Overlapping pairs of characters, which no segmenter can get wrong.

    None for Thai, where letters are too small a unit. A single character stands for itself.
    """
    if _THAI_RUN.fullmatch(run):
        return []
    return [run[i : i + 2] for i in range(len(run) - 1)] or [run]


def without_accents(word: str) -> str:
    """The word as people type it in a hurry; only Latin letters lose their accents."""
    if word.isascii():
        return word
    apart = unicodedata.normalize("NFD", word)
    return "".join(c for c in apart if not unicodedata.combining(c)) if apart[0] < "\u0370" else word


def _normal(text: str) -> str:
    """NFKC with plain digits and hyphens.

    A word at a time, since on a long row of combining marks normalisation takes quadratic time.
    """
    if text.isascii():
        return text
    text = _NOT_SPACE.sub(lambda m: unicodedata.normalize("NFKC", m[0]), text.translate(_TIDY))
    return _FOREIGN_DIGIT.sub(lambda m: str(unicodedata.digit(m[0])), text)


def _add(compound: str, terms: Terms) -> None:
    """`ERR_CONN_4092` gives err, conn, 4092 and errconn4092, its whole however it is punctuated."""
    if compound.isalpha() and len(compound) <= MAX_WORD and compound[1:].islower():
        terms.words.append(_lower(compound))  # a plain word, as most are
        return
    segments = _SEGMENT.split(compound)
    for segment in segments:
        parts = [part for part in _PART.split(segment) if part]
        for part in parts:
            if len(part) <= MAX_WORD:
                terms.words.append(_lower(part))
                terms.forms.extend(_pieces(part))
        if len(parts) > 1 and len(segments) > 1:
            _add_whole(segment, terms)
    if _SEPARATOR.search(compound):
        _add_whole(compound, terms)


def _add_whole(compound: str, terms: Terms) -> None:
    """Without separators, but between digits a dot: 2.3.1 is not 23.1, and 1,190 is 1190."""
    if len(compound) > MAX_WORD:
        return
    whole = _lower(_SEPARATOR.sub(_joint, compound))
    if whole:
        terms.forms.append(whole)
    if re.match(r"v\d", whole):
        terms.forms.append(whole[1:])


def _joint(match: re.Match[str]) -> str:
    before, after = match.string[: match.start()][-1:], match.string[match.end() :][:1]
    if not after:
        return match[0].strip("-._,/:@")
    return "." if before.isdigit() and after.isdigit() and match[0] != "," else ""


def _pieces(part: str) -> list[str]:
    """`XJ900` gives xj and 900, `camelCase` camel and case; single letters are left out."""
    runs = _DIGITS_OR_NOT.findall(part)
    pieces = runs if len(runs) > 1 else []
    if not (part.islower() or part.isupper()):
        humps = [hump for run in runs if run.isascii() for hump in _HUMP.findall(run)]
        pieces = pieces + [hump for hump in humps if hump not in runs]
    if len(pieces) > MAX_PIECES:
        return []
    return [_lower(piece) for piece in pieces if len(piece) > 1]


def _lower(word: str) -> str:
    """Without the dot that lower-casing puts above the i of İstanbul."""
    return word.lower().replace("i\u0307", "i")
