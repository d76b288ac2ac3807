"""BM25 as sparse vectors, the same for every store.

A passage's vector holds the term-frequency part of BM25 and a query's vector its weights; the store
multiplies by the inverse document frequency of the workspace when it searches. BM25: Robertson and
Zaragoza, "The Probabilistic Relevance Framework: BM25 and Beyond", 2009.

Stemming, stop words, segmentation and the hash from term to dimension are Qdrant's own, from
`qdrant-edge-py`; which terms there are is decided in `tokens.py`.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass
from functools import cache

from qdrant_edge import Bm25, Bm25Config, DisabledStemmer, SnowballParams, StopwordsSet, TokenizerType

from retrieval.index.languages import ENGLISH, UNKNOWN, Analysis, analysis_of
from retrieval.index.tokens import Terms, bigrams, terms_of, without_accents

#: Saturation of term frequency and weight of length normalisation: the usual constants.
K1 = 1.2
B = 0.75
#: Terms in a passage of usual length. A constant, so that a vector does not depend on its neighbours.
AVERAGE_LENGTH = 256
#: Weight of a query's terms in languages that it is clearly not in.
OTHER_LANGUAGE = 0.5
#: A longer query is cut, so that no message can keep the search busy.
QUERY_CHARACTERS = 20_000

_LATIN = re.compile("[a-z\u00df-\u024f\u1e00-\u1eff]")
# A run of Han is Chinese to Qdrant's segmenter unless kana is near. This word is a stop word in
# Japanese, so it tells the segmenter the language and leaves no term.
_KANA_HINT = "の"


@dataclass(frozen=True, slots=True)
class Sparse:
    """A sparse vector: dimensions in ascending order, and as many values."""

    indices: list[int]
    values: list[float]

    @classmethod
    def of(cls, weights: dict[int, float]) -> Sparse:
        indices = sorted(weights)
        return cls(indices, [weights[i] for i in indices])


def encode_passage(text: str, language: str) -> Sparse:
    """The BM25 vector of a passage. language: ISO 639-1 code, or "und".

    Besides each term as written it holds those without accents, so that a query typed without them
    finds the passage. Any string will do; without a term the vector is empty.
    """
    counts, length = _count(terms_of(text), analysis_of(language), folded=True)
    norm = K1 * (1 - B + B * length / AVERAGE_LENGTH)
    return Sparse.of({i: tf * (K1 + 1) / (tf + norm) for i, tf in counts.items()})


def encode_query(text: str, languages: frozenset[str]) -> Sparse:
    """The union of a query's terms in each of the languages; a term that several give counts once.

    A query is often too short to tell its language, so it is read in every language that the passages
    have; an empty set counts as "und". Where its function words show which of them it is in, they are
    left out of all readings, and terms that only the other readings give (mostly other stems of the
    same words) count half. Only the first `QUERY_CHARACTERS` are read.
    """
    terms = terms_of(text[:QUERY_CHARACTERS])
    analyses = list(dict.fromkeys(analysis_of(code) for code in sorted(languages))) or [UNKNOWN]
    alone = len(analyses) == 1
    function_words = [set[str]() if alone else _function_words(terms.words, a) for a in analyses]
    likely = max(range(len(analyses)), key=lambda n: len(function_words[n]))
    known = len(function_words[likely]) > 1
    if known:
        left_out = function_words[likely]
        terms = Terms([w for w in terms.words if w not in left_out], terms.forms, terms.runs)
    weights: dict[int, float] = {}
    for number, analysis in enumerate(analyses):
        weight = 1.0 if number == likely or not known else OTHER_LANGUAGE
        for term in _count(terms, analysis, folded=False)[0]:
            weights[term] = max(weight, weights.get(term, 0.0))
    return Sparse.of(weights)


def _function_words(words: list[str], analysis: Analysis) -> set[str]:
    """Those words that are stop words in this language."""
    if analysis.stopwords is None:
        return set()
    stemmer = _stemmer(analysis)
    return {word for word in words if not stemmer.embed_query(word).indices}


def _count(terms: Terms, analysis: Analysis, *, folded: bool) -> tuple[Counter[int], int]:
    """Frequency of each term, and the length of the text in terms without stop words."""
    counts = _words(terms.words, analysis)
    length = counts.total()
    counts |= _words(terms.words + terms.forms, analysis)
    if folded:
        plain = [without_accents(w) for w in terms.words if not w.isascii()]
        counts |= _words(plain, analysis)
    if terms.runs:
        hint = _KANA_HINT if analysis is analysis_of("ja") else ""
        segmented = _frequencies(_segmenter(analysis), [*terms.runs, hint])
        length += segmented.total()
        pairs = [pair for run in terms.runs for pair in bigrams(run)]
        # A word of two characters is its own bigram: the greater count, not the sum.
        counts |= segmented | _frequencies(_stemmer(Analysis()), pairs)
    return counts, length


def _words(words: list[str], analysis: Analysis) -> Counter[int]:
    if analysis.latin:
        return _frequencies(_stemmer(analysis), words)
    latin = [w for w in words if _LATIN.match(w)]
    other = [w for w in words if not _LATIN.match(w)]
    return _frequencies(_stemmer(ENGLISH), latin) + _frequencies(_stemmer(analysis), other)


def _frequencies(encoder: Bm25, words: Iterable[str]) -> Counter[int]:
    vector = encoder.embed_document(" ".join(words))
    return Counter({i: round(tf) for i, tf in zip(vector.indices, vector.values, strict=True)})


@cache
def _stemmer(analysis: Analysis) -> Bm25:
    return _encoder(TokenizerType.Whitespace, analysis)


@cache
def _segmenter(analysis: Analysis) -> Bm25:
    return _encoder(TokenizerType.Multilingual, analysis)


def _encoder(tokenizer: TokenizerType, analysis: Analysis) -> Bm25:
    return Bm25(
        Bm25Config(
            # So the encoder returns plain counts: (k + 1) * tf / (k + tf) is tf when k is great.
            k=1e9,
            b=0.0,
            tokenizer=tokenizer,
            stemmer=SnowballParams(analysis.stemmer) if analysis.stemmer else DisabledStemmer(),
            stopwords=analysis.stopwords or StopwordsSet(),
        )
    )
