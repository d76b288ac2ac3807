""" "Shorten that": the previous answer is reworked from its own sources."""

from __future__ import annotations

from dataclasses import replace

from retrieval.answer.events import Done
from retrieval.answer.protocol import AnswerStyle, CannotRework
from retrieval.answer.question import PreviousAnswer
from retrieval.models.protocol import ModelError
from retrieval.scope import Scope
from tests.doubles.models import ScriptedTextModel
from tests.retrieval.answer.doubles import Bench, Outcome, ScriptedAnswerer, ask, bench, outcome_of
from tests.retrieval.answer.handbook import SCOPE, WORKSPACE, chunk

QUESTION = "How long do API keys last?"
FIRST = "Keys expire after 90 days [2]. Tokens last one hour [1]."


async def answered(
    reworked: ScriptedTextModel | ScriptedAnswerer,
    *,
    labels: str = "numbers",
    first: str = FIRST,
    **more: object,
) -> tuple[Bench, Done]:
    """A bench after its first answer; from then on `reworked` answers."""
    made = await bench(ScriptedTextModel(first))
    style = AnswerStyle.model_validate({"labels": labels})
    done = (await outcome_of(made.pipeline.answer(ask(QUESTION, style=style)))).done
    again = await bench(reworked, index=made.index, chunks=[], **more)  # pyright: ignore[reportArgumentType]
    made.index.searches.clear()
    return again, done


def previous(done: Done) -> PreviousAnswer:
    return PreviousAnswer(done.text, done.sources, done.citations)


async def rework(made: Bench, done: Done, text: str = "shorten that", **more: object) -> Outcome:
    question = ask(text, previous=previous(done), **more)  # pyright: ignore[reportArgumentType]
    return await outcome_of(made.pipeline.answer(question))


async def test_an_answer_is_reworked_from_its_own_sources_without_a_search() -> None:
    model = ScriptedTextModel("90 days [1], one hour [2].")
    made, first = await answered(model)
    done = (await rework(made, first)).done

    assert made.index.searches == []
    assert done.text == "90 days [1], one hour [2]."
    assert [c.chunk for c in done.citations] == [c.chunk for c in first.citations]
    prompt = model.prompts[0].messages[0].content
    assert "Keys expire after 90 days [1]. Tokens last one hour [2]." in prompt
    assert "wants this earlier answer of yours changed: shorten that" in prompt
    assert prompt.count("<source label=") == 5
    # The labels in the prompt are those of the earlier text.
    assert f'label="[1]" document="{first.citations[0].chunk.meta.name}"' in prompt


async def test_a_rework_that_names_no_source_keeps_the_earlier_citations() -> None:
    made, first = await answered(ScriptedTextModel("90 days, one hour."))
    done = (await rework(made, first)).done
    assert done.text == "90 days, one hour. [1][2]"
    assert done.citations == first.citations
    assert done.notes == ()


async def test_a_rework_can_be_reworked() -> None:
    made, first = await answered(ScriptedTextModel("One hour [2], 90 days [1]."))
    second = (await rework(made, first)).done
    assert second.text == "One hour [1], 90 days [2]."
    assert second.citations[0].chunk == first.citations[1].chunk
    third = (await rework(made, second)).done
    assert third.citations[0].chunk == first.citations[0].chunk


async def test_names_stay_names_whatever_the_style_is_now() -> None:
    made, first = await answered(
        ScriptedTextModel("90 days [keys.md]."),
        labels="names",
        first="90 days [keys.md]. One hour [sts.md].",
    )
    done = (await rework(made, first)).done
    assert done.text == "90 days [keys.md]."
    assert [c.label for c in done.citations] == ["keys.md"]


async def test_the_language_of_the_workspace_does_not_overrule_the_wish() -> None:
    model = ScriptedTextModel("90 Tage [1].")
    made, first = await answered(model)
    await rework(made, first, "in German please", style=AnswerStyle(language="en"))
    assert "Answer in English" not in model.prompts[0].system
    assert "unless the person asks for another" in model.prompts[0].system


async def test_when_a_cited_passage_is_gone_the_person_is_asked_to_ask_again() -> None:
    made, first = await answered(ScriptedTextModel(AssertionError("not asked")))
    meta = first.citations[0].chunk.meta
    await made.index.delete_document(meta.workspace, meta.document_id)
    done = (await rework(made, first)).done
    assert (done.outcome, done.text) == ("small_talk", "<sources_changed>")


async def test_a_caller_may_know_already_that_a_passage_is_gone() -> None:
    made, first = await answered(ScriptedTextModel(AssertionError("not asked")))
    for gone in (
        PreviousAnswer(first.text, sources_changed=True),
        replace(previous(first), sources_changed=True),
    ):
        outcome = await outcome_of(made.pipeline.answer(ask("shorten that", previous=gone)))
        assert outcome.done.text == "<sources_changed>"


async def test_what_the_readers_may_not_read_is_not_reworked() -> None:
    made, first = await answered(ScriptedTextModel(AssertionError("not asked")))
    elsewhere = Scope(workspace=WORKSPACE, audience=frozenset({"shareable"}))
    assert (await rework(made, first, scope=elsewhere)).done.text == "<sources_changed>"


async def test_a_passage_that_was_found_but_not_cited_may_be_gone() -> None:
    model = ScriptedTextModel("90 days [1].")
    made, first = await answered(model)
    uncited = first.sources[4].chunk.meta
    await made.index.delete_document(uncited.workspace, uncited.document_id)
    assert (await rework(made, first)).done.outcome == "answered"
    assert model.prompts[0].messages[0].content.count("<source label=") == 4


async def test_a_rework_that_needs_a_model_is_declined_without_one() -> None:
    made, first = await answered(ScriptedAnswerer(error=CannotRework()), modelless=True)
    done = (await rework(made, first)).done
    assert (done.outcome, done.text, done.notes) == ("small_talk", "<cannot_rework>", ())


async def test_a_failed_model_is_stood_in_for_where_that_is_possible() -> None:
    down = ScriptedTextModel(ModelError("unavailable", "x"))
    made, first = await answered(down, fallback=ScriptedAnswerer("- 90 days [1]"))
    done = (await rework(made, first)).done
    assert (done.text, done.notes) == ("- 90 days [1]", ("<without_model>",))
    made, first = await answered(down, fallback=ScriptedAnswerer(error=CannotRework()))
    assert (await rework(made, first)).failed.kind == "model_unavailable"


async def test_an_answer_without_sources_can_not_be_reworked() -> None:
    made = await bench(ScriptedTextModel(AssertionError("not asked")), chunks=[chunk("a.md", "A.")])
    question = ask("shorten that", previous=PreviousAnswer("Hello!"), scope=SCOPE)
    assert (await outcome_of(made.pipeline.answer(question))).done.text == "<nothing_to_rework>"
