"""What attached files say as a whole: their beginnings, in order, without a search."""

from __future__ import annotations

from collections.abc import Sequence

import pytest

from retrieval.answer.extractive.answerer import ExtractiveAnswerer
from retrieval.answer.intent import PhraseIntentDetector
from retrieval.answer.protocol import HistoryTurn
from retrieval.answer.wording import names_attached
from retrieval.documents import Chunk, thread_audience
from retrieval.index.protocol import IndexUnavailable
from retrieval.scope import Scope
from tests.doubles.index import MemoryIndex
from tests.doubles.models import HashEmbedder, ScriptedTextModel
from tests.retrieval.answer.doubles import ScriptedAnswerer, ask, bench, outcome_of
from tests.retrieval.answer.handbook import WORKSPACE, chunk, notes

THREAD = thread_audience("slack:T:C:1")
ATTACHMENTS = Scope(workspace=WORKSPACE, audience=frozenset({THREAD}))
ANSWERED = (HistoryTurn("person", "How often?"), HistoryTurn("assistant", "Every 90 days. [1]"))


def file(name: str, *texts: str) -> list[Chunk]:
    return [chunk(name, text, ordinal=at, audience=(THREAD,)) for at, text in enumerate(texts)]


REPORT = file(
    "report.pdf",
    "Sales grew by four percent. Costs fell.\n\n- Paris opened.\n- Lyon closed.",
    "| City | Sales |\n|---|---|\n| Paris | 210 |",
    "The outlook is calm.",
)
MEMO = file("memo.md", "The canteen moves.", "It opens in May.")
VERSIONS = (MEMO[0].meta.version_id, REPORT[0].meta.version_id)


def names(outcome: object) -> list[tuple[str, int]]:
    return [(s.chunk.meta.name, s.chunk.ordinal) for s in outcome.done.sources]  # pyright: ignore


@pytest.mark.parametrize("text", ["", "🎉", "shorten that", "hi"])
async def test_nothing_to_search_for_beside_a_file_asks_what_the_file_says(text: str) -> None:
    answerer = ExtractiveAnswerer(HashEmbedder())
    made = await bench(answerer, chunks=[*notes(), *REPORT], modelless=True)
    question = ask(text, attachments=ATTACHMENTS, attached=VERSIONS[1:], attached_now=True)
    outcome = await outcome_of(made.pipeline.answer(question))
    assert outcome.done.outcome == "answered"
    assert outcome.done.text == (
        "Sales grew by four percent. [1] Costs fell. [1]\n\n- Paris opened. [1]\n- Lyon closed. [1]\n\n"
        "City: Paris, Sales: 210 [2]"
    )
    assert [c.chunk.meta.name for c in outcome.done.citations] == ["report.pdf"] * 2
    assert made.index.searches == []


async def test_several_files_take_turns_and_stand_one_after_the_other() -> None:
    made = await bench(answerer := ScriptedAnswerer("So [1]."), chunks=[*REPORT, *MEMO])
    question = ask("", attachments=ATTACHMENTS, attached=VERSIONS, attached_now=True, passages_handed_on=4)
    outcome = await outcome_of(made.pipeline.answer(question))
    assert names(outcome) == [("memo.md", 0), ("memo.md", 1), ("report.pdf", 0), ("report.pdf", 1)]
    (request,) = answerer.requests
    assert request.overview
    assert request.question == "<overview>"


async def test_the_wish_itself_goes_to_the_model_and_without_it_the_beginning_is_quoted() -> None:
    model = ScriptedTextModel("Sales grew [1].")
    made = await bench(model, chunks=REPORT)
    question = ask("shorten that", attachments=ATTACHMENTS, attached=VERSIONS[1:], attached_now=True)
    await outcome_of(made.pipeline.answer(question))
    assert model.prompts[0].messages[-1].content.endswith("Question: shorten that")

    fallback = ExtractiveAnswerer(HashEmbedder())
    made = await bench(ScriptedAnswerer(error=RuntimeError("gone")), chunks=REPORT, fallback=fallback)
    outcome = await outcome_of(made.pipeline.answer(question))
    assert outcome.done.text.startswith("Sales grew by four percent. [1]")


async def test_files_of_another_thread_are_not_read_even_by_their_version() -> None:
    other = Scope(workspace=WORKSPACE, audience=frozenset({thread_audience("slack:T:C:2")}))
    made = await bench(ScriptedAnswerer("So [1]."), chunks=[*notes(), *REPORT])
    question = ask("", attachments=other, attached=VERSIONS, attached_now=True)
    outcome = await outcome_of(made.pipeline.answer(question))
    assert outcome.done.outcome == "not_covered"


async def test_an_index_that_is_away_is_told() -> None:
    class Away(MemoryIndex):
        async def get(self, scope: Scope, chunk_ids: Sequence[str]) -> list[Chunk]:
            raise IndexUnavailable("away")

    made = await bench(ScriptedAnswerer("So [1]."), index=Away())
    question = ask("", attachments=ATTACHMENTS, attached=VERSIONS, attached_now=True)
    outcome = await outcome_of(made.pipeline.answer(question))
    assert outcome.failed.kind


@pytest.mark.parametrize(
    "text",
    [
        "Summarise this file", "please summarize the attached document", "What does this document say?",
        "what's in the attachment?", "Can you give me an overview of this report",
        "What is this file about?",
        "tl;dr of the attached pdf", "Fasse die angehängte Datei zusammen", "Was steht in dieser Datei?",
        "Worum geht es in diesem Dokument?", "Résume le document joint", "Resume este archivo",
        "Riassumi questo documento", "总结一下这个文件",
    ],
)  # fmt: skip
def test_a_wish_about_a_file_is_one_with_and_without_an_answer_before(text: str) -> None:
    detect = PhraseIntentDetector().detect
    assert [detect(text, ()), detect(text, ANSWERED), detect(text, (), attached=True)] == ["overview"] * 3


@pytest.mark.parametrize(
    "text", ["Summarise this", "what does it say?", "tl;dr", "", "📎", "what is this?", "auf Deutsch bitte"]
)
def test_with_a_file_every_message_that_asks_nothing_else_is_about_it(text: str) -> None:
    detect = PhraseIntentDetector().detect
    assert detect(text, (), attached=True) == detect(text, ANSWERED, attached=True) == "overview"
    assert detect(text, ()) != "overview"


@pytest.mark.parametrize(
    "text", ["How many days of leave does this file grant?", "Does the PDF name Nadia?"]
)
def test_a_question_beside_a_file_stays_one(text: str) -> None:
    assert PhraseIntentDetector().detect(text, (), attached=True) == "question"
    assert names_attached(text)


def test_thanks_beside_a_file_are_thanks() -> None:
    assert PhraseIntentDetector().detect("thanks", ANSWERED, attached=True) == "thanks"


@pytest.mark.parametrize("text", ["Where do I file a claim?", "", "profile this", "x" * 5000])
def test_no_file_is_named(text: str) -> None:
    assert not names_attached(text)
