"""The extractive answerer with the parts around it: citations, quotes, notes and outcomes."""

from retrieval.answer.events import Done, Source, TextDelta
from retrieval.answer.extractive.answerer import ExtractiveAnswerer
from retrieval.answer.extractive.quotes import OverlapQuoteFinder
from retrieval.answer.phrases import PhraseBook
from retrieval.answer.protocol import AnswerStyle, Rework
from retrieval.answer.write import Assignment, Writer
from retrieval.trace import Trace
from tests.doubles.models import HashEmbedder
from tests.retrieval.answer.extractive.requests import source

KEYS = source(
    "API keys expire after 90 days [12]. You change a key under Settings > Security > Keys. "
    "The old key works for\n24 more hours.",
    "2",
)
LUNCH = source("Lunch is at noon [1]. Badges are blue.", "1")


async def write(question: str, *sources: Source, rework: Rework | None = None) -> Done:
    writer = Writer(
        ExtractiveAnswerer(HashEmbedder(256)), OverlapQuoteFinder(), PhraseBook(), modelless=True
    )
    task = Assignment(question, question, sources, AnswerStyle(), "numbers", rework=rework)
    events = [event async for event in writer.write(task, Trace(turn_id="t", workspace="w"))]
    done = events[-1]
    assert isinstance(done, Done)
    assert done.revised or done.text == "".join(e.text for e in events if isinstance(e, TextDelta))
    return done


async def test_an_answer_cites_the_words_that_it_quotes() -> None:
    done = await write("After how many days do API keys expire?", LUNCH, KEYS)
    assert done.outcome == "answered"
    assert done.text.startswith("API keys expire after 90 days \\[12\\]. [1]") or done.text.startswith(
        "API keys expire after 90 days [12]. [1]"
    )
    assert [citation.quote for citation in done.citations] == ["API keys expire after 90 days [12]."]
    assert done.notes == (PhraseBook().reply("without_model", text="x"),)


async def test_nothing_near_is_said_to_be_not_covered() -> None:
    done = await write("Who won the football cup?", LUNCH, KEYS)
    assert (done.outcome, done.citations) == ("not_covered", ())
    assert done.text == PhraseBook().reply("not_covered", text="Who won?")


async def test_the_closest_passage_is_shown_as_such_and_cited() -> None:
    done = await write("How many hours works the old key in Spain?", LUNCH, KEYS)
    assert done.outcome == "not_covered"
    assert done.text.startswith(PhraseBook().reply("closest", text="What?"))
    assert "The old key works for 24 more hours. [1]" in done.text
    assert done.citations[0].quote == "The old key works for\n24 more hours."


async def test_a_shorter_answer_keeps_its_citation() -> None:
    previous = "You change a key under Settings > Security > Keys. [2] Lunch is at noon. [1]"
    done = await write("shorter", LUNCH, KEYS, rework=Rework("shorter", previous))
    assert done.outcome == "answered"
    assert done.text == "You change a key under Settings > Security > Keys. [1]"
    assert done.citations[0].chunk == KEYS.chunk


async def test_a_translation_says_what_it_needs() -> None:
    done = await write("auf Deutsch bitte", LUNCH, rework=Rework("auf Deutsch bitte", "Lunch. [1]"))
    assert done.text == PhraseBook().reply("cannot_rework", text="", language="de")
