"""Pools with the real worker and with one that does harm."""

from __future__ import annotations

from collections.abc import AsyncIterator
from pathlib import Path

import pytest

from retrieval.ingest import sandbox_process
from retrieval.ingest.sandbox import ParserPool
from tests.retrieval.ingest.pools import Make, forget_others


@pytest.fixture(autouse=True)
def count_own_workers() -> None:
    forget_others()


@pytest.fixture
async def make() -> AsyncIterator[Make]:
    pools: list[ParserPool] = []

    def pool(**kwargs: object) -> ParserPool:
        pools.append(ParserPool(**({"workers": 1} | kwargs)))  # pyright: ignore[reportArgumentType]
        return pools[-1]

    yield pool
    for each in pools:
        await each.aclose()


@pytest.fixture
def bad(monkeypatch: pytest.MonkeyPatch, make: Make) -> Make:
    monkeypatch.setattr(sandbox_process, "WORKER", "tests.retrieval.ingest.bad_worker")
    return make


@pytest.fixture
def file(tmp_path: Path) -> Path:
    path = tmp_path / "file"
    path.write_bytes(b"words")
    return path
