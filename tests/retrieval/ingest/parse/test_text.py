"""Markdown, plain text, source code, CSV, JSON and YAML."""

from __future__ import annotations

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from retrieval.documents import ParsedDocument
from retrieval.ingest.limits import ParseLimits
from retrieval.ingest.parse import parse
from retrieval.ingest.protocol import Unreadable
from tests.retrieval.ingest.parse.matching import outcome, read_whole


def bodies(name: str, text: str) -> list[tuple[tuple[str, ...], str]]:
    return [(section.heading_path, section.markdown) for section in parse(name, text.encode()).sections]


def test_markdown_is_divided_by_its_headings() -> None:
    text = (
        "Before\n\n# Keys `api` **now**\n\nText\n\n## [Rotation](https://e.com)\n\n"
        "```sh\n# a comment\n```\n\n"
        "Setext\n======\n\nlast\n\n- item\n---\n\n| a |\n| - |\n\n### Deep ###\nend\n"
    )
    assert bodies("a.md", text) == [
        ((), "Before"),
        (("Keys api now",), "Text"),
        (("Keys api now", "Rotation"), "```sh\n# a comment\n```"),
        (("Setext",), "last\n\n- item\n---\n\n| a |\n| - |"),
        (("Setext", "Deep"), "end"),
    ]


@pytest.mark.parametrize(
    ("text", "title"),
    [
        ("# The title\n\nText", "The title"),
        ("---\ntitle: From the front\ndate: 2024-01-02\n---\n# Heading\nText", "From the front"),
        ("Text first\n\n# Later heading\n\nText", None),
        ("---\nnot: [valid\n---\nText", None),
    ],
)
def test_the_title_of_markdown(text: str, title: str | None) -> None:
    document = parse("a.md", text.encode())
    assert document.title == title
    assert "Text" in read_whole(document)


def test_a_date_in_the_front_matter() -> None:
    date = parse("a.md", b"---\ndate: 2024-01-02\n---\nText").document_date
    assert date is not None
    assert date.date().isoformat() == "2024-01-02"


@given(
    st.text(
        st.characters(codec="utf-8", exclude_categories=["Cc", "Cs"]) | st.sampled_from("#\n`~-= "),
        min_size=1,
    )
)
def test_markdown_loses_no_word(text: str) -> None:
    found = outcome("a.md", text.encode())
    if isinstance(found, str):
        assert found == "empty"
        assert not any(char.isalnum() for char in text)
    else:
        kept = "".join(filter(str.isalnum, read_whole(found)))
        assert all(char in kept for char in text if char.isalnum())


def test_plain_text_is_no_markdown_and_form_feeds_turn_the_page() -> None:
    document = parse("a.txt", b"# not a heading\n* item\n\x0cpage \x1b[31mtwo\x1b[0m\n")
    assert [(section.page, section.markdown) for section in document.sections] == [
        (1, "\\# not a heading\n* item"),
        (2, "page two"),
    ]


def test_code_is_fenced_under_its_definitions() -> None:
    filler = "    # something that takes up room\n" * 60
    code = f"import os\n\n# pays\n@cached\ndef pay(a):\n{filler}\n\nclass Bank:\n    def open(self): ...\n"
    found = bodies("bank.py", code)
    assert [path for path, _ in found] == [(), ("pay",), ("Bank",)]
    assert found[0][1] == "```python\nimport os\n```"
    assert found[1][1].startswith("```python\n# pays\n@cached\ndef pay(a):")
    assert bodies("a.md.py", "x = '```'\n") == [((), "````python\nx = '```'\n````")]


@pytest.mark.parametrize(
    ("name", "line", "heading"),
    [
        ("a.java", "public final class Account {", "Account"),
        ("a.go", "func (b *Bank) Open() {", "Open"),
        ("a.rs", "pub(crate) fn open<T>() {", "open<T>"),
        ("a.ts", "export default function open() {", "open"),
        ("a.sql", "CREATE TABLE IF NOT EXISTS users (", "users"),
        ("a.sh", "deploy() {", "deploy"),
    ],
)
def test_definitions_by_language(name: str, line: str, heading: str) -> None:
    code = f"{line}\n" + "    some more of it\n" * 120
    assert bodies(name, code)[0][0] == (heading,)


def test_yaml_is_kept_as_written_and_expands_nothing() -> None:
    lines = "\n".join(f"  - entry number {at} of the list" for at in range(60))
    found = bodies("a.yaml", f"# settings\nname: x\nlist:  # why\n{lines}\n'odd key': &a [*a, *a]\n")
    assert [path for path, _ in found] == [("name",), ("list",), ("odd key",)]
    assert found[0][1] == "```yaml\n# settings\nname: x\n```"


@pytest.mark.parametrize("delimiter", [",", ";", "\t", "|"])
def test_delimited_files_become_tables(delimiter: str) -> None:
    rows = [["Name", "City", "Sum"], ["Ada", 'Say "hi"', "1.5"], ["Bob, Jr", "two\nlines", "2"]]
    quoted = "\r\n".join(
        delimiter.join('"' + cell.replace('"', '""') + '"' for cell in row) for row in rows
    )
    assert bodies("a.csv", quoted)[0][1] == (
        '| Name | City | Sum |\n| --- | --- | --- |\n| Ada | Say "hi" | 1.5 |\n| Bob, Jr | two lines | 2 |'
    )


def test_a_csv_with_decimal_commas_and_one_without_columns() -> None:
    assert "| 1,5 | 2,5 |" in bodies("a.csv", "a;b\n1,5;2,5\n3,5;4,5\n")[0][1]
    assert bodies("a.csv", "just\nsome\nlines\n")[0][1] == "just\nsome\nlines"


def test_json_is_made_readable() -> None:
    value = {
        "name": "x",
        "long": {"text": "words " * 300},
        "rows": [{"a": 1, "b": None}, {"a": 2, "b": "c|d"}],
    }
    assert bodies("a.json", json.dumps(value)) == [
        ((), "name: x"),
        (("long",), "text: " + "words " * 299 + "words"),
        (("rows",), "| a | b |\n| --- | --- |\n| 1 |  |\n| 2 | c\\|d |"),
    ]
    assert bodies("a.json", '{"a": [{"b": [1, {"c": 2, "d": []}], "e": "x"}], "f": {"g": true}}')[0][1] == (
        "a:\n  - b:\n    - 1\n    - c: 2\n      d:\n    e: x\nf:\n  g: true"
    )
    assert bodies("a.jsonl", '{"a": 1, "b": 2}\n{"a": 3, "b": 4}\n')[0][1].endswith("| 3 | 4 |")
    assert bodies("a.json", '{"a": 1, // odd\n}')[0][1] == '```json\n{"a": 1, // odd\n}\n```'


@pytest.mark.parametrize(
    ("name", "text"),
    [
        ("a.yaml", "key: value\nlist:\n  - a\n" * 6000),
        ("a.json", json.dumps({f"key{at}": {"text": "some words"} for at in range(6000)})),
        ("a.py", "def f():\n    return 1\n" * 6000),
    ],
)
def test_files_of_thousands_of_keys_are_not_cut_up(name: str, text: str) -> None:
    assert len(bodies(name, text)) == 1


_WORDS = st.from_regex(r"[a-z]{1,8}", fullmatch=True)
_JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | _WORDS,
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(_WORDS, inner, max_size=4),
    max_leaves=12,
)


@given(_JSON)
def test_json_loses_no_value(value: object) -> None:
    found = outcome("a.json", json.dumps(value).encode())
    if found == "empty":
        return
    assert isinstance(found, ParsedDocument)
    whole = read_whole(found)
    pending = [value]
    while pending:
        item = pending.pop()
        if isinstance(item, dict):
            assert all(str(key) in whole for key in item)  # pyright: ignore[reportUnknownVariableType]
            pending.extend(item.values())  # pyright: ignore[reportUnknownArgumentType]
        elif isinstance(item, list):
            pending.extend(item)  # pyright: ignore[reportUnknownArgumentType]
        elif isinstance(item, str):
            assert item in whole


def test_json_nested_too_deep() -> None:
    with pytest.raises(Unreadable, match="too_large"):
        parse("a.json", b"[" * 200_000 + b"1" + b"]" * 200_000)


@pytest.mark.parametrize("name", ["a.txt", "a.md", "a.csv", "a.json", "a.py", "a.yaml", "a.html"])
def test_more_text_than_is_allowed(name: str) -> None:
    with pytest.raises(Unreadable, match="too_large"):
        parse(name, b"word, word\n" * 500, limits=ParseLimits(max_text_chars=1000))


def test_notebooks() -> None:
    cells = [
        {"cell_type": "markdown", "source": ["# Sales\n", "All of them"]},
        {
            "cell_type": "code",
            "source": "print(1)",
            "outputs": [{"text": ["1\n"]}, {"data": {"image/png": "x"}}],
        },
        {"cell_type": "code", "source": ""},
    ]
    notebook = {"cells": cells, "metadata": {"kernelspec": {"language": "R"}}}
    document = parse("a.ipynb", json.dumps(notebook).encode())
    assert [(section.heading_path, section.markdown) for section in document.sections] == [
        (("Sales",), "All of them\n\n```R\nprint(1)\n```\n\n```\n1\n```")
    ]
    assert document.title == "Sales"
    assert bodies("b.ipynb", '{"nocells": "here"}') == [((), "nocells: here")]


def test_xml_with_text_is_text_and_other_xml_is_code() -> None:
    feed = (
        "<?xml version='1.0'?><rss><channel><title>News</title><item><title>Keys &amp; more</title>"
        f"<description>&lt;p&gt;{'Change them often. ' * 20}&lt;/p&gt;</description></item></channel></rss>"
    )
    assert bodies("a.xml", feed) == [(("News", "Keys & more"), ("Change them often. " * 20).strip())]
    words = "Some <em>marked</em> words. " * 20
    book = f"<book><title>Book</title><para>{words}</para><author>Ada</author></book>"
    assert bodies("a.xml", book)[0][1].endswith("Some marked words.\n\nauthor: Ada")
    settings = "<conf><a x='1' y='2'/><b name='something' value='other'/></conf>"
    assert bodies("a.xml", settings) == [((), f"```xml\n{settings}\n```")]
    assert bodies("a.xml", "<broken") == [((), "```xml\n<broken\n```")]
