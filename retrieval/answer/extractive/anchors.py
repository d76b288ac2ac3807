"""How near an embedding model puts a question to sentences that have nothing to do with it.

Similarities of a model such as e5 all lie in a narrow band, elsewhere for each language and each model:
only what a sentence has above the anchors of its language, counted in their spread, can be compared.
The idea is the test normalisation of speaker verification (Auckenthaler, Carey and Lloyd-Thomas,
"Score Normalization for Text-Independent Speaker Verification Systems", 2000).
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import cast

import numpy as np

from retrieval.answer.lexicon import load
from retrieval.models.protocol import Embedder, Vectors

_FALLBACK = "en"


@dataclass(frozen=True, slots=True)
class Anchors:
    """vectors: (sentences, dimension). spread: standard deviation of their mutual similarities."""

    vectors: Vectors
    spread: float

    def similarity(self, query: Vectors) -> float:
        """Mean similarity of a query vector, shape (dimension,), to the anchors."""
        return float((self.vectors @ query).mean())


class AnchorBook:
    """Anchors of each language, embedded when they are first needed."""

    def __init__(self, embedder: Embedder) -> None:
        self._embedder = embedder
        self._known: dict[str, Anchors] = {}

    async def of(self, language: str) -> Anchors:
        """Anchors in `language`, English ones where there are none."""
        sentences = cast("dict[str, list[str]]", load("anchors"))
        language = language if language in sentences else _FALLBACK
        if language not in self._known:
            vectors = await self._embedder.embed_passages(sentences[language], urgent=True)
            mutual = (vectors @ vectors.T)[np.triu_indices(len(vectors), 1)]
            self._known[language] = Anchors(vectors, max(float(mutual.std()), 1e-3))
        return self._known[language]
