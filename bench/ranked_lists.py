"""The dense and the BM25 list of a query as the index has them, exact and in memory, for many variants of
what comes after. Used by `bench/fusion.py` and `bench/rewrites.py`.
"""

from __future__ import annotations

import argparse
import math
import os
import tempfile
from collections.abc import Sequence
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from bench.cached_embedder import CachedEmbedder
from retrieval.index.bm25 import encode_passage, encode_query
from retrieval.index.fusion import RankedList
from retrieval.index.protocol import Vectors
from retrieval.models.local import E5Embedder

Floats = NDArray[np.float64]

ROOT = Path(__file__).parent.parent
#: Depth of the lists for the twelve passages that a turn retrieves, now and when they were fused by rank.
DEPTH = 40
RANK_DEPTH = 22


class Passages:
    """A corpus, searched by its vectors and by its words."""

    def __init__(self, texts: Sequence[str], languages: Sequence[str], vectors: Vectors) -> None:
        """vectors: shape (len(texts), dimension)."""
        self.languages = {str(number): language for number, language in enumerate(languages)}
        self._known = frozenset(languages)
        self._vectors = vectors
        rows: dict[int, list[tuple[int, float]]] = {}
        for number, (text, language) in enumerate(zip(texts, languages, strict=True)):
            terms = encode_passage(text, language)
            for term, value in zip(terms.indices, terms.values, strict=True):
                rows.setdefault(term, []).append((number, value))
        self._postings: dict[int, tuple[NDArray[np.int64], Floats]] = {}
        for term, postings in rows.items():
            # As Qdrant has it.
            rarity = math.log1p((len(texts) - len(postings) + 0.5) / (len(postings) + 0.5))
            numbers, values = zip(*postings, strict=True)
            self._postings[term] = np.array(numbers), np.array(values) * rarity

    def search(
        self, text: str, vector: Vectors, *, number: int = 0, depth: int = DEPTH
    ) -> list[RankedList]:
        """Both lists of one query, the one that is the `number`th of its question."""
        dense = (self._vectors @ vector).astype(np.float64)
        terms = encode_query(text, self._known)
        words = np.zeros(len(dense))
        for term, weight in zip(terms.indices, terms.values, strict=True):
            if term in self._postings:
                numbers, values = self._postings[term]
                words[numbers] += weight * values
        found = [entry for entry in _best(words, depth) if entry[1] > 0]
        size = len(dense)
        lists = [RankedList(f"dense:{number}", number, _best(dense, depth), cut=size >= depth)]
        if terms.indices:
            lists.append(
                RankedList(f"bm25:{number}", number, found, len(found) >= depth, sum(terms.values), size)
            )
        return lists


def shallower(lists: Sequence[RankedList], depth: int = RANK_DEPTH) -> list[RankedList]:
    return [
        RankedList(each.name, each.query, each.entries[:depth], True, each.terms, each.passages)
        for each in lists
    ]


def _best(scores: Floats, depth: int) -> list[tuple[str, float]]:
    order = np.argsort(-scores, kind="stable")[:depth]
    return [(str(number), float(scores[number])) for number in order]


def data_folder(parser: argparse.ArgumentParser) -> Path:
    """`$FOOTNOTE_DATA`, or the folder beside the checkout; without either it ends the program."""
    told = os.environ.get("FOOTNOTE_DATA")
    place = (Path(told) if told else ROOT.parent / "shared" / "data") / "retrieval"
    if not place.is_dir():
        parser.error("set FOOTNOTE_DATA to the folder of the evaluation data")
    return place


def embedder_of(cache: Path) -> CachedEmbedder:
    return CachedEmbedder(E5Embedder(cache / "model"), cache)


DEFAULT_CACHE = Path(tempfile.gettempdir()) / "footnote-bench"
