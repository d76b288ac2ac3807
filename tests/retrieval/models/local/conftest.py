"""The model, loaded once a test process."""

from pathlib import Path

import pytest

from retrieval.models.local import E5Embedder
from retrieval.models.local.weights import Pieces, Weights, locate


@pytest.fixture(scope="session")
def cache_dir(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("models")


@pytest.fixture(scope="session")
def embedder(cache_dir: Path) -> E5Embedder:
    return E5Embedder(cache_dir)


@pytest.fixture(scope="session")
def weights() -> Weights:
    path, _ = locate()
    return Weights(path)


@pytest.fixture(scope="session")
def pieces(weights: Weights) -> Pieces:
    return weights.pieces()
