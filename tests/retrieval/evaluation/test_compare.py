from pathlib import Path

import pytest

from retrieval.evaluation.compare import compare, pick
from retrieval.evaluation.errors import BadReport
from retrieval.evaluation.report import Cell, Cost, Report, SetResult, read_report
from retrieval.evaluation.settings import Settings
from retrieval.evaluation.summary import summarise
from retrieval.index.protocol import Fingerprint

E5 = Fingerprint(model="e5", dimension=4, revision="1")


def cell(values: dict[str, float], *, mode: str = "hybrid", ms: float = 5.0, calls: float = 1.0) -> Cell:
    return Cell(
        settings=Settings.model_validate({"mode": mode}),
        queries={query: {"ndcg@10": value} for query, value in values.items()},
        cost=Cost(ms_p50=ms, ms_p95=2 * ms, calls=calls, timed=len(values)),
    )


def report(*sets: tuple[str, list[Cell]]) -> Report:
    return Report(
        footnote="0", embedder=E5, sets=[SetResult(name=n, documents=9, cells=c) for n, c in sets]
    )


def test_question_by_question() -> None:
    first = report(("a", [cell({"1": 0.5, "2": 1.0, "3": 0.0})]), ("b", [cell({"1": 0.2})]))
    second = report(("a", [cell({"1": 1.0, "2": 1.0, "3": 0.0})]), ("b", [cell({"1": 0.1})]))
    found = compare(first, second, labels=("hybrid", "hybrid"))
    a, b = found.sets
    assert (a.wins, a.ties, a.losses, b.losses) == (1, 2, 0, 1)
    assert found.overall.difference.mean == pytest.approx((0.5 / 3 - 0.1) / 2)
    assert (found.overall.wins, found.overall.ties, found.overall.losses) == (1, 2, 1)
    assert found == compare(first, second, labels=("hybrid", "hybrid"))


def test_the_other_way_round_is_the_negative() -> None:
    one, two = report(("a", [cell({"1": 0.5, "2": 0.1})])), report(("a", [cell({"1": 0.9, "2": 0.0})]))
    there = compare(one, two, labels=("hybrid", "hybrid")).overall
    back = compare(two, one, labels=("hybrid", "hybrid")).overall
    assert there.difference.mean == pytest.approx(-back.difference.mean)
    assert (there.wins, there.losses) == (back.losses, back.wins)


def test_what_is_left_out_is_told() -> None:
    one = report(("a", [cell({"1": 0.5, "2": 0.1})]), ("b", [cell({"1": 1.0})]))
    two = report(("a", [cell({"1": 0.5, "3": 0.1})]), ("c", [cell({"1": 1.0})]))
    found = compare(one, two, labels=("hybrid", "hybrid"))
    assert [s.questions for s in found.sets] == [1]
    assert sorted(found.notes) == [
        "a: 2 questions are in one of the two only and were left out.",
        "b is not in both.",
        "c is not in both.",
    ]


def test_nothing_in_common() -> None:
    with pytest.raises(BadReport, match="no set and no question in common"):
        compare(
            report(("a", [cell({"1": 1.0})])), report(("b", [cell({"1": 1.0})])), labels=("hybrid",) * 2
        )


def test_pick() -> None:
    several = report(("a", [cell({"1": 1.0}), cell({"1": 1.0}, mode="semantic")]))
    assert pick(several, "sem") == "semantic"
    assert pick(report(("a", [cell({"1": 1.0})])), None) == "hybrid"
    with pytest.raises(BadReport, match=r"several configurations.*hybrid; semantic"):
        pick(several, None)
    with pytest.raises(BadReport, match="no single configuration “keyword”"):
        pick(several, "keyword")


def test_kept_and_read_again(tmp_path: Path) -> None:
    kept = report(("a", [cell({"1": 1.0})]))
    kept.write(tmp_path / "new" / "a.json")
    assert read_report(tmp_path / "new" / "a.json") == kept
    assert '"schema": "footnote-eval/1"' in (tmp_path / "new" / "a.json").read_text()


@pytest.mark.parametrize("text", ["", "{}", '{"schema": "footnote-eval/9"}', "[1]", "\x00"])
def test_no_results(tmp_path: Path, text: str) -> None:
    (tmp_path / "a.json").write_text(text)
    with pytest.raises(BadReport, match="holds no results"):
        read_report(tmp_path / "a.json")


def test_summary_marks_the_front() -> None:
    cells = [
        cell({"1": 0.5}, mode="keyword", ms=1, calls=0),
        cell({"1": 0.4}, mode="semantic", ms=9),
        cell({"1": 0.9}, ms=9),
    ]
    assert [(s.label, s.on_front) for s in summarise(report(("a", cells)))] == [
        ("keyword", True),
        ("semantic", False),
        ("hybrid", True),
    ]
