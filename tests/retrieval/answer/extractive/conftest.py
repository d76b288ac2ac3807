"""The local model, loaded once a test process."""

import pytest

from retrieval.models.local import E5Embedder


@pytest.fixture(scope="session")
def local_embedder(tmp_path_factory: pytest.TempPathFactory) -> E5Embedder:
    return E5Embedder(tmp_path_factory.mktemp("models"))
