"""`kb eval` as people type it."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from typer.testing import CliRunner

from bot.cli import app
from tests.retrieval.evaluation.test_compare import cell, report

pytestmark = pytest.mark.xdist_group("app")


@pytest.fixture(autouse=True)
def _logs_stay(monkeypatch: pytest.MonkeyPatch) -> None:
    """A command sets the logs of its process to its own stream, which is closed here after it."""
    monkeypatch.setattr("bot.console.configure_logging", lambda *_args, **_more: None)


def kb(*words: str, code: int = 0) -> str:
    done = CliRunner().invoke(app, ["eval", *words], catch_exceptions=False)
    assert done.exit_code == code, done.output
    return " ".join(done.output.split())


@pytest.fixture
def small(tmp_path: Path, models: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("DATA_DIR", str(tmp_path / "data"))
    monkeypatch.setenv("MODEL_CACHE_DIR", str(models))
    monkeypatch.setenv("COLUMNS", "120")
    folder = tmp_path / "sets" / "small"
    folder.mkdir(parents=True)
    texts = {
        "keys": "Change your API key every 90 days.",
        "leave": "Everybody has 30 days of leave a year.",
    }
    rows = [{"_id": name, "title": "", "text": text} for name, text in texts.items()]
    (folder / "corpus.jsonl").write_text("\n".join(map(json.dumps, rows)))
    asked = [
        {"_id": "1", "text": "How often do I change my key?", "answers": ["90 days"]},
        {"_id": "2", "text": "How many days of leave do we have?", "answers": ["30 days"]},
    ]
    (folder / "queries.jsonl").write_text("\n".join(map(json.dumps, asked)))
    (folder / "qrels.tsv").write_text("q\td\ts\n1\tkeys\t1\n2\tleave\t1\n")
    return folder


def test_search_then_compare(small: Path, tmp_path: Path) -> None:
    out, plot = tmp_path / "a.json", tmp_path / "a.svg"
    shown = kb(str(small.parent), "--out", str(out), "--plot", str(plot))
    assert "small" in shown
    assert "keyword" in shown
    assert plot.read_text().startswith("<svg")
    assert (tmp_path / "a-cost.svg").exists()
    compared = json.loads(kb("--compare", f"{out}@keyword", f"{out}@hybrid", "--json"))
    assert compared["overall"]["ties"] == 2
    assert "several configurations" in kb("--compare", str(out), str(out), code=1)


def test_answers(small: Path, tmp_path: Path) -> None:
    out = tmp_path / "answers.json"
    shown = kb(str(small), "--answers", "--hide", "0", "--out", str(out))
    assert "Answered by extractive, judged by rules" in shown
    (found,) = json.loads(out.read_text())["sets"]
    assert [q["contains_answer"] for q in found["questions"]] == [1.0, 1.0]
    assert [q["citation_recall"] for q in found["questions"]] == [1.0, 1.0]


def test_judge() -> None:
    shown = kb("judge")
    assert "kappa" in shown
    assert "negation" in shown


def test_plot_of_a_comparison(tmp_path: Path) -> None:
    for name, value in (("a", 0.5), ("b", 0.7)):
        report(("s", [cell({"1": value, "2": value})])).write(tmp_path / f"{name}.json")
    plot = tmp_path / "forest.svg"
    shown = kb("--compare", str(tmp_path / "a.json"), str(tmp_path / "b.json"), "--plot", str(plot))
    assert "+.200" in shown
    assert "all sets" in plot.read_text()


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (["--grid", "mod=x"], "There is no setting “mod” to try"),
        (["--grid", "rerank=on"], "none is configured"),
        (["--answers", "--judge", "model"], "none is configured"),
        (["--answers", "--judge", "coin"], "A judge is rule or model"),
    ],
)
def test_what_is_wrong_is_said(small: Path, words: list[str], message: str) -> None:
    assert message in kb(str(small), *words, code=1)


def test_no_set(tmp_path: Path) -> None:
    assert "holds no evaluation set" in kb(str(tmp_path), code=1)
    assert "There is no file or folder" in kb(str(tmp_path / "none"), code=1)
    assert "is missing" in kb("--compare", str(tmp_path / "a"), str(tmp_path / "b"), code=1)
