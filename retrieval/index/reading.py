"""What both stores have in common in reading: searches, look-ups and what is known of a workspace."""

from __future__ import annotations

import time
from abc import ABC, abstractmethod
from collections.abc import Sequence
from uuid import UUID

from retrieval.documents import Chunk, chunk_id
from retrieval.index import payload as p
from retrieval.index.fusion import Fusion, by_score
from retrieval.index.payload import Payload, VersionKey, chunk_of
from retrieval.index.plan import Found, Plan, check_vectors, hits_of, plan_of, rankings_of
from retrieval.index.protocol import Fingerprint, Hit, Hits, QueryText, SearchMode
from retrieval.index.where import AnyOf, Condition, Where, in_scope, one, published, staged_or_published
from retrieval.scope import Scope


class Reader(ABC):
    """The reading half of a `VectorIndex`, on four primitives of a store."""

    #: Seconds for which the languages of a workspace are remembered.
    languages_ttl: float

    def __init__(self, fusion: Fusion = by_score) -> None:
        self._fusion = fusion
        self._fingerprint: Fingerprint | None = None
        self._languages: dict[str, tuple[float, dict[str, int]]] = {}
        self._changes = 0

    @abstractmethod
    def _hidden(self) -> tuple[AnyOf, ...]:
        """Points that no reader may see now, though they are marked as live."""

    @abstractmethod
    async def _query(self, plan: Plan) -> Found: ...

    @abstractmethod
    async def _facet(self, key: str, where: Where) -> dict[str, int]:
        """Every value of a field with the number of its points."""

    @abstractmethod
    async def _fetch(self, ids: Sequence[str], where: Where) -> list[Payload]:
        """Payloads of those of the points that pass the filter, in any order."""

    async def search(
        self,
        scope: Scope,
        queries: Sequence[QueryText],
        *,
        limit: int,
        mode: SearchMode = "hybrid",
        explain: bool = True,
    ) -> Hits:
        """Raises `ValueError` for a vector of the wrong length, or with NaN in it."""
        return await self._search(scope, queries, (), limit=limit, mode=mode, explain=explain)

    async def passages_of(
        self, scope: Scope, document_id: str, query: QueryText, *, limit: int
    ) -> list[Hit]:
        of_document = (one(p.DOCUMENT, document_id), one(p.KIND, "passage"))
        return await self._search(scope, [query], of_document, limit=limit, mode="hybrid", explain=False)

    async def _search(
        self,
        scope: Scope,
        queries: Sequence[QueryText],
        narrower: tuple[Condition, ...],
        *,
        limit: int,
        mode: SearchMode,
        explain: bool,
    ) -> Hits:
        if limit < 1:
            raise ValueError("The limit of a search is at least 1.")
        for query in queries:
            check_vectors(query.vector, (self._dimension(),))
        languages = await self._by_language(scope.workspace) if mode != "semantic" else {}
        rankings = rankings_of(queries, mode, frozenset(languages))
        where = in_scope(scope, self._hidden())
        if where is None or not rankings:
            return Hits()
        corpus = published(scope.workspace)
        passages = sum(languages.values())
        plan = plan_of(rankings, where.also(*narrower), corpus, passages, limit=limit)
        return hits_of(await self._query(plan), plan, self._fusion, limit=limit, explain=explain)

    async def get(self, scope: Scope, chunk_ids: Sequence[str]) -> list[Chunk]:
        where = in_scope(scope, self._hidden())
        ids = [chunk for chunk in dict.fromkeys(chunk_ids) if _is_uuid(chunk)]
        if where is None or not ids:
            return []
        chunks = [chunk_of(payload) for payload in await self._fetch(ids, where)]
        by_id = {chunk.chunk_id: chunk for chunk in chunks}
        return [by_id[chunk] for chunk in dict.fromkeys(chunk_ids) if chunk in by_id]

    async def neighbours(self, scope: Scope, chunk: Chunk, *, radius: int = 1) -> list[Chunk]:
        if chunk.kind == "summary":
            return await self.get(scope, [chunk.chunk_id])
        ordinals = range(max(0, chunk.ordinal - radius), chunk.ordinal + radius + 1)
        return await self.get(scope, [chunk_id(chunk.meta.version_id, ordinal) for ordinal in ordinals])

    async def languages(self, scope: Scope) -> frozenset[str]:
        return frozenset(await self._by_language(scope.workspace))

    async def _by_language(self, workspace: str) -> dict[str, int]:
        """Published chunks of a workspace in each language, remembered for a while."""
        until, known = self._languages.get(workspace, (0.0, dict[str, int]()))
        if time.monotonic() < until:
            return known
        changes = self._changes
        found = await self._facet(p.LANGUAGE, published(workspace))
        if changes == self._changes:
            self._languages[workspace] = (time.monotonic() + self.languages_ttl, found)
        return found

    async def versions(self, workspace: str) -> set[tuple[str, str, bool]]:
        stored = await self._versions(staged_or_published(workspace))
        live = set(await self._versions(published(workspace)))
        return {(v.document_id, v.version_id, v in live) for v in stored}

    async def _versions(self, where: Where) -> list[VersionKey]:
        return [VersionKey.parse(text) for text in await self._facet(p.VERSION, where)]

    def _forget_languages(self, workspace: str) -> None:
        self._changes += 1
        self._languages.pop(workspace, None)

    def _dimension(self) -> int:
        if self._fingerprint is None:
            raise RuntimeError("open() the index first")
        return self._fingerprint.dimension


def _is_uuid(text: str) -> bool:
    try:
        UUID(text)
    except ValueError:
        return False
    return True
