import pytest

from retrieval.answer.extractive.answerer import ExtractiveAnswerer
from retrieval.answer.extractive.passages import read_passages
from retrieval.answer.extractive.question import read_question
from retrieval.answer.extractive.rank import Ranker
from retrieval.answer.extractive.said import unsaid
from retrieval.answer.protocol import HistoryTurn
from tests.doubles.models import HashEmbedder
from tests.retrieval.answer.extractive.requests import request, said, source

KEYS = source(
    "Change your API key every 90 days. The old key works for 24 more hours. "
    "A lost key is revoked at once.\n\n| City | Limit |\n|---|---|\n| Paris | 210 |\n| Lyon | 150 |",
    title="API keys",
)
ASKED = "How often do I change my API key?"
CHANGE, OLD = "Change your API key every 90 days. [1]", "The old key works for 24 more hours. [1]"


@pytest.fixture
def answerer() -> ExtractiveAnswerer:
    return ExtractiveAnswerer(HashEmbedder(256))


def thread(answer: str) -> list[HistoryTurn]:
    return [HistoryTurn("person", ASKED), HistoryTurn("assistant", answer)]


@pytest.mark.parametrize("before", [CHANGE, f"{CHANGE} {OLD}"])
async def test_a_follow_up_is_not_answered_with_the_answer_before(
    answerer: ExtractiveAnswerer, before: str
) -> None:
    asked = request(
        "And how many hours does the old key work?",
        KEYS,
        standalone="change API And how many hours does the old key work?",
        history=thread(before),
    )
    text = await said(answerer, asked)
    assert text.startswith(OLD)
    assert "90 days" not in text


async def test_whoever_asks_again_is_answered_again(answerer: ExtractiveAnswerer) -> None:
    text = await said(
        answerer, request("so how often do I change my API key", KEYS, history=thread(CHANGE))
    )
    assert text.startswith(CHANGE)


async def test_only_the_last_answer_counts(answerer: ExtractiveAnswerer) -> None:
    history = [*thread(CHANGE), HistoryTurn("person", "and Paris?"), HistoryTurn("assistant", "210 [1]")]
    text = await said(answerer, request(ASKED, KEYS, history=history))
    assert text.startswith(CHANGE)


@pytest.mark.parametrize(
    "answer",
    [
        "City: Paris, Limit: 210 [1]",
        "| City | Limit |\n| --- | --- |\n| Paris | 210 [1] |",
        "- **Paris** | 210",
    ],
)
async def test_what_was_quoted_is_known_however_it_was_set(answer: str) -> None:
    question = read_question("What is the limit for Lyon?")
    scored = await Ranker(HashEmbedder(256)).rank(question, read_passages([KEYS]))
    left = [each.candidate.line.text for each in unsaid(question.text, thread(answer), scored)]
    assert "City: Paris, Limit: 210" in [each.candidate.line.text for each in scored]
    assert "City: Paris, Limit: 210" not in left
    assert left[0] == "City: Lyon, Limit: 150"


async def test_the_best_line_is_left_even_if_all_were_said() -> None:
    question = read_question("Which key works?")
    scored = await Ranker(HashEmbedder(256)).rank(question, read_passages([KEYS]))
    everything = " ".join(each.candidate.line.text for each in scored)
    assert len(unsaid(question.text, thread(everything), scored)) == 1
    assert unsaid(question.text, (), scored) == scored
    assert unsaid(question.text, thread("So."), []) == []
