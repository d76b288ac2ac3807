"""The built graph on disk: made once, checked on every start, made again if it is not what it was."""

from __future__ import annotations

import contextlib
import hashlib
import subprocess
import tempfile
from pathlib import Path

from retrieval.models.local.child import python_module
from retrieval.models.local.weights import NAME
from retrieval.models.protocol import ModelError

#: Goes up whenever build.py makes another graph from the same weights.
GRAPH_REVISION = 2
_BUILD_TIMEOUT = 120.0


def graph_file(cache: Path, weights: Path, version: str) -> Path:
    """A sound graph for these weights in the folder `cache`. Blocks for seconds if it must be built.

    Safe when several processes ask at once: each builds the same bytes and renames them into place.
    Raises `ModelError` ("misconfigured") if the folder can't be written or the build fails.
    """
    graph = cache / f"{NAME}-{version}-int8-{GRAPH_REVISION}.onnx"
    digest = graph.with_suffix(".sha256")
    with contextlib.suppress(OSError):
        if digest.read_text() == _sha256(graph):
            return graph
    try:
        cache.mkdir(parents=True, exist_ok=True)
        with tempfile.TemporaryDirectory(dir=cache, prefix=".build-") as folder:
            built = Path(folder) / "graph"
            _build(weights, built)
            checked = Path(folder) / "digest"
            checked.write_text(_sha256(built))
            built.replace(graph)
            checked.replace(digest)
    except (OSError, subprocess.SubprocessError) as error:
        if isinstance(error, subprocess.CalledProcessError):
            error.add_note(error.stderr.decode(errors="replace")[-1000:])
        raise ModelError(
            "misconfigured",
            f"The local embedding model can't be prepared in {cache} ({type(error).__name__}). "
            "Is the folder writable, and is there some space left?",
            model=f"local:{NAME}",
        ) from error
    return graph


def _build(weights: Path, target: Path) -> None:
    command, environment = python_module("retrieval.models.local.build", weights, target)
    subprocess.run(command, env=environment, check=True, capture_output=True, timeout=_BUILD_TIMEOUT)


def _sha256(path: Path) -> str:
    with path.open("rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()
