"""A model's output is cleaned or dropped, never searched as it is."""

from __future__ import annotations

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from retrieval.answer.protocol import Rephrased
from retrieval.answer.queries import clean_queries, clean_query, clean_rephrased, plan_queries
from tests.data import DATA, needs_data

QUESTION = "How long do keys last?"


@pytest.mark.parametrize(
    ("line", "query"),
    [
        ("1. key lifetime", "key lifetime"),
        ("2) key lifetime ", "key lifetime"),
        ("(3) key lifetime", "key lifetime"),
        ("4.key lifetime", "key lifetime"),
        ("- key lifetime", "key lifetime"),
        ("• key lifetime", "key lifetime"),
        ("a) key lifetime", "key lifetime"),
        ("① key lifetime", "key lifetime"),
        ("## key lifetime", "key lifetime"),
        ('1. "key lifetime"', "key lifetime"),
        ("“key lifetime”", "key lifetime"),
        ("**key lifetime**", "key lifetime"),
        ('"key lifetime",', "key lifetime"),
        ("Query 2: key lifetime", "key lifetime"),
        ("Standalone question: key lifetime", "key lifetime"),
        ("Alternative #1: key lifetime", "key lifetime"),
        ("Q1. key lifetime", "key lifetime"),
        # No decoration, but part of the query.
        ("3.5 inch floppy disks", "3.5 inch floppy disks"),
        ("v2.3.1 release notes", "v2.3.1 release notes"),
        ("-v flag of curl", "-v flag of curl"),
        ('"stay" of execution and "leave" to appeal', '"stay" of execution and "leave" to appeal'),
        ("Is remote work okay, and where?", "Is remote work okay, and where?"),
        ("What is here that is new?", "What is here that is new?"),
        ("okay signs in diving", "okay signs in diving"),
        ("密钥有效期多长", "密钥有效期多长"),
    ],
)
def test_decoration_goes_and_the_query_stays(line: str, query: str) -> None:
    assert clean_query(line) == query


@pytest.mark.parametrize(
    "line",
    [
        *("", "   ", "---", "```", "```json", "{", "],", "1.", "...", "?"),
        *("Here are 4 queries:", "Here are 4 diverse search queries", "Sure! Here are four alternatives."),
        *("These are the queries", "The following queries explore the topic", "Alternatives:", "查询："),
        *("Certainly, I rewrote the question.", "Let me know if you need more queries!"),
        *("Hier sind 4 Suchanfragen", "Voici 4 requêtes", "Aquí tienes 4 consultas", "以下是4个查询"),
        *("Note: these queries are diverse.", "word " * 61, "x" * 401),
    ],
)
def test_what_is_no_query_is_dropped(line: str) -> None:
    assert clean_query(line) is None


def test_one_field_with_everything_in_it_is_taken_apart() -> None:
    raw = Rephrased(
        standalone="Here is the standalone question:\n\n" + QUESTION,
        alternatives=("Here are 2 queries:\n\n1. key lifetime\n2. expiry of keys\n",),
    )
    cleaned = clean_rephrased(raw, QUESTION, limit=4, history=False)
    assert cleaned == Rephrased(standalone=QUESTION, alternatives=("key lifetime", "expiry of keys"))


@pytest.mark.parametrize(
    "value", [["key lifetime", "expiry"], {"queries": [{"q": "key lifetime"}, "expiry"]}]
)
def test_json_inside_a_field_is_read(value: object) -> None:
    assert list(clean_queries([json.dumps(value)])) == ["key lifetime", "expiry"]


def test_a_rewrite_that_only_repeats_is_dropped() -> None:
    raw = Rephrased(
        standalone="how long do KEYS last",
        alternatives=(QUESTION, "How long do keys last??", "key lifetime", "Key lifetime.", "expiry"),
    )
    cleaned = clean_rephrased(raw, QUESTION, limit=4, history=True)
    assert cleaned == Rephrased(standalone=QUESTION, alternatives=("key lifetime", "expiry"))
    assert clean_rephrased(raw, QUESTION, limit=1, history=True).alternatives == ("key lifetime",)


@pytest.mark.parametrize(
    ("rephrased", "queries"),
    [
        (None, ["and XJ-900B?"]),
        (Rephrased(standalone="and XJ-900B?"), ["and XJ-900B?"]),
        # The thread changed the question: as it stands it would find anything.
        (Rephrased(standalone="Price of XJ-900B", used_history=True), ["Price of XJ-900B"]),
        (
            Rephrased(standalone="Price of XJ-900B", alternatives=("cost",), used_history=True),
            ["Price of XJ-900B", "cost"],
        ),
        # The rephraser isn't sure that it did.
        (
            Rephrased(standalone="Price of XJ-900B", used_history=True, keeps_question=True),
            ["Price of XJ-900B", "and XJ-900B?"],
        ),
        # It did not: the person's own words are searched too.
        (Rephrased(standalone="Price of XJ-900B"), ["and XJ-900B?", "Price of XJ-900B"]),
        # The rewrite lost the part number.
        (Rephrased(standalone="Its price", used_history=True), ["Its price", "and XJ-900B?"]),
    ],
)
def test_what_is_searched(rephrased: Rephrased | None, queries: list[str]) -> None:
    assert plan_queries("and XJ-900B?", rephrased) == queries


@given(
    st.text(max_size=60),
    st.lists(
        st.text(max_size=60) | st.sampled_from(["1. a b", "Here are queries:", '"x y"', "- - z"]),
        max_size=6,
    ),
    st.integers(0, 4),
    st.booleans(),
)
def test_cleaning_is_safe_and_final(standalone: str, lines: list[str], limit: int, history: bool) -> None:
    raw = Rephrased(standalone=standalone, alternatives=tuple(lines))
    cleaned = clean_rephrased(raw, QUESTION, limit=limit, history=history)
    assert cleaned.standalone.strip()
    assert len(cleaned.alternatives) <= limit
    assert QUESTION not in cleaned.alternatives
    again = clean_rephrased(cleaned, QUESTION, limit=limit, history=history)
    assert again.standalone == cleaned.standalone
    assert len(set(plan_queries(QUESTION, cleaned))) == len(plan_queries(QUESTION, cleaned))


@pytest.mark.parametrize(
    ("standalone", "query"),
    [
        ("Hello team,\nhow long do keys\nlast?", "Hello team,\nhow long do keys last?"),
        ("1. key lifetime\n2. expiry", "key lifetime"),
        ("key lifetime\nin days", "key lifetime in days"),
        ("Here are 4 queries:", "Hello team,\nhow long do keys last?"),
        ("long " * 50 + "\n" + "long " * 50, "Hello team,\nhow long do keys last?"),
    ],
)
def test_a_question_of_several_lines_keeps_them(standalone: str, query: str) -> None:
    asked = "Hello team,\nhow long do keys last?"
    cleaned = clean_rephrased(Rephrased(standalone=standalone), asked, limit=0, history=True)
    assert cleaned.standalone == query


@needs_data
@pytest.mark.data
def test_the_output_that_a_public_study_searched_as_it_was() -> None:
    """200 cached rewrites of a model: 96 begin with a sentence about queries, most lines are listed."""
    assert DATA
    path = DATA / "retrieval" / "nfcorpus_preprocessed" / "rewrites.jsonl"
    rows = [json.loads(line) for line in path.read_text("utf-8").splitlines()]
    assert len(rows) == 200
    for row in rows:
        # The reference took off quotation marks that belong to the query and left some that don't.
        wanted = [" ".join(query.split()).strip('"“”') for query in row["rewrites"]]
        assert [query.strip('"“”') for query in clean_queries(row["raw"])] == wanted
