import os
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest

from retrieval.models.local import store
from retrieval.models.local.store import graph_file
from retrieval.models.protocol import ModelError


@pytest.fixture
def builds(monkeypatch: pytest.MonkeyPatch) -> list[Path]:
    """Counts builds; each writes the same few bytes."""
    made: list[Path] = []

    def build(weights: Path, target: Path) -> None:
        made.append(target)
        target.write_bytes(b"graph int8")

    monkeypatch.setattr(store, "_build", build)
    return made


def ask(cache: Path, version: str = "1") -> Path:
    return graph_file(cache, Path("weights"), version)


def test_a_graph_is_built_once(tmp_path: Path, builds: list[Path]) -> None:
    cache = tmp_path / "new" / "folder"
    assert ask(cache) == ask(cache)
    assert ask(cache).read_bytes() == b"graph int8"
    assert len(builds) == 1


def test_another_version_or_revision_is_another_graph(
    tmp_path: Path, builds: list[Path], monkeypatch: pytest.MonkeyPatch
) -> None:
    paths = {ask(tmp_path), ask(tmp_path, version="2")}
    monkeypatch.setattr(store, "GRAPH_REVISION", store.GRAPH_REVISION + 1)
    paths.add(ask(tmp_path))
    assert len(paths) == len(builds) == 3


@pytest.mark.parametrize("damage", [b"", b"graph", b"graph int9", b"graph int8 and more"])
def test_a_damaged_graph_is_built_again(tmp_path: Path, builds: list[Path], damage: bytes) -> None:
    ask(tmp_path).write_bytes(damage)
    assert ask(tmp_path).read_bytes() == b"graph int8"
    assert len(builds) == 2


@pytest.mark.parametrize("suffix", [".onnx", ".sha256"])
def test_a_lost_file_is_built_again(tmp_path: Path, builds: list[Path], suffix: str) -> None:
    ask(tmp_path).with_suffix(suffix).unlink()
    assert ask(tmp_path).read_bytes() == b"graph int8"
    assert len(builds) == 2


def test_nothing_else_is_left_behind(tmp_path: Path, builds: list[Path]) -> None:
    path = ask(tmp_path)
    assert set(tmp_path.iterdir()) == {path, path.with_suffix(".sha256")}


def test_several_may_build_at_once(tmp_path: Path, builds: list[Path]) -> None:
    with ThreadPoolExecutor(8) as pool:
        paths = set(pool.map(ask, [tmp_path] * 16))
    assert [path.read_bytes() for path in paths] == [b"graph int8"]


def test_a_failed_build_says_so_and_leaves_nothing(tmp_path: Path) -> None:
    with pytest.raises(ModelError, match="can't be prepared") as caught:
        graph_file(tmp_path, tmp_path / "missing", "1")
    assert caught.value.kind == "misconfigured"
    assert list(tmp_path.iterdir()) == []


def test_a_file_in_place_of_the_folder_says_so(tmp_path: Path, builds: list[Path]) -> None:
    (tmp_path / "file").touch()
    with pytest.raises(ModelError, match="can't be prepared"):
        ask(tmp_path / "file")


@pytest.mark.skipif(not hasattr(os, "geteuid") or os.geteuid() == 0, reason="root may write anywhere")
def test_a_folder_that_cannot_be_written_says_so(tmp_path: Path, builds: list[Path]) -> None:
    tmp_path.chmod(0o500)
    with pytest.raises(ModelError, match="writable"):
        ask(tmp_path / "models")
