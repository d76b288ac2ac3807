"""Whether a sentence gives a number to what the passage gives another one to."""

from __future__ import annotations

import re

from retrieval.answer.extractive.question import content_terms
from retrieval.evaluation.judge.facts import Quantity, quantities

#: Between clauses; a comma or colon inside a number is none.
CLAUSES = re.compile(
    r"[,;:.!?]+(?=\s|$)|[，。；：！？|\n()]+|\s(?:and|but|or|und|aber|oder|y|pero|o|et|mais|ou)\s"
)


def swapped(sentence: str, passage: str, language: str) -> bool:
    """Whether, for a quantity of a clause, the passage's clause with more of its words holds another
    quantity of its kind, and the clauses that hold this one have none of its words besides.
    """
    theirs = _clauses(passage, language)
    return any(
        _elsewhere(quantity, terms, theirs)
        for wanted, terms in _clauses(sentence, language)
        for quantity in wanted
    )


_Clause = tuple[list[Quantity], frozenset[str]]


def _clauses(text: str, language: str) -> list[_Clause]:
    """The quantities of each clause, and its content words."""
    clauses = [clause for clause in CLAUSES.split(text) if clause.strip()]
    return [
        (quantities(clause), frozenset(t.key for t in content_terms(clause, language) if not t.number))
        for clause in clauses
    ]


def _elsewhere(quantity: Quantity, terms: frozenset[str], theirs: list[_Clause]) -> bool:
    own = [words for held, words in theirs if any(quantity.meets(one) for one in held)]
    others = [
        words
        for held, words in theirs
        if words not in own and any(one.dimension == quantity.dimension for one in held)
    ]
    # A word of the sentence that only the clause with this quantity has speaks for it.
    return bool(own) and any(
        all(len(terms & words) > len(terms & mine) and not terms & (mine - words) for mine in own)
        for words in others
    )
