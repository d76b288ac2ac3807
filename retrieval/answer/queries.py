"""Phrasings of a question as they may be searched: a model's output is cleaned or dropped, never
searched as it is. "Here are 4 queries:" is not a query."""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Iterator, Sequence
from typing import Any

from retrieval.answer.protocol import Rephrased

#: Longer output is no query but an essay.
MAX_CHARS = 400
MAX_WORDS = 60

_BULLET = re.compile(
    r"\A(?:\s*(?:[-*+•‣◦▪·–—>]\s+|[•‣◦▪]|\(?\d{1,2}[.)](?:\s+|(?=[^\W\d])|\Z)|\(?[a-z][.)]\s+|[①-⑳]\s*|#{1,6}\s+))+",
    re.I,
)
_NAMED = re.compile(
    r"\A(?:(?:the\s+)?(?:standalone|rewritten|alternative|rephrased|reformulated|search|expanded)\s*"
    r"(?:question|query|version|phrasing)?|query|question|alternative|rewrite|version|q)"
    r"\s*#?\d{0,2}\s*[:：]\s*|\Aq\d{1,2}[.)]\s+",
    re.I,
)
_QUOTES = (('"', '"'), ("“", "”"), ("„", "“"), ("«", "»"), ("‘", "’"), ("'", "'"), ("「", "」"), ("`", "`"))
_CHATTER = re.compile(
    r"(?:sure|certainly|of course|absolutely|okay|ok)\b[,.! ]|"
    r"(?:here(?:'s|’s| is| are)|below (?:is|are)|the following|these (?:are|queries)|let me\b|"
    r"i (?:have|can|will|hope)\b|note\s*:|hier (?:ist|sind)|voici|aquí (?:están?|tienes?)|ecco|以下是?)",
    re.I,
)
_ABOUT_QUERIES = re.compile(
    r"quer(?:y|ies)|search|rewrit|rewrote|rephras|alternative|phrasing|version|standalone|anfrage|"
    r"requête|consulta|domand|查询|搜索|改写|let me know",
    re.I,
)
_LETTER = re.compile(r"[^\W_]")
_NOT_LETTERS = re.compile(r"[\W_]+")
#: Error codes, part numbers, versions: what a rewrite must not lose.
_CODE = re.compile(r"[^\W_]*\d[\w.-]*")


def clean_rephrased(rephrased: Rephrased, question: str, *, limit: int, history: bool) -> Rephrased:
    """What may be searched of a rephraser's output. Cleaning twice changes nothing more."""
    standalone = question
    if not same(rephrased.standalone, question):
        standalone = _standalone(rephrased.standalone) or question
    if same(standalone, question):
        standalone = question
    alternatives: list[str] = []
    for query in clean_queries(rephrased.alternatives):
        if not any(same(query, other) for other in (question, standalone, *alternatives)):
            alternatives.append(query)
    changed = history and standalone != question
    return Rephrased(
        standalone=standalone,
        alternatives=tuple(alternatives[:limit]),
        used_history=changed,
        keeps_question=changed and rephrased.keeps_question,
    )


def plan_queries(question: str, rephrased: Rephrased | None) -> list[str]:
    """What is searched. The question itself too, unless the thread changed what it means.

    A question whose codes and numbers the standalone one lost is searched in any case, and so is one
    that the rephraser wants kept.
    """
    if rephrased is None:
        return [question]
    queries = [rephrased.standalone, *rephrased.alternatives]
    codes = set(_CODE.findall(question.casefold()))
    lost = not codes <= set(_CODE.findall(rephrased.standalone.casefold()))
    wanted = not rephrased.used_history or rephrased.keeps_question or lost
    if wanted and not same(question, rephrased.standalone):
        queries.insert(1 if rephrased.used_history else 0, question)
    return queries


def clean_queries(raw: Iterable[str]) -> Iterator[str]:
    """The queries in lines of output: without preambles, numbering, bullets, quotes and empty lines."""
    for text in raw:
        for line in _lines(text):
            query = clean_query(line)
            if query is not None:
                yield query


def clean_query(line: str) -> str | None:
    """One line as a query, or None if it is none."""
    line = " ".join(line.split())
    line = _unwrapped(_NAMED.sub("", _BULLET.sub("", line)))
    if not _LETTER.search(line) or line.endswith((":", "：")) or line.startswith("```"):
        return None
    if _CHATTER.match(line) and _ABOUT_QUERIES.search(line):
        return None
    if len(line) > MAX_CHARS or len(line.split()) > MAX_WORDS:
        return None
    return line


def _standalone(text: str) -> str:
    """One query of what may be several lines: all of them, or the first of a list."""
    lines = _lines(text)
    queries = list(clean_queries([text]))
    listed = any(_BULLET.match(line) for line in lines)
    joined = " ".join(queries[:1] if listed else queries)
    return joined if len(joined) <= MAX_CHARS else ""


def same(one: str, other: str) -> bool:
    """Whether two queries differ by nothing that a search would see."""
    return _NOT_LETTERS.sub(" ", one).split() == _NOT_LETTERS.sub(" ", other).split() or (
        _NOT_LETTERS.sub("", one).casefold() == _NOT_LETTERS.sub("", other).casefold()
    )


def _lines(text: str) -> Sequence[str]:
    if text.lstrip()[:1] in {"[", "{"}:
        try:
            return list(_strings(json.loads(text)))
        except ValueError:
            pass
    return text.splitlines()


def _strings(value: Any) -> Iterator[str]:
    """Every string in a JSON value."""
    if isinstance(value, str):
        yield value
    elif isinstance(value, dict | list):
        for item in value.values() if isinstance(value, dict) else value:
            yield from _strings(item)


def _unwrapped(line: str) -> str:
    """Without the emphasis and quotation marks around all of it."""
    line = line.strip(" \t*_").rstrip(",") if line.startswith(("*", "_", '"')) else line.strip()
    for opening, closing in _QUOTES:
        inner = line[len(opening) : -len(closing)]
        if line.startswith(opening) and line.endswith(closing) and inner and opening not in inner:
            return inner.strip()
    return line
