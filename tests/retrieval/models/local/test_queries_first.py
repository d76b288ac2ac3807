"""Who goes first, who waits, who gives up: with an encoder that the test holds and lets go."""

from __future__ import annotations

import asyncio
import threading
from collections.abc import Sequence
from pathlib import Path

import numpy as np
import pytest

from retrieval.models.local import E5Embedder, e5
from retrieval.models.local.encoder import Role
from retrieval.models.local.gate import Gate
from retrieval.models.protocol import Vectors

TIMEOUT = 20


class HeldEncoder:
    """Writes down each step; a step that the test holds waits until it is let go."""

    def __init__(self) -> None:
        self.steps: list[str] = []
        self.held: dict[str, threading.Event] = {}
        self.begun: dict[str, threading.Event] = {}

    def hold(self, text: str) -> None:
        self.held[text], self.begun[text] = threading.Event(), threading.Event()

    def encode(self, text: str, role: Role = "passage") -> Vectors:
        self.steps.append(text)
        if text in self.held:
            self.begun[text].set()
            assert self.held[text].wait(TIMEOUT)
        return np.full(384, hash(text) % 1000, np.float32)

    async def wait_for(self, text: str) -> None:
        assert await asyncio.to_thread(self.begun[text].wait, TIMEOUT)


class HeldBulk:
    """Stands for the process that embeds in bulk, and for its class."""

    def __init__(self, encoder: HeldEncoder) -> None:
        self._encoder = encoder

    def __call__(self, cache: Path, threads: int) -> HeldBulk:
        return self

    def encode(self, texts: Sequence[str]) -> Vectors:
        return np.stack([self._encoder.encode(text) for text in texts])

    def close(self) -> None: ...


@pytest.fixture
def encoder(monkeypatch: pytest.MonkeyPatch) -> HeldEncoder:
    held = HeldEncoder()

    def make(cache: Path, threads: int) -> HeldEncoder:
        return held

    monkeypatch.setattr(e5, "Encoder", make)
    monkeypatch.setattr(e5, "BulkProcess", HeldBulk(held))
    monkeypatch.setattr(e5, "Gate", lambda: Gate(patience=TIMEOUT))
    return held


async def test_a_query_runs_beside_a_passage_and_the_next_passage_waits(
    encoder: HeldEncoder, tmp_path: Path
) -> None:
    embedder = E5Embedder(tmp_path)
    encoder.hold("p0")
    encoder.hold("q")
    passages = asyncio.create_task(embedder.embed_passages(["p0", "p1", "p2"]))
    await encoder.wait_for("p0")
    query = asyncio.create_task(embedder.embed_queries(["q"]))
    await encoder.wait_for("q")
    encoder.held["p0"].set()
    encoder.held["q"].set()
    await asyncio.gather(query, passages)
    assert encoder.steps == ["p0", "q", "p1", "p2"]


async def test_passages_that_someone_waits_for_overtake_the_rest(
    encoder: HeldEncoder, tmp_path: Path
) -> None:
    embedder = E5Embedder(tmp_path)
    encoder.hold("p0")
    passages = asyncio.create_task(embedder.embed_passages(["p0", "p1"]))
    await encoder.wait_for("p0")
    await embedder.embed_passages([f"urgent {i}" for i in range(9)], urgent=True)
    encoder.hold("last urgent")
    urgent = asyncio.create_task(embedder.embed_passages(["last urgent"], urgent=True))
    await encoder.wait_for("last urgent")
    encoder.held["p0"].set()
    encoder.held["last urgent"].set()
    await asyncio.gather(passages, urgent)
    assert encoder.steps == ["p0", *(f"urgent {i}" for i in range(9)), "last urgent", "p1"]


async def test_passages_go_on_when_the_query_is_given_up(encoder: HeldEncoder, tmp_path: Path) -> None:
    embedder = E5Embedder(tmp_path)
    encoder.hold("q")
    query = asyncio.create_task(embedder.embed_queries(["q"]))
    await encoder.wait_for("q")
    query.cancel()
    await embedder.embed_passages(["p0"])
    assert encoder.steps == ["q", "p0"]
    encoder.held["q"].set()


async def test_a_given_up_call_leaves_its_queue(encoder: HeldEncoder, tmp_path: Path) -> None:
    embedder = E5Embedder(tmp_path)
    encoder.hold("p0")
    running = asyncio.create_task(embedder.embed_passages(["p0", *(f"more {i}" for i in range(40))]))
    queued = asyncio.create_task(embedder.embed_passages(["never"] * 40))
    await encoder.wait_for("p0")
    running.cancel()
    queued.cancel()
    await asyncio.gather(running, queued, return_exceptions=True)
    encoder.held["p0"].set()
    assert len(await embedder.embed_passages(["last"])) == 1
    assert "never" not in encoder.steps
    assert len(encoder.steps) <= 5


async def test_calls_take_turns(encoder: HeldEncoder, tmp_path: Path) -> None:
    embedder = E5Embedder(tmp_path)
    await asyncio.gather(
        embedder.embed_passages([f"large {i}" for i in range(100)]), embedder.embed_passages(["small"])
    )
    assert encoder.steps.index("small") < 10


async def test_results_stand_in_the_order_of_the_texts(encoder: HeldEncoder, tmp_path: Path) -> None:
    texts = [f"text {i}" for i in range(23)]
    vectors = await E5Embedder(tmp_path).embed_passages(texts)
    assert vectors[:, 0].tolist() == [hash(text) % 1000 for text in texts]


async def test_a_repeated_query_is_remembered(encoder: HeldEncoder, tmp_path: Path) -> None:
    embedder = E5Embedder(tmp_path)
    for _ in range(2):
        await embedder.embed_queries(["again", "again", "other"])
    assert encoder.steps == ["again", "other"]
    await embedder.embed_queries([f"filler {i}" for i in range(300)])
    await embedder.embed_queries(["again"])
    assert encoder.steps[-1] == "again"


async def test_closing_waits_for_what_runs(encoder: HeldEncoder, tmp_path: Path) -> None:
    embedder = E5Embedder(tmp_path)
    encoder.hold("p0")
    passages = asyncio.create_task(embedder.embed_passages(["p0"]))
    await encoder.wait_for("p0")
    closing = asyncio.create_task(embedder.aclose())
    await asyncio.sleep(0)
    assert not closing.done()
    encoder.held["p0"].set()
    await closing
    assert len(await passages) == 1


def test_a_stream_of_queries_cannot_stop_passages_for_good() -> None:
    gate = Gate(patience=0.01)
    with gate.query():
        gate.wait()
