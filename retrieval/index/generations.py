"""Generations of an index, so that it can be rebuilt beside the one that answers.

`begin` gives an empty successor; fill it, then `switch` to it, which is one atomic step, and `prune` the
old one when it is closed. Whatever is killed before the switch leaves the old index in charge, and the
next `begin` or `prune` removes what was left.
"""

from __future__ import annotations

import asyncio
import re
import shutil
from pathlib import Path
from typing import Generic, Protocol, TypeVar

from qdrant_client import AsyncQdrantClient
from qdrant_client import models as m

from retrieval.index.edge import EdgeIndex
from retrieval.index.edge_files import read_json, write_json
from retrieval.index.protocol import Fingerprint, VectorIndex
from retrieval.index.server import ServerIndex, check_server
from retrieval.index.server_calls import call

Index = TypeVar("Index", bound=VectorIndex)


class IndexGenerations(Protocol, Generic[Index]):
    """One process at a time rebuilds."""

    async def open(self, fingerprint: Fingerprint) -> Index:
        """The current generation, created if there is none. Raises `IndexMismatch`, `IndexUnavailable`."""
        ...

    async def begin(self, fingerprint: Fingerprint) -> Index:
        """An empty generation beside the current one. Removes what an earlier rebuild left unfinished."""
        ...

    async def switch(self, successor: Index) -> None:
        """From now on `open` gives this one, in every process. The old one answers until it is closed."""
        ...

    async def prune(self) -> None:
        """Remove every generation but the current one. Close those first."""
        ...


class EdgeGenerations:
    """Folders `g1`, `g2` ... in `root`; `current.json` names the one in charge."""

    def __init__(self, root: Path) -> None:
        self._root = root
        self._pointer = root / "current.json"

    async def open(self, fingerprint: Fingerprint) -> EdgeIndex:
        return await self._opened(await asyncio.to_thread(self._current), fingerprint)

    async def begin(self, fingerprint: Fingerprint) -> EdgeIndex:
        await self.prune()
        current = await asyncio.to_thread(self._current)
        return await self._opened(self._root / f"g{int(current.name[1:]) + 1}", fingerprint)

    async def switch(self, successor: EdgeIndex) -> None:
        await asyncio.to_thread(write_json, self._pointer, {"generation": successor.folder.name})

    async def prune(self) -> None:
        await asyncio.to_thread(self._prune)

    def _prune(self) -> None:
        current = self._current()
        for folder in self._root.glob("g*"):
            if folder != current and re.fullmatch(r"g\d+", folder.name):
                shutil.rmtree(folder)

    def _current(self) -> Path:
        pointer = read_json(self._pointer) or {"generation": "g1"}
        return self._root / str(pointer["generation"])

    async def _opened(self, folder: Path, fingerprint: Fingerprint) -> EdgeIndex:
        index = EdgeIndex(folder)
        try:
            await index.open(fingerprint)
        except BaseException:
            await index.close()
            raise
        return index


class ServerGenerations:
    """Collections `name-g1`, `name-g2` ...; the alias `name` points at the one in charge.

    An opened index stays with its collection, since vectors of another model would mean nothing there.
    Other processes that have the old one open get `IndexUnavailable` once it is pruned: restart them.
    """

    def __init__(self, client: AsyncQdrantClient, name: str) -> None:
        self._client = client
        self._name = name

    async def open(self, fingerprint: Fingerprint) -> ServerIndex:
        await check_server(self._client)
        current = await self._current()
        index = ServerIndex(self._client, current or f"{self._name}-g1")
        await index.open(fingerprint)
        if current is None:
            await self.switch(index)
        return index

    async def begin(self, fingerprint: Fingerprint) -> ServerIndex:
        await self.prune()
        current = await self._current()
        number = int(current.rpartition("-g")[2]) if current else 0
        index = ServerIndex(self._client, f"{self._name}-g{number + 1}")
        await index.open(fingerprint)
        return index

    async def switch(self, successor: ServerIndex) -> None:
        steps: list[m.AliasOperations] = []
        if await self._current() is not None:
            steps.append(m.DeleteAliasOperation(delete_alias=m.DeleteAlias(alias_name=self._name)))
        alias = m.CreateAlias(alias_name=self._name, collection_name=successor.collection)
        steps.append(m.CreateAliasOperation(create_alias=alias))
        await call(lambda: self._client.update_collection_aliases(steps))

    async def prune(self) -> None:
        current = await self._current()
        ours = re.compile(rf"{re.escape(self._name)}-g\d+")
        for collection in (await call(self._client.get_collections)).collections:
            if collection.name != current and ours.fullmatch(collection.name):
                await call(lambda name=collection.name: self._client.delete_collection(name))

    async def _current(self) -> str | None:
        aliases = (await call(self._client.get_aliases)).aliases
        return next((a.collection_name for a in aliases if a.alias_name == self._name), None)
