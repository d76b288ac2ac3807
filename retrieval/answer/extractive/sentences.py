"""Where sentences end, in many scripts, told from the text alone and in one pass."""

from __future__ import annotations

import re

from retrieval.answer.lexicon import load

Span = tuple[int, int]

#: Longer sentences are cut at a clause or a space, so that a text without stops stays quotable.
MAX_CHARS = 500
#: Thai, Lao, Khmer and Burmese put a space, not a stop, between sentences and clauses alike:
#: pieces are joined until they have about a sentence's length.
SPACED_SCRIPT_CHARS = 120

#: Full-width stops end a sentence wherever they stand; the others only before white space.
_STOP = re.compile(
    r"(?:[。！？｡]|[.!?…؟۔।॥።⁇⁈⁉]+)"
    r"[!?！？。…]*"
    r"[\"'”“’»）)\]}」』】*_`]*"
    r"(?:\[\d{1,3}\])*"
)
_WIDE_STOPS = frozenset("。！？｡")
_SPACED_SCRIPTS = re.compile(r"[\u0E00-\u0EFF\u1000-\u109F\u1780-\u17FF]")
_CLAUSE = re.compile(r"[;；:：،؛，、](?:\s|\b)|,\s|\s[–—-]\s")
_SPACE = re.compile(r"\s")
_PARAGRAPH = re.compile(r"\n[ \t]*(?:\n[ \t]*)+")
#: What ends the search for the word before a full stop, and how far it goes: no abbreviation is longer.
_WORD_BOUNDS = frozenset(" \t\n\r\xa0([\"'“„«")
_LONGEST_ABBREVIATION = 16

_WORDS = {
    kind: frozenset(" ".join(lists.values()).split()) for kind, lists in load("abbreviations").items()
}


def sentence_spans(text: str, start: int = 0, end: int | None = None) -> list[Span]:
    """Spans of the sentences of `text[start:end]`, in order, without white space around them.

    They cover everything but white space. A line break counts as white space, an empty line ends
    a sentence. Works for prose; structure (lists, tables, code) is the business of `units`.
    """
    end = len(text) if end is None else end
    spans: list[Span] = []
    begin = start
    for gap in _PARAGRAPH.finditer(text, start, end):
        _prose(text, begin, gap.start(), spans)
        begin = gap.end()
    _prose(text, begin, end, spans)
    return spans


def _prose(text: str, start: int, end: int, spans: list[Span]) -> None:
    begin = start
    for stop in _STOP.finditer(text, start, end):
        if _ends(text, begin, stop, end):
            _add(text, begin, stop.end(), spans)
            begin = stop.end()
    _add(text, begin, end, spans)


def _ends(text: str, begin: int, stop: re.Match[str], end: int) -> bool:
    """Whether the stop ends the sentence that begins at `begin`."""
    at, after = stop.start(), stop.end()
    if after >= end or text[at] in _WIDE_STOPS:
        return True
    if not text[after].isspace():
        return False
    following = _next_visible(text, after, end)
    if following is None or text[at] not in ".…":
        return following is None or not following.islower()
    if following.islower():
        return False
    word = _word_before(text, begin, at)
    if not word:
        return at > begin
    if len(word) == 1 and word.isalpha() and not _wide(word):
        return False
    if word in _WORDS["always"]:
        return False
    if word in _WORDS["before_number"]:
        return not following.isdigit()
    if word in _WORDS["not_before_capital"]:
        return following.isupper()
    if "." in word and all(len(part) <= 2 for part in word.split(".")) and not word[0].isdigit():
        return False
    if word.isdigit():
        return len(word) > 2 or not _ordinal(text, begin, at - len(word))
    return True


def _word_before(text: str, begin: int, at: int) -> str:
    """The word that ends at `at`, lower case; its end if it is long."""
    start = at
    while start > max(begin, at - _LONGEST_ABBREVIATION) and text[start - 1] not in _WORD_BOUNDS:
        start -= 1
    return text[start:at].lower()


def _ordinal(text: str, begin: int, at: int) -> bool:
    """Whether the number at `at` opens the sentence ("1. Open …") or follows "der", "am" and such."""
    words = text[max(begin, at - 24) : at].split()
    return not words or words[-1].lower() in _WORDS["before_ordinal"]


def _next_visible(text: str, at: int, end: int) -> str | None:
    """The next character that isn't white space or an opening mark."""
    for position in range(at, min(end, at + 64)):
        if not text[position].isspace() and text[position] not in "\"'“„«‘(*_[`":
            return text[position]
    return None


def _wide(char: str) -> bool:
    return "\u2e80" <= char <= "\u9fff" or "\uac00" <= char <= "\ud7af"


def _add(text: str, start: int, end: int, spans: list[Span]) -> None:
    """Append the span without the white space around it, cut where it is too long."""
    while start < end and text[start].isspace():
        start += 1
    while end > start and text[end - 1].isspace():
        end -= 1
    if start == end:
        return
    target = MAX_CHARS
    if end - start > SPACED_SCRIPT_CHARS and _SPACED_SCRIPTS.search(text, start, end):
        target = SPACED_SCRIPT_CHARS
    while end - start > target:
        cut = _cut(text, start, min(end, start + 2 * target), target)
        if cut >= end:
            break
        stop = cut
        while stop > start and text[stop - 1].isspace():
            stop -= 1
        spans.append((start, stop))
        start = cut
        while start < end and text[start].isspace():
            start += 1
    if start < end:
        spans.append((start, end))


def _cut(text: str, start: int, limit: int, target: int) -> int:
    """Where to cut: the last clause mark before `target`, else the last space, else the next one."""
    for mark in (_CLAUSE, _SPACE):
        ends = [found.end() for found in mark.finditer(text, start + target // 2, start + target)]
        if ends:
            return ends[-1]
    space = _SPACE.search(text, start + target, limit)
    return space.end() if space else limit
