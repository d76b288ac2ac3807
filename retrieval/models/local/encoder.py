"""Text to vector, synchronously: tokenizer, token table and the encoder's session together."""

from __future__ import annotations

from pathlib import Path
from typing import Literal

import numpy as np

from retrieval.models.local.session import Session
from retrieval.models.local.store import graph_file
from retrieval.models.local.tokenizer import Tokenizer
from retrieval.models.local.weights import Weights, locate
from retrieval.models.protocol import Vectors

Role = Literal["query", "passage"]

#: A longer text is read in windows of equal size, at most this many, and their vectors are averaged.
MAX_WINDOWS = 4
#: What is read of a text at most; past this or past the windows nothing is. Bounds the time for a text.
MAX_CHARACTERS = 16_384


class Encoder:
    """multilingual-e5-small (Wang et al.: "Multilingual E5 Text Embeddings", 2024): mean pooling over all
    tokens, L2 normalisation, the prefixes `query: ` and `passage: `. Safe to use from several threads."""

    def __init__(self, cache: Path, threads: int) -> None:
        """Loads the model, in a fraction of a second, or some seconds where `cache` has no graph yet."""
        path, version = locate()
        self._weights = Weights(path)
        pieces = self._weights.pieces()
        self._begin, self._end = pieces.begin, pieces.end
        self._tokenizer = Tokenizer(pieces)
        self._prefixes: dict[Role, list[int]] = {
            role: self._tokenizer.encode(f"{role}:", MAX_CHARACTERS) for role in ("query", "passage")
        }
        self._session = Session(graph_file(cache, path, version), threads)

    def encode(self, text: str, role: Role) -> Vectors:
        """The text's unit vector, shape (hidden,)."""
        sums = np.zeros(self._weights.hidden, np.float32)
        for window in self._windows(text, role):
            vector = self._session.run(self._weights.token_vectors(np.array(window)))
            sums += vector * np.float32(len(window))
        return sums / max(float(np.linalg.norm(sums)), 1e-12)

    def _windows(self, text: str, role: Role) -> list[list[int]]:
        """Token ids with prefix and markers, each list as long as the model allows at most."""
        prefix = [self._begin, *self._prefixes[role]]
        room = self._weights.positions - len(prefix) - 1
        ids = self._tokenizer.encode(text, MAX_CHARACTERS)[: MAX_WINDOWS * room]
        count = max(1, -(-len(ids) // room))
        size = max(1, -(-len(ids) // count))
        return [
            [*prefix, *ids[start : start + size], self._end] for start in range(0, max(len(ids), 1), size)
        ]
