"""What a list of hits says in a terminal."""

from __future__ import annotations

import io

import pytest
from rich.console import Console

from adapters.ports import SearchHit
from bot.terminal import show_hits


def shown(**values: object) -> str:
    facts = {
        "rank": 1,
        "score": 0.5,
        "chunk_id": "c1",
        "document_id": "d1",
        "title": "Plans",
        "text": "Soon.",
    }
    console = Console(file=io.StringIO(), width=100)
    show_hits(console, [SearchHit.model_validate(facts | values)])
    assert isinstance(console.file, io.StringIO)
    return console.file.getvalue()


@pytest.mark.parametrize(
    ("values", "place"),
    [
        ({"name": "plans.pptx", "page": 3}, "Plans, slide 3"),
        ({"name": "plans.pdf", "page": 3, "heading_path": ("Goals",)}, "Plans > Goals, p. 3"),
        ({"name": "plans.md", "summary": True}, "Plans, summary of the document"),
    ],
)
def test_a_hit_says_where_it_stands(values: dict[str, object], place: str) -> None:
    assert place in shown(**values)
    assert ("summary" in place) == ("summary" in shown(**values))
