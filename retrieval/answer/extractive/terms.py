"""Words as they are compared: folded, cut to a stem of sorts, with the place where they stand."""

from __future__ import annotations

import re
import unicodedata
from dataclasses import dataclass
from functools import lru_cache

#: Letters, digits and the vowel signs and tones that Indic and South-East Asian scripts write as
#: separate marks (which `\w` leaves out); apostrophes and hyphens stay outside.
_MARKS = "\u0300-\u036f\u064b-\u065f\u0670\u0900-\u0dff\u0e00-\u0eff\u1000-\u109f\u1780-\u17ff"
_NUMBER = r"\d+(?:[.,:]\d+)*"
_UNSPACED = "\u0e00-\u0eff\u1000-\u109f\u1780-\u17ff\u3040-\u30ff\u3400-\u9fff\uf900-\ufaff"
_TOKEN = re.compile(
    rf"(?P<number>{_NUMBER})|(?P<unspaced>[{_UNSPACED}]+)|(?:[^\W\d_{_UNSPACED}]|[{_MARKS}])+"
)
_THOUSANDS = re.compile(r"\d{1,3}(?:[.,]\d{3})+\Z")

#: Scripts without spaces are compared by overlapping pairs of characters.
_PAIR = 2
#: Words are compared by this many first letters: no stemmer knows the language of a question of
#: three words, and endings carry little of what is asked.
STEM = 6
#: Korean puts particles after the noun, without a space: its first two syllables are the word.
HANGUL_STEM = 2
_HANGUL = re.compile("[\uac00-\ud7af]")


@dataclass(frozen=True, slots=True)
class Term:
    """One word, number or pair of characters, `text[start:end]` of where it was found."""

    key: str
    start: int
    end: int
    number: bool = False


def terms_of(text: str) -> list[Term]:
    """The terms of a text in order. Linear in its length."""
    terms: list[Term] = []
    for found in _TOKEN.finditer(text):
        start, end = found.span()
        if found.lastgroup == "number":
            terms.append(Term(_number(found.group()), start, end, number=True))
        elif found.lastgroup == "unspaced":
            run = found.group()
            for at in range(max(1, len(run) - _PAIR + 1)):
                pair = run[at : at + _PAIR]
                terms.append(Term(pair, start + at, start + at + len(pair)))
        else:
            terms.append(Term(stem(found.group()), start, end))
    return terms


@lru_cache(maxsize=65536)
def stem(word: str) -> str:
    """A word without case, accents and ending: "expires" and "expiry" share nothing but "expir"."""
    plain = fold(word)
    if _HANGUL.match(plain):
        return plain[:HANGUL_STEM]
    return plain[:STEM] if len(plain) > STEM else _singular(plain)


def fold(text: str) -> str:
    """A text without case and accents."""
    text = text.casefold()
    if text.isascii():
        return text
    apart = unicodedata.normalize("NFKD", text)
    return unicodedata.normalize("NFC", "".join(c for c in apart if not "\u0300" <= c <= "\u036f"))


def _singular(word: str) -> str:
    """Without the plural's s, so that "key" meets "keys" though both are shorter than a stem."""
    return word[:-1] if len(word) > 3 and word[-1] == "s" and word[-2] not in "sui" else word


def _number(digits: str) -> str:
    """One form for "1,234", "1.234" and "1234"; "3,5" equals "3.5"."""
    if _THOUSANDS.match(digits):
        return digits.replace(",", "").replace(".", "")
    return digits.replace(",", ".")
