"""Whole turns: a question in, events out."""

from __future__ import annotations

import asyncio

import pytest

from retrieval.answer.protocol import AnswerStyle, NotCovered
from retrieval.index.protocol import Fingerprint, IndexMismatch, IndexUnavailable
from retrieval.models.protocol import ModelError
from retrieval.scope import Scope
from tests.doubles.models import Broken, ScriptedTextModel
from tests.retrieval.answer.doubles import Bench, ScriptedAnswerer, ask, bench, outcome_of
from tests.retrieval.answer.handbook import NOTES, SCOPE, WORKSPACE, chunk

QUESTION = "How often do I have to change my API key?"


async def run(made: Bench, text: str = QUESTION, **more: object):
    return await outcome_of(made.pipeline.answer(ask(text, **more)))  # pyright: ignore[reportArgumentType]


async def test_the_worked_example_of_the_handbook() -> None:
    model = ScriptedTextModel("Every 90 days; the old key works for 24 more hours [keys.md].")
    outcome = await run(await bench(model), style=AnswerStyle(labels="names"))

    (prompt,) = model.prompts
    (message,) = prompt.messages
    assert "Say only what the sources say." in prompt.system
    assert '<source label="[keys.md]"' in message.content
    assert '<source label="[sts.md]"' in message.content
    assert all(text in message.content for text in NOTES.values())
    assert message.content.endswith(f"Question: {QUESTION}")

    done = outcome.done
    assert done.outcome == "answered"
    assert done.text == "Every 90 days; the old key works for 24 more hours [keys.md]."
    (citation,) = done.citations
    assert (citation.number, citation.label, citation.chunk.meta.name) == (1, "keys.md", "keys.md")
    assert citation.quote in citation.chunk.text
    assert done.notes == ()


async def test_what_was_found_but_not_named_is_in_the_sources_and_the_trace_only() -> None:
    outcome = await run(await bench(ScriptedTextModel("After 90 days [1].")))
    assert len(outcome.done.citations) == 1
    assert len(outcome.done.sources) == 5
    assert len(outcome.step("search").outputs["hits"]) == 5


async def test_the_events_come_in_order_and_the_deltas_make_up_the_text() -> None:
    outcome = await run(await bench(ScriptedTextModel("They expire after 90 days [1].", delta=3)))
    assert [status.kind for status in outcome.statuses] == ["searching", "reading", "writing", "checking"]
    assert outcome.statuses[1].count == 5
    assert len(outcome.deltas) > 3
    assert "".join(outcome.deltas) == outcome.done.text == "They expire after 90 days [1]."


async def test_every_step_is_in_the_trace_with_its_times_and_uses() -> None:
    outcome = await run(await bench(ScriptedTextModel("After 90 days [1].")))
    names = [step.name for step in outcome.trace.steps]
    assert names == ["intent", "scope", "embed", "search", "select", "generate", "cite"]
    assert all(step.ms >= 0 and step.error is None for step in outcome.trace.steps)
    (use,) = outcome.step("generate").models
    assert use.input_tokens > 0
    assert use.output_tokens > 0
    first = outcome.step("search").outputs["hits"][0]
    assert set(first["lists"]) == {"dense:0", "bm25:0"}
    assert outcome.trace.workspace == WORKSPACE


async def test_no_text_of_a_document_is_kept_in_the_trace_beside_the_answer() -> None:
    outcome = await run(await bench(ScriptedTextModel("Done [1].")))
    assert "24 more hours" not in outcome.trace.model_dump_json()


@pytest.mark.parametrize(
    ("text", "outcome", "reply"),
    [
        ("hi", "small_talk", "<greeting>"),
        ("thanks", "small_talk", "<thanks>"),
        ("what can you do?", "small_talk", "<capabilities>"),
        ("", "invalid_question", "<empty de>"),
        ("🎉", "invalid_question", "<only_emoji de>"),
        ("word " * 10_000, "invalid_question", "<too_long>"),
        ("shorten that", "small_talk", "<nothing_to_rework>"),
    ],
)
async def test_turns_that_are_no_question_get_a_reply_without_a_search(
    text: str, outcome: str, reply: str
) -> None:
    made = await bench(ScriptedTextModel(AssertionError("no model is asked")))
    result = await run(made, text, locale="de-DE")
    assert (result.done.outcome, result.done.text) == (outcome, reply)
    assert made.index.searches == []


async def test_an_empty_knowledge_base_says_how_to_fill_it() -> None:
    outcome = await run(await bench(model := ScriptedTextModel("From my own knowledge."), chunks=[]))
    assert model.calls == []
    assert (outcome.done.outcome, outcome.done.text) == ("empty_knowledge_base", "<empty_knowledge_base>")


async def test_a_scope_in_which_nothing_stands_is_not_an_empty_knowledge_base() -> None:
    scope = Scope(workspace=WORKSPACE, audience=SCOPE.audience, labels=frozenset({"nowhere"}))
    outcome = await run(await bench(model := ScriptedTextModel("From my own knowledge.")), scope=scope)
    assert model.calls == []
    assert outcome.done.outcome == "not_covered"


async def test_another_workspace_is_never_searched_or_told() -> None:
    foreign = chunk("secret.md", QUESTION, workspace="rival")
    hidden = chunk("hidden.md", QUESTION, audience=("person:7",))
    model = ScriptedTextModel("After 90 days [1].")
    outcome = await run(await bench(model, chunks=[chunk("keys.md", NOTES["keys.md"]), foreign, hidden]))
    assert [source.chunk.meta.name for source in outcome.done.sources] == ["keys.md"]
    assert "secret.md" not in model.prompts[0].messages[0].content
    assert "secret.md" not in outcome.trace.model_dump_json()


@pytest.mark.parametrize("answer", ["NOT_COVERED", "**NOT_COVERED**.", NotCovered()])
async def test_what_the_documents_do_not_cover_is_said(answer: str | NotCovered) -> None:
    model = ScriptedTextModel(answer) if isinstance(answer, str) else ScriptedAnswerer(error=answer)
    done = (await run(await bench(model))).done
    assert (done.outcome, done.text, done.citations, done.notes) == ("not_covered", "<not_covered>", (), ())


async def test_the_models_own_words_about_a_gap_are_kept() -> None:
    done = (await run(await bench(ScriptedTextModel("The notes say nothing of parking. NOT_COVERED")))).done
    assert (done.outcome, done.text) == ("not_covered", "The notes say nothing of parking.")
    part = (await run(await bench(ScriptedTextModel("After 90 days [1]. NOT_COVERED")))).done
    assert (part.outcome, part.text, len(part.citations)) == ("answered", "After 90 days [1].", 1)


async def test_an_answer_without_sources_says_so_and_none_are_invented() -> None:
    done = (await run(await bench(ScriptedTextModel("After 90 days.")))).done
    assert (done.outcome, done.citations, done.notes) == ("answered", (), ("<no_sources>",))


async def test_labels_that_were_not_handed_on_are_no_citations() -> None:
    done = (await run(await bench(ScriptedTextModel("After 90 days [5, 7]. And so [9].")))).done
    assert done.text == "After 90 days [1]. And so."
    assert len(done.citations) == 1
    assert done.citations[0].chunk == done.sources[4].chunk


async def test_a_citation_is_for_the_source_named_not_for_the_first_one() -> None:
    done = (await run(await bench(ScriptedTextModel("A [4]. B [2]. A again [4].")))).done
    assert done.text == "A [1]. B [2]. A again [1]."
    assert [(c.number, c.chunk) for c in done.citations] == [
        (1, done.sources[3].chunk),
        (2, done.sources[1].chunk),
    ]


async def test_figures_that_stand_in_no_cited_source_are_in_the_trace() -> None:
    outcome = await run(
        await bench(ScriptedTextModel("After 1.090 days [1] or 90 days [1] [2]."), chunks=None)
    )
    assert outcome.step("cite").outputs["figures not in their source"] == ["1090"]


@pytest.mark.parametrize(
    ("error", "kind", "says"),
    [
        (ModelError("unavailable", "x"), "model_unavailable", "ask again"),
        (ModelError("rate_limited", "x"), "model_rate_limited", "Too many"),
        (ModelError("refused", "x"), "model_refused", "declined"),
        (ModelError("misconfigured", "x"), "model_misconfigured", "kb doctor"),
        (ModelError("too_long", "x"), "model_too_long", "shorter"),
        (RuntimeError("a secret text"), "internal", "went wrong"),
    ],
)
async def test_without_a_fallback_a_failed_model_is_one_friendly_sentence(
    error: Exception, kind: str, says: str
) -> None:
    for script in (error, Broken("Half an ans", error)):
        failed = (await run(await bench(ScriptedTextModel(script)))).failed
        assert failed.kind == kind
        assert says in failed.message
        assert "secret" not in failed.message


@pytest.mark.parametrize(
    ("error", "kind"),
    [
        (IndexUnavailable("down"), "index_unavailable"),
        (
            IndexMismatch(
                Fingerprint(model="a", dimension=1, revision="1"),
                Fingerprint(model="b", dimension=2, revision="1"),
            ),
            "index_mismatch",
        ),
        (ValueError("odd"), "internal"),
    ],
)
async def test_a_failed_index_is_one_friendly_sentence(error: Exception, kind: str) -> None:
    made = await bench(ScriptedTextModel("x"))
    made.index.error = error
    failed = (await run(made)).failed
    assert failed.kind == kind
    assert failed.message.endswith(".")


async def test_a_model_that_fails_before_any_text_is_stood_in_for() -> None:
    model = ScriptedTextModel(ModelError("unavailable", "down"))
    outcome = await run(await bench(model, fallback=ScriptedAnswerer("They expire after ", "90 days [1].")))
    done = outcome.done
    assert (done.outcome, done.text, done.revised) == ("answered", "They expire after 90 days [1].", False)
    assert done.notes == ("<without_model>",)
    assert len(done.citations) == 1
    assert outcome.step("generate").error == "unavailable"


async def test_half_an_answer_is_replaced_and_never_ends_as_a_whole_one() -> None:
    model = ScriptedTextModel(Broken("Keys never expi"))
    outcome = await run(await bench(model, fallback=ScriptedAnswerer("They expire after 90 days [2].")))
    done = outcome.done
    assert done.revised
    assert "".join(outcome.deltas) == "Keys never expi"
    assert (done.text, done.notes) == ("They expire after 90 days [1].", ("<without_model>",))


@pytest.mark.parametrize(
    "fallback",
    [ScriptedAnswerer(error=NotCovered()), ScriptedAnswerer(error=ValueError()), ScriptedAnswerer()],
)
@pytest.mark.parametrize("script", [ModelError("unavailable", "x"), Broken("Half an")])
async def test_when_the_fallback_has_no_answer_the_models_failure_stands(
    fallback: ScriptedAnswerer, script: ModelError | Broken
) -> None:
    outcome = await run(await bench(ScriptedTextModel(script), fallback=fallback))
    assert outcome.failed.kind == "model_unavailable"


@pytest.mark.parametrize("empty", ["", " \n\n ", "[9]"])
async def test_an_empty_answer_is_a_failed_one(empty: str) -> None:
    assert (await run(await bench(ScriptedTextModel(empty)))).failed.kind == "model_invalid_output"


async def test_without_a_model_each_answer_says_so_in_one_line() -> None:
    made = await bench(ScriptedAnswerer("90 days [1]."), modelless=True)
    assert (await run(made)).done.notes == ("<without_model>",)
    made = await bench(ScriptedAnswerer(error=NotCovered()), modelless=True)
    assert (await run(made)).done.notes == ()


async def test_white_space_around_an_answer_is_not_shown() -> None:
    outcome = await run(await bench(ScriptedTextModel("\n\n After 90 days [1]. \n\n", delta=1)))
    assert outcome.done.text == "After 90 days [1]."


async def test_many_turns_at_once_keep_to_themselves() -> None:
    def answer(prompt: object) -> str:
        return "Trains [1]." if "trains" in str(prompt).split("Question:")[-1] else "Leave [2]."

    made = await bench(ScriptedTextModel(answer))
    asked = ["Who books trains?", "How much leave?"] * 10
    outcomes = await asyncio.gather(*(run(made, text) for text in asked))
    for text, outcome in zip(asked, outcomes, strict=True):
        assert outcome.done.text == ("Trains [1]." if "trains" in text else "Leave [1].")
        assert outcome.step("search").inputs["queries"] == [text]
