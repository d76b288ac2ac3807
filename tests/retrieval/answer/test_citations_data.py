"""Human answers with citations, as people wrote them (2,063 of them)."""

from __future__ import annotations

import json
import re

import pytest

from retrieval.answer.citations import CitationParser
from tests.data import DATA, needs_data

_CODE = re.compile(r"`[^`\n]*`")
_GROUP = re.compile(r"\[\s*(\d+\s*(?:[,*-]+\s*\d+\s*\**\s*)*)\]")


def named_by_pattern(text: str, labels: set[str]) -> set[str]:
    """The labels in groups such as [1, 3-5], by another way than the parser's."""
    found: set[str] = set()
    for group in _GROUP.findall(_CODE.sub("", text)):
        for item in group.replace("*", "").split(","):
            first, *rest = (int(number) for number in item.split("-"))
            found |= {str(number) for number in range(first, (rest[-1] if rest else first) + 1)}
    return found & labels


@needs_data
@pytest.mark.data
def test_the_citations_of_human_answers_are_found() -> None:
    assert DATA
    path = DATA / "retrieval" / "lfrqa_citations" / "technology.jsonl"
    rows = [json.loads(line) for line in path.read_text("utf-8").splitlines()]
    different = 0
    for row in rows:
        text = row["faithful_answer_w_citation"]
        labels = [str(number) for number in range(1, len(row["gold_doc_ids"]) + 1)]
        parser = CitationParser(labels)
        shown = "".join(parser.feed(text[i : i + 11]) for i in range(0, len(text), 11)) + parser.finish()
        named = parser.named
        different += {source.label for source in named} != named_by_pattern(text, set(labels))
        numbers = {int(mark) for mark in re.findall(r"(?<!\\)\[(\d{1,2})\]", _CODE.sub("", shown))}
        assert numbers <= {source.number for source in named}
        assert all(source.claims for source in named)
    assert len(rows) == 2063
    assert different <= 2
