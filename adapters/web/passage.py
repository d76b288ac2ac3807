"""A passage as people read it, tables as tables and code as code, with the cited words marked."""

from __future__ import annotations

import re
from html import escape
from itertools import pairwise

from adapters.web.markdown import to_html

#: Around each cited word while Markdown is made HTML. Unicode has no characters there, and never will.
_OPEN, _CLOSE = "\ufdd0", "\ufdd1"
#: Words: signs of Markdown are ASCII, so what is between them and spaces has none.
_WORD = re.compile(rf"[^\s!-/:-@\[-`{{-~{_OPEN}{_CLOSE}]+")
#: Words that are Markdown themselves: a list's numbers, a fence's language, entities, where links lead.
_SYNTAX = re.compile(
    r"^[\s>*+-]*\d{1,9}[.)](?=\s)|^[\s>]*(?:`{3,}|~{3,}).*$|^\s*\[[^\]\n]+\]:.*$"
    r"|&#?\w+;|\]\([^)\n]*\)|<[A-Za-z][\w+.-]*:[^>\s]*>",
    re.MULTILINE,
)
_TAG = re.compile(r"<[^>]*>")
#: Marks with nothing but punctuation and spaces between them are one.
_SPLIT = re.compile(rf"{_CLOSE}([^<{_OPEN}]*){_OPEN}")
#: Two marks with only tags inside a line between them: each goes on to its tag.
_INLINE = r"(?:</?(?:strong|em|s|code|a)\b[^>]*>)+"
_APART = re.compile(rf"{_CLOSE}([^<{_OPEN}]*)({_INLINE})([^<{_OPEN}]*){_OPEN}")
_PUNCTUATION = re.compile(r"[.,;:!?%)\]\"']+")


def passage_html(passage: str, span: tuple[int, int]) -> str:
    """HTML of a passage of Markdown; the words of `span` (start and end within it) are marked.

    The first mark has the id "mark". An empty span marks nothing. Where marks would change what the
    Markdown means, the passage is shown as the text that it is.
    """
    text = passage.replace(_OPEN, "\ufffd").replace(_CLOSE, "\ufffd")
    start, end = span
    plain = to_html(text, marks={})
    if end <= start:
        return plain
    marked, last = _with_words_marked(text, start, end)
    html = to_html(marked, marks={})
    html = _TAG.sub(lambda tag: _without(tag[0]), html)
    if _OPEN not in html or _without(html) != plain:
        return _as_text(text, start, end)
    html = _SPLIT.sub(r"\1", html)
    html = _APART.sub(rf"\1{_CLOSE}\2{_OPEN}\3", html)
    html = _with_last_punctuation(html, text[last:end])
    return html.replace(_OPEN, '<mark id="mark">', 1).replace(_OPEN, "<mark>").replace(_CLOSE, "</mark>")


def _with_words_marked(text: str, start: int, end: int) -> tuple[str, int]:
    """The text with each word of the span between marks, and where the last of them ends."""
    syntax = [match.span() for match in _SYNTAX.finditer(text)]
    words = [
        (max(start, word.start()), min(end, word.end()))
        for word in _WORD.finditer(text)
        if word.end() > start
        and word.start() < end
        and not any(low < word.end() and word.start() < high for low, high in syntax)
    ]
    if not words:
        return text, start
    pieces = [text[: words[0][0]]]
    for (low, high), (following, _) in pairwise([*words, (len(text), len(text))]):
        pieces.append(f"{_OPEN}{text[low:high]}{_CLOSE}{text[high:following]}")
    return "".join(pieces), words[-1][1]


def _without(html: str) -> str:
    return html.replace(_OPEN, "").replace(_CLOSE, "")


def _with_last_punctuation(html: str, rest: str) -> str:
    """The full stop of a cited sentence is cited too."""
    found = _PUNCTUATION.match(rest)
    if found is None:
        return html
    head, _, tail = html.rpartition(_CLOSE)
    sign = escape(found[0], quote='"' in found[0] and "&quot;" in tail)
    return f"{head}{sign}{_CLOSE}{tail.removeprefix(sign)}" if tail.startswith(sign) else html


def _as_text(text: str, start: int, end: int) -> str:
    before, words, after = escape(text[:start]), escape(text[start:end]), escape(text[end:])
    return f'<p class="plain">{before}<mark id="mark">{words}</mark>{after}</p>'
