"""A `VectorIndex` for tests that kill the process, or let a step of the index fail."""

from __future__ import annotations

import asyncio
import sqlite3
from collections.abc import Sequence
from pathlib import Path

import numpy as np

from retrieval.documents import Chunk
from retrieval.index.protocol import IndexUnavailable, Vectors
from tests.doubles.index import MemoryIndex


class SqliteIndex(MemoryIndex):
    """A `MemoryIndex` whose chunks are in one table: it outlives a kill when it is given a file.

    `fail` breaks calls by name.
    """

    def __init__(self, path: str | Path = ":memory:") -> None:
        super().__init__()
        self._db = sqlite3.connect(path, isolation_level=None)
        self._db.execute("PRAGMA busy_timeout = 10000")
        self._db.execute(
            "CREATE TABLE IF NOT EXISTS chunks (id TEXT PRIMARY KEY, workspace, document, version,"
            " published INTEGER, json, vector)"
        )
        self.fail: set[str] = set()
        self.calls: list[str] = []

    async def _step(self, name: str) -> None:
        self.calls.append(name)
        await asyncio.sleep(0)
        if name in self.fail:
            raise IndexUnavailable(name)

    async def stage(self, chunks: Sequence[Chunk], vectors: Vectors) -> None:
        await self._step("stage")
        for chunk, vector in zip(chunks, vectors, strict=True):
            self._db.execute(
                "INSERT OR REPLACE INTO chunks VALUES (?, ?, ?, ?, 0, ?, ?)",
                (
                    chunk.chunk_id,
                    chunk.meta.workspace,
                    chunk.meta.document_id,
                    chunk.meta.version_id,
                    chunk.model_dump_json(),
                    vector.astype(np.float32).tobytes(),
                ),
            )

    async def publish(self, workspace: str, document_id: str, version_id: str) -> None:
        await self._step("publish")
        self._db.execute("BEGIN IMMEDIATE")
        self._db.execute(
            "DELETE FROM chunks WHERE workspace = ? AND document = ? AND version != ?",
            (workspace, document_id, version_id),
        )
        self._db.execute(
            "UPDATE chunks SET published = 1 WHERE workspace = ? AND version = ?", (workspace, version_id)
        )
        self._db.execute("COMMIT")
        await asyncio.sleep(0)

    async def discard(self, workspace: str, version_id: str) -> None:
        await self._step("discard")
        self._db.execute("DELETE FROM chunks WHERE workspace = ? AND version = ?", (workspace, version_id))

    async def delete_document(self, workspace: str, document_id: str) -> None:
        await self._step("delete_document")
        self._db.execute(
            "DELETE FROM chunks WHERE workspace = ? AND document = ?", (workspace, document_id)
        )

    async def set_labels(self, workspace: str, document_id: str, labels: Sequence[str]) -> None:
        await self._step("set_labels")
        for key, chunk in self._matching("workspace = ? AND document = ?", workspace, document_id):
            meta = chunk.meta.model_copy(update={"labels": tuple(labels)})
            new = chunk.model_copy(update={"meta": meta})
            self._db.execute("UPDATE chunks SET json = ? WHERE id = ?", (new.model_dump_json(), key))

    async def delete_workspace(self, workspace: str) -> None:
        self._db.execute("DELETE FROM chunks WHERE workspace = ?", (workspace,))

    async def versions(self, workspace: str) -> set[tuple[str, str, bool]]:
        await self._step("versions")
        return {
            (document, version, bool(published))
            for document, version, published in self._db.execute(
                "SELECT DISTINCT document, version, published FROM chunks WHERE workspace = ?", (workspace,)
            )
        }

    async def close(self) -> None:
        self._db.close()

    def _all(self) -> dict[str, tuple[Chunk, Vectors]]:
        return self._stored("1")

    def _live(self) -> dict[str, tuple[Chunk, Vectors]]:
        return self._stored("published")

    def _stored(self, where: str) -> dict[str, tuple[Chunk, Vectors]]:
        rows = self._db.execute(f"SELECT id, json, vector FROM chunks WHERE {where} ORDER BY id")
        return {
            key: (Chunk.model_validate_json(json), np.frombuffer(vector, np.float32))
            for key, json, vector in rows
        }

    # -- for tests -----------------------------------------------------------------------------

    def _matching(self, where: str, *values: str) -> list[tuple[str, Chunk]]:
        rows = self._db.execute(f"SELECT id, json FROM chunks WHERE {where} ORDER BY id", values).fetchall()
        return [(key, Chunk.model_validate_json(json)) for key, json in rows]

    def texts(self, document_id: str) -> list[str]:
        """What a search of one document finds, in order."""
        found = self._matching("document = ? AND published", document_id)
        return [chunk.text for chunk in sorted((c for _, c in found), key=lambda c: c.ordinal)]

    def labels(self, document_id: str) -> set[tuple[str, ...]]:
        return {chunk.meta.labels for _, chunk in self._matching("document = ?", document_id)}

    def everything(self) -> str:
        return "\n".join(map(str, self._db.execute("SELECT * FROM chunks").fetchall()))
