"""What can be checked in a sentence word by word: quantities, times, dates, names and identifiers."""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import dataclass

from retrieval.answer.extractive.terms import fold, identifiers_of
from retrieval.evaluation.judge.words import units, values

_CLOCK = re.compile(
    r"(?<![\d:])(\d{1,2}):(\d{2})(?!\d)(?:\s*([ap])\.?m\b\.?)?|\b(\d{1,2})\s*([ap])\.?m\b\.?|\b(\d{1,2})\s+Uhr\b",
    re.I,
)
_ISO = re.compile(r"\b\d{4}-(\d{2})-(\d{2})\b")
_HAN_DATE = re.compile(r"(\d{1,2})月(?:(\d{1,2})日)?")
_WORD_DATE = re.compile(
    r"\b(\d{1,2})\.?(?:\s+(?:de\s+)?)([^\W\d_]{3,})|([^\W\d_]{3,})\s+(\d{1,2})\b(?!\s*[:%])"
)
_WORD = re.compile(r"[^\W\d_]+(?:['’-][^\W\d_]+)*")
_NUMBER = re.compile(r"(?<![\w.])(?:\$|€)?\d+(?:[.,]\d+)*")
_UNIT = re.compile(r"\s*(%|€|\$|[^\W\d_]{1,12})")
#: "a minute", "pro Monat", "par mois", "每月".
_RATE = re.compile(r"\b(?:an?|per|each|pro|par|por|al)\s+([^\W\d_]+)|[每毎]([^\W\d_]{1,2})", re.I)
_HAN_NUMBER = re.compile(r"[二两三四五六七八九十]+(?=[^\W\d_])")
_THOUSANDS = re.compile(r"\d{1,3}(?:[.,]\d{3})+\Z")
_HANDLE = re.compile(r"[\w.+-]+@[\w-]+(?:\.[\w-]+)+|#[\w-]{2,}|`[^`\n]+`")
_HAN_KANA = re.compile("[\u3040-\u30ff\u3400-\u9fff]")
_LATIN_NAME = re.compile(r"(?<![.!?:>|]\s)(?<!^)\b[A-Z][^\W\d_]{2,}(?:['’-][^\W\d_]+)*(?!\w)", re.M)


Read = Callable[[re.Match[str]], "list[Quantity]"]


@dataclass(frozen=True, slots=True)
class Quantity:
    """`dimension` is "" for a bare number. Values are in the dimension's smallest unit."""

    dimension: str
    value: float

    def meets(self, other: Quantity) -> bool:
        """The same amount, where a bare number meets that of any plain measure."""
        if abs(self.value - other.value) > 1e-6 * max(1.0, abs(self.value)):
            return False
        return self.dimension == other.dimension or not (self.dimension and other.dimension)


def quantities(text: str) -> list[Quantity]:
    """All numbers, in digits and words, with their units; times of day, dates and weekdays."""
    found: list[Quantity] = []
    text = _taken(_ISO, text, found, _iso_date)
    text = _taken(_CLOCK, text, found, _clock)
    text = _taken(_HAN_DATE, text, found, _han_date)
    text = _taken(_WORD_DATE, text, found, _word_date)
    for word, value in values("weekdays").items():
        if _HAN_KANA.match(word) and word in text:
            found.append(Quantity("weekday", value))
            text = text.replace(word, " ")
    for match in _NUMBER.finditer(text):
        found += _measure(match, text)
    for match in _HAN_NUMBER.finditer(text):
        # Alone they are parts of other words.
        dimension, factor = _unit_after(text, match.end())
        if dimension and match[0] in values("numbers"):
            found.append(Quantity(dimension, values("numbers")[match[0]] * factor))
    for word in _WORD.finditer(text):
        found += _worded(word, text)
    return found


def rates(text: str) -> frozenset[tuple[str, float]]:
    """What amounts are for: ("time", 60.0) for "a minute"."""
    found = (units().get((match[1] or match[2]).casefold()) for match in _RATE.finditer(text))
    return frozenset(rate for rate in found if rate is not None)


def names(text: str, language: str | None) -> frozenset[str]:
    """Folded. Capitalised words that begin no sentence, and everywhere what is spelled one way only:
    identifiers, addresses, channels and code. German writes every noun so, and has only the latter.
    """
    exact = {handle.strip("`") for handle in _HANDLE.findall(text)}
    words = {fold(word) for word in exact} | set(identifiers_of(text))
    if language != "de":
        calendar = values("months").keys() | values("weekdays").keys()
        words |= {fold(w) for w in _LATIN_NAME.findall(text) if w.casefold() not in calendar}
    return frozenset(words)


def holds_name(name: str, text: str) -> bool:
    """Whether a text names it: as a whole word, or without its separators."""
    folded = fold(text)
    if re.search(rf"(?<!\w){re.escape(name)}(?!\w)", folded):
        return True
    return name in identifiers_of(text)


def _taken(pattern: re.Pattern[str], text: str, found: list[Quantity], read: Read) -> str:
    """The text without what `read` made quantities of, so that nothing is counted twice."""

    def replace(match: re.Match[str]) -> str:
        made = read(match)
        found.extend(made)
        return " " if made else match[0]

    return pattern.sub(replace, text)


def _iso_date(match: re.Match[str]) -> list[Quantity]:
    return [Quantity("date", int(match[1]) * 100 + int(match[2]))]


def _clock(match: re.Match[str]) -> list[Quantity]:
    hour, minute = int(match[1] or match[4] or match[6]), int(match[2] or 0)
    half = (match[3] or match[5] or "").lower()
    if half:
        hour = hour % 12 + (12 if half == "p" else 0)
    return [Quantity("clock", hour * 60 + minute)]


def _han_date(match: re.Match[str]) -> list[Quantity]:
    return (
        [Quantity("date", int(match[1]) * 100 + int(match[2]))]
        if match[2]
        else [Quantity("month", int(match[1]))]
    )


def _word_date(match: re.Match[str]) -> list[Quantity]:
    day, word = (match[1], match[2]) if match[1] else (match[4], match[3])
    month = values("months").get(word.casefold())
    return [Quantity("date", month * 100 + int(day))] if month else []


def _measure(match: re.Match[str], text: str) -> list[Quantity]:
    digits = match[0].lstrip("$€")
    value = float(
        digits.replace(",", "").replace(".", "") if _THOUSANDS.match(digits) else _decimal(digits)
    )
    if match[0] != digits:
        return [Quantity("dollar" if match[0][0] == "$" else "euro", value)]
    dimension, factor = _unit_after(text, match.end())
    return [Quantity(dimension, value * factor)]


def _decimal(digits: str) -> str:
    whole, *rest = digits.replace(",", ".").split(".")
    return whole + ("." + "".join(rest) if rest else "")


def _unit_after(text: str, at: int) -> tuple[str, float]:
    """The unit there, or one word further on: "24 more hours"."""
    match = _UNIT.match(text, at)
    if match is None:
        return "", 1.0
    word = match[1].casefold()
    if word in units():
        return units()[word]
    after = _UNIT.match(text, match.end())
    if after is not None and match[1].islower() and after[1].casefold() in units():
        return units()[after[1].casefold()]
    if _HAN_KANA.match(word):
        for length in (3, 2, 1):
            if word[:length] in units():
                return units()[word[:length]]
    return "", 1.0


def _worded(word: re.Match[str], text: str) -> list[Quantity]:
    folded = word[0].casefold()
    if (value := values("numbers").get(folded)) is not None:
        dimension, factor = _unit_after(text, word.end())
        return [Quantity(dimension, value * factor)]
    if folded in values("weekdays"):
        return [Quantity("weekday", values("weekdays")[folded])]
    if folded in values("months") and word[0][0].isupper() and folded not in ("may", "march"):
        return [Quantity("month", values("months")[folded])]
    return []
