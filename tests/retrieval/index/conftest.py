from collections.abc import AsyncIterator
from pathlib import Path

import pytest
from qdrant_client import AsyncQdrantClient

from retrieval.index.edge import EdgeIndex
from retrieval.index.protocol import VectorIndex
from retrieval.index.server import ServerIndex
from tests.retrieval.index.support import MODEL


def pytest_configure(config: pytest.Config) -> None:
    # qdrant-client's local mode, the stand-in for a server, has no payload indexes and says so.
    config.addinivalue_line("filterwarnings", "ignore:Payload indexes have no effect:UserWarning")


@pytest.fixture(params=["edge", "server"])
async def index(request: pytest.FixtureRequest, tmp_path: Path) -> AsyncIterator[VectorIndex]:
    """Each store, open and empty; for the server its reference implementation stands in."""
    opened: VectorIndex
    if request.param == "edge":
        opened = EdgeIndex(tmp_path / "index")
    else:
        opened = ServerIndex(AsyncQdrantClient(":memory:"), "footnote")
    await opened.open(MODEL)
    yield opened
    await opened.close()
