"""What a good parser recovers from real files, and why it refuses others."""

from __future__ import annotations

import json
from typing import Any

import pytest

from retrieval.documents import ParsedDocument
from retrieval.ingest.parse import parse
from retrieval.ingest.protocol import Unreadable
from tests.data import DATA, needs_data
from tests.retrieval.ingest.parse.matching import is_under, read_whole, sections_with, squashed

pytestmark = [pytest.mark.data, needs_data]

_FOLDER = DATA / "documents" if DATA else None


def _cases() -> list[dict[str, Any]]:
    if _FOLDER is None:
        return []
    return [json.loads(line) for line in (_FOLDER / "expected.jsonl").read_text("utf-8").splitlines()]


def _parse(name: str) -> ParsedDocument:
    assert _FOLDER is not None
    return parse(name, (_FOLDER / "files" / name).read_bytes())


@pytest.mark.parametrize("case", [c for c in _cases() if "expect" in c], ids=lambda case: case["file"])
def test_text_pages_and_headings_are_recovered(case: dict[str, Any]) -> None:
    document = _parse(case["file"])
    whole = squashed(read_whole(document))
    for wanted in case["expect"]:
        assert squashed(wanted["text"]) in whole
        found = sections_with(document, wanted["text"])
        if wanted["page"] is not None:
            assert wanted["page"] in {section.page for section in found}
        if wanted["heading"] is not None:
            assert any(is_under(section, wanted["heading"]) for section in found)
    for unwanted in case.get("absent", ()):
        assert squashed(unwanted) not in whole


@pytest.mark.parametrize("case", [c for c in _cases() if "error" in c], ids=lambda case: case["file"])
def test_what_cannot_be_read_is_refused_for_the_right_reason(case: dict[str, Any]) -> None:
    with pytest.raises(Unreadable) as refusal:
        _parse(case["file"])
    assert refusal.value.reason == case["error"]


def test_arabic_words_are_whole() -> None:
    """A ligature's parts come in the order of the alphabet, and words of two scripts stay apart."""
    whole = read_whole(_parse("right_to_left_01.pdf"))
    assert "تحسين الإنتاجية" in whole
    assert "R و Python من الأدوات" in whole
