"""What a document is called."""

import pytest

from retrieval.ingest.title import MAX_TITLE, title_of


@pytest.mark.parametrize(
    ("given", "parsed", "heading", "title"),
    [
        ("Our keys", "Parsed", "Heading", "Our keys"),
        ("keys", "Parsed", "Heading", "Parsed"),
        ("keys.md", "Parsed", "Heading", "Parsed"),
        ("", None, "Heading", "Heading"),
        ("", "  ", None, "keys"),
        ("", "Microsoft Word - draft.doc", "Key policy", "Key policy"),
        ("", "Untitled-1", "Sheet1", "keys"),
        ("", "report_final.docx", "Table of Contents", "keys"),
        ("", "Präsentation1", "1", "keys"),
        ("", "密钥管理", None, "密钥管理"),
        ("", "Key\u202e policy\0\u200b\n2026", None, "Key policy 2026"),
        ("", "\u200b\u202e", "\u3164", "keys"),
    ],
)
def test_title(given: str, parsed: str | None, heading: str | None, title: str) -> None:
    assert title_of(name="keys.md", given=given, parsed=parsed, heading=heading) == title


@pytest.mark.parametrize(
    ("name", "title"),
    [
        ("a/b\\plan.v2.pdf", "plan.v2"),
        ("\u202e.pdf", "Untitled document"),
        ("README", "README"),
        ("", "Untitled document"),
    ],
)
def test_file_names(name: str, title: str) -> None:
    assert title_of(name=name, given="", parsed=None, heading=None) == title


def test_a_long_title_is_cut_between_words() -> None:
    title = title_of(name="x", given="", parsed="word " * 1000, heading=None)
    assert len(title) <= MAX_TITLE
    assert title.endswith("word…")


@pytest.mark.parametrize("name", ["stock.xlsx", "stock.CSV", "stock.json"])
def test_a_sheet_or_a_key_is_no_title(name: str) -> None:
    assert title_of(name=name, given="stock", parsed=None, heading="Revenue 2026") == "stock"
