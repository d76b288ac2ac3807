import pytest

from retrieval.answer.extractive.answerer import ExtractiveAnswerer
from retrieval.answer.extractive.rework import read_statements
from retrieval.answer.protocol import CannotRework, HistoryTurn, Rework
from tests.doubles.models import HashEmbedder
from tests.retrieval.answer.extractive.requests import request, said, source

PASSAGE = source(
    "API keys expire after 90 days. You change a key under Settings > Security > Keys. "
    "The old key works for 24 more hours. API keys expire sooner when they leak."
)
OTHER = source("Tokens live for 60 minutes.", "2")
ANSWER = (
    "You change a key under Settings > Security > Keys. The old key works for 24 more hours. [1]\n\n"
    "API keys expire after 90 days. [1] Tokens live for 60 minutes. [2]"
)
HISTORY = (
    HistoryTurn("person", "hi"),
    HistoryTurn("person", "After how many days do API keys expire?"),
    HistoryTurn("assistant", ANSWER),
    HistoryTurn("person", "thanks!"),
)


async def rework(
    instruction: str, previous: str = ANSWER, *, history: tuple[HistoryTurn, ...] = HISTORY
) -> str:
    answerer = ExtractiveAnswerer(HashEmbedder(256))
    asked = request(instruction, PASSAGE, OTHER, history=history, rework=Rework(instruction, previous))
    return await said(answerer, asked)


@pytest.mark.parametrize("wish", ["shorten that", "kürzer bitte", "短くして", "tl;dr"])
async def test_shorter_is_the_statement_that_answers_with_its_citation(wish: str) -> None:
    assert await rework(wish) == "API keys expire after 90 days. [1]"


async def test_without_its_question_an_answer_is_cut_to_its_beginning() -> None:
    assert await rework("shorter", history=()) == "You change a key under Settings > Security > Keys. [1]"


async def test_a_list_has_each_statement_with_its_citation() -> None:
    assert await rework("as a list please") == (
        "- You change a key under Settings > Security > Keys. [1]\n"
        "- The old key works for 24 more hours. [1]\n"
        "- API keys expire after 90 days. [1]\n- Tokens live for 60 minutes. [2]"
    )


async def test_a_lead_without_a_citation_is_no_statement() -> None:
    assert await rework("als Liste", "In den Dokumenten steht:\n\n" + ANSWER) == await rework("als Liste")


async def test_a_list_stays_a_list_and_a_table_becomes_one() -> None:
    assert (
        await rework("as a list", "1. Open it. [1]\n2. Close it. [2]") == "- Open it. [1]\n- Close it. [2]"
    )
    table = "| Plan | Days |\n| --- | --- |\n| Free | 30 [1] |\n| Pro | 90 [2] |"
    assert await rework("as a list", table) == "- Plan: Free, Days: 30 [1]\n- Plan: Pro, Days: 90 [2]"


async def test_more_quotes_more_of_the_same_sources() -> None:
    text = await rework("more details please")
    assert "API keys expire after 90 days. [1]" in text
    assert "sooner when they leak" in text


@pytest.mark.parametrize("wish", ["in German please", "simpler", "as a table", "in a pirate's voice", ""])
async def test_what_needs_a_model_is_refused(wish: str) -> None:
    with pytest.raises(CannotRework):
        await rework(wish)


async def test_an_answer_without_text_cannot_be_reworked() -> None:
    with pytest.raises(CannotRework):
        await rework("shorter", " \n")


def test_labels_count_for_the_sentences_before_them() -> None:
    statements, _ = read_statements("A is so. B is so. [1][2] C is so.\n\nD is so [2].", [PASSAGE, OTHER])
    assert [(s.text, s.labels) for s in statements] == [
        ("A is so.", ("1", "2")),
        ("B is so.", ("1", "2")),
        ("D is so.", ("2",)),
    ]


def test_labels_may_be_names_with_odd_characters() -> None:
    odd = source("x", "a+b (1).md#2")
    statements, _ = read_statements("It is so. [a+b (1).md#2]", [odd])
    assert [s.marked() for s in statements] == ["It is so. [a+b (1).md#2]"]
