"""The sentences that say best what a text is about.

Sentences are scored by their similarity to the centroid of all, in TF-IDF, and taken best first unless
they repeat one that is taken already: Radev, Jing, Stys and Tam, "Centroid-based summarization of multiple
documents", Information Processing & Management 40 (2004).
"""

from __future__ import annotations

import math
import re
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence

from retrieval.ingest.split import sentences
from retrieval.ingest.tokens import estimate

#: Sentences looked at, at most: the time is linear in them.
_MOST = 400
#: Tokens of a sentence that is worth taking.
_SHORTEST, _LONGEST = 4, 90
#: First sentences that are taken without a vote: they say what a document is.
_LEAD = 2
#: Cosine from which a sentence repeats another.
_SAME = 0.5

# Scripts without spaces, in which two characters are about a word.
_UNSPACED = r"\u0e00-\u0eff\u1000-\u109f\u1780-\u17ff\u3040-\u30ff\u3400-\u9fff\uf900-\ufaff"
_TERM = re.compile(rf"[{_UNSPACED}]+|[^\W_{_UNSPACED}]+")
_PAIRED = re.compile(rf"[{_UNSPACED}]")
_MARKS = re.compile(r"^(?:[#>]+|[-*+•]|\d{1,3}[.)])\s+|\*\*|__|`")

Vector = Mapping[str, float]


def central_sentences(texts: Sequence[str], tokens: int) -> list[str]:
    """Sentences of `texts` of at most `tokens` tokens together, in the order in which they stand."""
    found = _candidates(texts)
    vectors = _vectors(found)
    centroid = Counter[str]()
    for vector in vectors:
        centroid.update(vector)
    scores = [_dot(vector, centroid) for vector in vectors]
    order = [*range(min(_LEAD, len(found)))]
    order += sorted(range(len(order), len(found)), key=scores.__getitem__, reverse=True)
    taken: list[int] = []
    for i in order:
        size = estimate(found[i]) + 1
        if size <= tokens and all(_dot(vectors[i], vectors[j]) < _SAME for j in taken):
            taken.append(i)
            tokens -= size
        if tokens < _SHORTEST:
            break
    return [found[i] for i in sorted(taken)]


def terms(text: str) -> Iterator[str]:
    """Words in lower case; pairs of characters in scripts that write no spaces."""
    for run in _TERM.findall(text.casefold()):
        if len(run) > 2 and _PAIRED.match(run):
            yield from (run[i : i + 2] for i in range(len(run) - 1))
        elif len(run) > 1:
            yield run


def _candidates(texts: Sequence[str]) -> list[str]:
    found: dict[str, None] = {}  # each once, in order
    for text in texts:
        for sentence in sentences(text):
            plain = " ".join(_MARKS.sub("", sentence).split())
            if _SHORTEST <= estimate(plain) <= _LONGEST:
                found[plain] = None
        if len(found) >= _MOST:
            break
    return list(found)[:_MOST]


def _vectors(texts: Sequence[str]) -> list[Vector]:
    """TF-IDF with each sentence as a document, of length 1."""
    counts = [Counter(terms(text)) for text in texts]
    documents = Counter(term for count in counts for term in count)
    vectors: list[Vector] = []
    for count in counts:
        weights = {t: n * math.log(1 + len(texts) / documents[t]) for t, n in count.items()}
        norm = math.sqrt(sum(w * w for w in weights.values())) or 1.0
        vectors.append({t: w / norm for t, w in weights.items()})
    return vectors


def _dot(a: Vector, b: Mapping[str, float]) -> float:
    return sum(weight * b.get(term, 0.0) for term, weight in a.items())
