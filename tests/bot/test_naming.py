"""What a document may be called at a terminal."""

from __future__ import annotations

import io
from datetime import UTC, datetime

import pytest
from hypothesis import given
from hypothesis import strategies as st
from rich.console import Console

from adapters.forms import ProgressItem
from adapters.ports import DocumentView, Refused
from bot.naming import LEAST, named, short_ids
from bot.terminal import show_documents


def view(document_id: str, name: str, **values: object) -> DocumentView:
    state = ProgressItem(document_id=document_id, version_id="v1", name=name, stage="done")
    facts = {"version_id": "v1", "version": 1, "title": name, "knowledge_base": "general", "state": state}
    return DocumentView.model_validate(
        {"document_id": document_id, "name": name, "uploaded_at": datetime(2026, 1, 1, tzinfo=UTC)}
        | facts
        | values
    )


IDS = st.lists(st.text("ab", min_size=12, max_size=12), unique=True)


@given(IDS)
def test_each_short_id_names_its_document(ids: list[str]) -> None:
    documents = [view(document_id, "rules.md") for document_id in ids]
    short = short_ids(ids)
    assert list(short) == ids
    assert all(len(s) >= LEAST for s in short.values())
    for document_id, beginning in short.items():
        assert named(documents, beginning).document_id == document_id


DOCUMENTS = [
    view("abcdef01", "keys.md"),
    view("abcdef02", "rules.md"),
    view("123456ff", "rules.md"),
    view("99999999", "abcdef"),
]


@pytest.mark.parametrize(
    ("name", "document_id"),
    [("keys.md", "abcdef01"), ("123456", "123456ff"), ("abcdef02", "abcdef02"), ("abcdef", "99999999")],
)
def test_a_name_or_the_beginning_of_an_id(name: str, document_id: str) -> None:
    assert named(DOCUMENTS, name).document_id == document_id


@pytest.mark.parametrize(
    ("name", "sentence"),
    [
        ("rules.md", "Several documents are named “rules.md”"),
        ("abcdef0", "The ids of several documents begin with “abcdef0”"),
        ("12345", "There is no document “12345”"),
        ("", "There is no document “”"),
    ],
)
def test_what_names_no_single_document_is_refused(name: str, sentence: str) -> None:
    with pytest.raises(Refused, match=sentence):
        named(DOCUMENTS, name)


def test_the_list_fits_a_narrow_terminal() -> None:
    console = Console(file=io.StringIO(), width=80)
    names = ["travel-policy.pdf", "a-very-long-name-of-a-document-from-somewhere-else-2026.docx"]
    documents = [
        view(f"{number}0ab12cd34ef56789aa0b1c2d3e4f506", name, labels=("on call", "hr"), chunks=12345)
        for number, name in enumerate(names)
    ]
    show_documents(console, documents)
    assert isinstance(console.file, io.StringIO)
    lines = console.file.getvalue().splitlines()
    assert max(map(len, lines)) <= 80
    (row,) = [line for line in lines if "travel-policy.pdf" in line]
    for cell in ("general", "on call", "done", "12345", "00ab12"):
        assert cell in row
    assert "…" not in "".join(lines)
