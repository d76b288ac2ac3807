"""The sentence that a citation mark supports."""

from __future__ import annotations

import re

from retrieval.answer.extractive.sentences import Span, sentence_spans

_LIST_MARK = re.compile(r"\s*(?:>\s*)*(?:[-*+•]\s+|\d{1,3}[.)]\s+|#{1,6}\s+)?")
_FORMATTING = re.compile(r"[*`|]+|(?<!\w)_+|_+(?!\w)")
_WORD = re.compile(r"\w")


def claim_at(text: str, position: int) -> str:
    """The sentence at `position` of an answer without its marks, free of Markdown.

    That is the last sentence that begins before the mark on its line; for a mark at the head of a
    line the sentence after it; for a mark alone on its line the last sentence above.
    """
    start = text.rfind("\n", 0, position) + 1
    spans = _sentences(text, start)
    before = [span for span in spans if span[0] < position]
    if spans:
        return _bare(text[slice(*(before[-1] if before else spans[0]))])
    while start:
        start = text.rfind("\n", 0, start - 1) + 1
        if spans := _sentences(text, start):
            return _bare(text[slice(*spans[-1])])
    return ""


def _sentences(text: str, start: int) -> list[Span]:
    """Spans of those sentences of the line at `start` that hold a word."""
    end = text.find("\n", start)
    end = len(text) if end < 0 else end
    mark = _LIST_MARK.match(text, start, end)
    spans = sentence_spans(text, mark.end() if mark else start, end)
    return [span for span in spans if _WORD.search(text, *span)]


def _bare(text: str) -> str:
    return " ".join(_FORMATTING.sub(" ", text).split())
