"""The process that embeds in bulk: its priority, its ends, and that its vectors are the same."""

import asyncio
import os
import signal
import socket
import sys
from collections.abc import Iterator
from multiprocessing.connection import Connection
from pathlib import Path

import numpy as np
import psutil
import pytest

from retrieval.models.local import E5Embedder, bulk
from retrieval.models.local.bulk import BulkProcess
from retrieval.models.local.bulk_worker import NICENESS, serve
from retrieval.models.local.encoder import Encoder
from retrieval.models.protocol import ModelError

TEXTS = ["Keys expire after 90 days.", "\ud800 lone", "", "before\0after", "東京タワー"]


@pytest.fixture(scope="module")
def process(cache_dir: Path) -> Iterator[BulkProcess]:
    process = BulkProcess(cache_dir, threads=1)
    yield process
    process.close()


def running(process: BulkProcess) -> psutil.Process:
    process.encode(["text"])
    assert process.pid is not None
    return psutil.Process(process.pid)


def unprepared(cache: Path, weights: Path, version: str) -> Path:
    return cache


def instead(monkeypatch: pytest.MonkeyPatch, code: str) -> None:
    """Another program stands in for the process."""

    def python_module(module: str, *arguments: object) -> tuple[list[str], dict[str, str]]:
        return [sys.executable, "-c", code], dict(os.environ)

    monkeypatch.setattr(bulk, "python_module", python_module)
    monkeypatch.setattr(bulk, "graph_file", unprepared)


def test_it_has_a_lower_priority_in_the_same_session(process: BulkProcess) -> None:
    child = running(process)
    assert child.nice() == psutil.Process().nice() + NICENESS
    assert os.getsid(child.pid) == os.getsid(0)


async def test_its_vectors_are_those_of_this_process(embedder: E5Embedder) -> None:
    np.testing.assert_array_equal(
        await embedder.embed_passages(TEXTS), await embedder.embed_passages(TEXTS, urgent=True)
    )


def test_a_killed_one_is_replaced(process: BulkProcess) -> None:
    before = process.encode(TEXTS)
    first = running(process)
    first.kill()
    np.testing.assert_array_equal(process.encode(TEXTS), before)
    assert process.pid != first.pid


def test_it_ends_with_its_owner_and_leaves_no_zombie(cache_dir: Path) -> None:
    process = BulkProcess(cache_dir, threads=1)
    child = running(process)
    process.close()
    assert not child.is_running()
    assert process.pid is None


def test_interrupts_are_for_its_owner(process: BulkProcess) -> None:
    child = running(process)
    child.send_signal(signal.SIGINT)
    assert running(process).pid == child.pid


def test_one_without_work_ends(cache_dir: Path) -> None:
    ours, theirs = socket.socketpair()
    with ours, Connection(theirs.detach()) as connection:
        serve(connection, Encoder(cache_dir, 1), idle_seconds=0)


def test_one_that_always_dies_is_given_up(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    instead(monkeypatch, "pass")
    process = BulkProcess(tmp_path, 1)
    with pytest.raises(ModelError) as caught:
        process.encode(["text"])
    assert caught.value.kind == "unavailable"
    assert process.pid is None


def test_one_that_hangs_is_ended(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    instead(monkeypatch, "import time; time.sleep(600)")
    monkeypatch.setattr(bulk, "_PATIENCE", 0.01)
    process = BulkProcess(tmp_path, 1)
    with pytest.raises(ModelError) as caught:
        process.encode(["text"])
    assert caught.value.kind == "timeout"
    assert process.pid is None


@pytest.mark.parametrize("prepares", [True, False])
def test_one_that_cannot_load_the_model_says_why(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, prepares: bool
) -> None:
    if not prepares:
        monkeypatch.setattr(bulk, "graph_file", unprepared)
    (tmp_path / "file").touch()
    process = BulkProcess(tmp_path / "file", 1)
    with pytest.raises(ModelError, match="can't be prepared") as caught:
        process.encode(["text"])
    assert caught.value.kind == "misconfigured"


async def test_questions_need_none(cache_dir: Path) -> None:
    children = {child.pid for child in psutil.Process().children()}
    embedder = E5Embedder(cache_dir)
    await asyncio.gather(embedder.embed_queries(["text"]), embedder.embed_passages(["text"], urgent=True))
    assert {child.pid for child in psutil.Process().children()} <= children
    await embedder.aclose()
