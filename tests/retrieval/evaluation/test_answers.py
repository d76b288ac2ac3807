from collections.abc import AsyncIterator

from retrieval.answer.events import AnswerEvent, CitedSource, Done, Failed, Source, TextDelta
from retrieval.evaluation.answer_report import AnswerReport, AnswerSet
from retrieval.evaluation.answers import AnswerFigures, measure, plan
from retrieval.evaluation.bootstrap import Interval
from retrieval.evaluation.dataset import Dataset, Document, Query
from retrieval.evaluation.filling import chunks_of
from retrieval.evaluation.judge.rules import RuleJudge

CHUNKS = chunks_of("s", [
    Document("keys", "", "Change your key every 90 days. The old one works for 24 hours."),
    Document("sts", "", "Tokens live for 60 minutes and cannot be renewed."),
])  # fmt: skip
QUERY = Query("q", "How often?", answers=("90 Days",))


async def judged(text: str, *cited: int, outcome: str = "answered") -> AnswerFigures:
    citations = tuple(CitedSource(n + 1, str(n + 1), CHUNKS[n], CHUNKS[n].text) for n in cited)
    sources = tuple(Source(str(n + 1), chunk, 1.0) for n, chunk in enumerate(CHUNKS))

    async def ask(query: Query) -> AsyncIterator[AnswerEvent]:
        yield TextDelta(text)
        yield Done(outcome, text, citations, sources=sources)  # type: ignore[arg-type]

    return await measure(QUERY, ask, judge=RuleJudge(), relevant={"keys": 1}, answerable=True)


async def test_a_good_answer() -> None:
    figures = await judged("Change your key every 90 days [1]. Tokens live for 60 minutes [2].", 0, 1)
    assert figures.sentences == 2
    assert (figures.citation_precision, figures.citation_recall, figures.faithfulness) == (1, 1, 1)
    assert (figures.relevant_source, figures.contains_answer, figures.relevance) == (1, 1, None)


async def test_a_citation_of_the_wrong_source_is_faithful_all_the_same() -> None:
    figures = await judged("Change your key every 90 days [2].", 1)
    assert (figures.citation_precision, figures.citation_recall, figures.faithfulness) == (0, 0, 1)
    assert figures.relevant_source == 0


async def test_what_nothing_supports() -> None:
    figures = await judged("Change your key every 90 days [1]. Keys are 30 characters long.", 0)
    assert (figures.citation_precision, figures.citation_recall, figures.faithfulness) == (1, 0.5, 0.5)


async def test_one_citation_too_many() -> None:
    figures = await judged("Change your key every 90 days [1][2].", 0, 1)
    assert (figures.citation_precision, figures.citation_recall) == (0.5, 1)


async def test_silence_and_failure() -> None:
    assert not (await judged("Nothing is said of it.", outcome="not_covered")).answered

    async def fails(query: Query) -> AsyncIterator[AnswerEvent]:
        yield Failed("unavailable", "The model is away.")

    figures = await measure(QUERY, fails, judge=RuleJudge(), relevant={}, answerable=True)
    assert (figures.failed, figures.answered) == (True, False)


def test_plan_leaves_out_the_same_documents_each_time() -> None:
    documents = [Document(str(n), "", str(n)) for n in range(400)]
    questions = {str(n): Query(str(n), "?") for n in range(400)}
    data = Dataset(
        "s", documents, questions, {q: {q: 1} for q in questions}, {"x": Query("x", "?", answerable=False)}
    )
    first = plan(data, limit=50, hide=0.25)
    assert first == plan(data, limit=50, hide=0.25)
    assert len(first.queries) == 50
    assert 70 <= len(first.left_out) <= 130
    assert first.unanswerable == first.left_out | {"x"}
    assert plan(data, limit=9, hide=0).unanswerable == {"x"}


def mean(interval: Interval | None) -> float:
    assert interval is not None
    return interval.mean


def test_report_takes_shares_of_what_they_are_of() -> None:
    def one(answered: bool, answerable: bool, recall: float | None = None) -> AnswerFigures:
        return AnswerFigures(query="q", answerable=answerable, answered=answered, citation_recall=recall)

    questions = [
        one(True, True, 1.0),
        one(True, True, 0.0),
        one(False, True),
        one(True, False, 0.3),
        one(False, False),
    ]
    found = AnswerSet(name="s", documents=3, questions=questions)
    assert mean(found.answered(answerable=True)) == 2 / 3
    assert mean(found.answered(answerable=False)) == 0.5
    assert mean(found.share("citation_recall")) == 0.5
    assert found.share("relevance") is None
    report = AnswerReport(footnote="0", answerer="extractive", judge="rules", hide=0.0, sets=[found])
    assert AnswerReport.model_validate_json(report.model_dump_json(by_alias=True)) == report
