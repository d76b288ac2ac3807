"""The seam between the pipeline and a vector store."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from typing import Literal, Protocol

import numpy as np
from numpy.typing import NDArray

from retrieval.documents import Chunk, Frozen
from retrieval.scope import Scope

Vectors = NDArray[np.float32]
SearchMode = Literal["hybrid", "semantic", "keyword"]

#: The usual constant of reciprocal rank fusion, 1/(60 + rank) with ranks from 1: what we compare with.
#: Cormack, Clarke, Buettcher: "Reciprocal Rank Fusion outperforms Condorcet and individual Rank
#: Learning Methods", SIGIR 2009.
RRF_K = 60


class Fingerprint(Frozen):
    """Which embedding model filled an index. Equal fingerprints give interchangeable vectors."""

    model: str
    dimension: int
    revision: str


class IndexMismatch(Exception):
    """The index was filled by another embedding model; the message names both and `kb reindex`."""

    def __init__(self, stored: Fingerprint, wanted: Fingerprint) -> None:
        self.stored = stored
        self.wanted = wanted
        super().__init__(
            f"This index was filled with {stored.model} ({stored.dimension} dimensions, revision "
            f"{stored.revision}), but the configured embedding model is {wanted.model} "
            f"({wanted.dimension} dimensions, revision {wanted.revision}). "
            "Run `kb reindex` to rebuild it, or set EMBEDDING_MODEL back."
        )


class IndexUnavailable(Exception):
    """The store can't be reached or failed after bounded retries."""


class NothingStaged(Exception):
    """`publish` of a version that has no chunks; what is published stays as it is."""

    def __init__(self, document_id: str, version_id: str) -> None:
        self.document_id = document_id
        self.version_id = version_id
        super().__init__(f"Version {version_id} of document {document_id} has no chunks to publish.")


@dataclass(frozen=True, slots=True)
class QueryText:
    """One phrasing of a question with its dense vector, shape (dimension,), L2-normalised."""

    text: str
    vector: Vectors


@dataclass(frozen=True, slots=True)
class ListRank:
    """Where a chunk stood in one list: rank from 1 and the list's own score."""

    rank: int
    score: float


@dataclass(frozen=True, slots=True)
class Hit:
    """A chunk found, with its fused score and its place in each list ("dense:0", "bm25:0", ...)."""

    chunk: Chunk
    score: float
    lists: dict[str, ListRank] = field(default_factory=dict[str, ListRank])


@dataclass(frozen=True, slots=True)
class ListWeight:
    """How much one list counted in a search."""

    #: As in `Hit.lists`.
    name: str
    #: 0..1; those of all lists of a search add up to 1.
    weight: float
    #: Whether it found anything.
    found: bool = True
    #: Passages compared by meaning instead, since they are in another language than what it found.
    other_language: int = 0


class Hits(list[Hit]):
    """Hits, best first, and how the lists that they come from were weighed."""

    def __init__(self, hits: Iterable[Hit] = (), weights: Sequence[ListWeight] = ()) -> None:
        super().__init__(hits)
        self.weights = tuple(weights)


@dataclass(frozen=True, slots=True)
class IndexStats:
    chunks: int
    documents: int | None = None
    segments: int | None = None
    unoptimized: int | None = None


class VectorIndex(Protocol):
    """Chunks of all workspaces. Only published versions are found by `search`.

    Every method is safe to repeat after a kill, and none blocks the event loop.
    """

    async def open(self, fingerprint: Fingerprint) -> None:
        """Create or open. Raises `IndexMismatch` when another model filled it."""
        ...

    async def stage(self, chunks: Sequence[Chunk], vectors: Vectors) -> None:
        """Write chunks of a version that is not searchable yet. vectors: (len(chunks), dimension)."""
        ...

    async def publish(self, workspace: str, document_id: str, version_id: str) -> None:
        """Make a staged version the searchable one and remove every other version of the document.

        For a concurrent `search` the change happens at once: it sees the old version or the new.
        """
        ...

    async def discard(self, workspace: str, version_id: str) -> None:
        """Remove what `stage` wrote for a version that will not be published."""
        ...

    async def delete_document(self, workspace: str, document_id: str) -> None:
        """Remove every chunk of every version of a document."""
        ...

    async def set_labels(self, workspace: str, document_id: str, labels: Sequence[str]) -> None:
        """Change the labels on every chunk of a document, staged and published, in place."""
        ...

    async def delete_workspace(self, workspace: str) -> None: ...

    async def search(
        self,
        scope: Scope,
        queries: Sequence[QueryText],
        *,
        limit: int,
        mode: SearchMode = "hybrid",
        explain: bool = True,
    ) -> Hits:
        """Fused hits of all queries, best first, ties by chunk id; at most `limit`.

        One round trip for one flat list of lists, which `fusion.py` puts together. `explain` also fills
        `Hit.lists`.
        """
        ...

    async def passages_of(
        self, scope: Scope, document_id: str, query: QueryText, *, limit: int
    ) -> list[Hit]:
        """Best passages (no summaries) of one document, for a document found by its summary."""
        ...

    async def get(self, scope: Scope, chunk_ids: Sequence[str]) -> list[Chunk]:
        """Chunks by id, those in scope and published only, in the order asked for."""
        ...

    async def neighbours(self, scope: Scope, chunk: Chunk, *, radius: int = 1) -> list[Chunk]:
        """Chunks of the same version within `radius` ordinals, itself included, in order."""
        ...

    async def languages(self, scope: Scope) -> frozenset[str]:
        """Languages of the chunks in a workspace (may be cached briefly)."""
        ...

    async def versions(self, workspace: str) -> set[tuple[str, str, bool]]:
        """(document_id, version_id, published) of all that is stored, for reconciliation."""
        ...

    async def stats(self) -> IndexStats: ...

    async def optimize(self) -> None:
        """Reorganise for speed. Slow; never on the way of a question."""
        ...

    async def close(self) -> None: ...
