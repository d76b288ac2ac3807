"""Whether a sentence denies what a passage affirms, or the other way round."""

from __future__ import annotations

import re
from collections.abc import Iterable

from retrieval.answer.extractive.question import content_terms
from retrieval.evaluation.judge.binding import CLAUSES
from retrieval.evaluation.judge.words import contrasts, negation_parts, negations

_WORD = re.compile(r"[^\W\d_]+(?:['’][^\W\d_]+)?['’]?")
#: Content words around a negation that it may deny.
_BEFORE, _AFTER = 2, 3
#: A sentence speaks of what a passage denies if it has this share of those words.
_SAME = 0.6

Scope = frozenset[str]


def contradicts(sentence: str, closest: str, passage: str, language: str) -> bool:
    """By negations and by opposite words. All are in `language`; `closest` is the part of the passage that
    the sentence is most like: elsewhere a passage may deny things of other matters.
    """
    ours, theirs = scopes(sentence, language), scopes(closest, language)
    said = frozenset(term.key for term in content_terms(sentence, language))
    denied = bool(ours) and any(not _matched(scope, scopes(passage, language)) for scope in ours)
    affirmed = any(_share(scope, said) >= _SAME and not _matched(scope, ours) for scope in theirs)
    return denied or affirmed or _opposite(sentence, closest, language)


def scopes(text: str, language: str) -> list[Scope]:
    """Of each negation the content words around it in its clause."""
    found: list[Scope] = []
    for clause in CLAUSES.split(text):
        terms = content_terms(clause, language)
        for start, end in _cues(clause, language):
            before = [term.key for term in terms if term.end <= start][-_BEFORE:]
            after = [term.key for term in terms if term.start >= end][:_AFTER]
            if before or after:
                found.append(frozenset(before + after))
    return found


def _cues(clause: str, language: str) -> Iterable[tuple[int, int]]:
    if parts := negation_parts().get(language):
        # The places of terms in such languages are only roughly those of the text: good enough here.
        for part in parts:
            for match in re.finditer(re.escape(part), clause):
                yield match.span()
        return
    for match in _WORD.finditer(clause):
        if match[0].casefold().replace("’", "'") in negations():
            yield match.span()


def _matched(scope: Scope, others: list[Scope]) -> bool:
    return any(scope & other for other in others)


def _share(scope: Scope, said: frozenset[str]) -> float:
    return len(scope & said) / len(scope)


def _opposite(sentence: str, passage: str, language: str) -> bool:
    one, other = f" {_spaced(sentence)} ", f" {_spaced(passage)} "
    spaced = language not in negation_parts()
    for pair in contrasts(language):
        for ours, theirs in (pair, pair[::-1]):
            a, b = (f" {ours} ", f" {theirs} ") if spaced else (ours, theirs)
            if a in one and a not in other and b in other and b not in one:
                return True
    return False


def _spaced(text: str) -> str:
    return " ".join(re.findall(r"[^\W_]+", text.casefold()))
