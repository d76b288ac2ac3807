import json
from pathlib import Path

import pytest

from retrieval.evaluation.dataset import BadDataset, load


def write(
    folder: Path, *, qrels: str = "q\td\ts\nq1\td1\t1\nq1\td2\t0\n", corpus: str | None = None
) -> None:
    rows = [{"_id": "d1", "title": "T", "text": "x"}, {"_id": "d2", "text": "y"}]
    (folder / "corpus.jsonl").write_text(corpus or "\n".join(map(json.dumps, rows)))
    (folder / "queries.jsonl").write_text('{"_id": "q1", "text": "x?"}\n{"_id": "q2", "text": "y?"}\n')
    (folder / "qrels.tsv").write_text(qrels)


def test_judged_queries_only(tmp_path: Path) -> None:
    write(tmp_path)
    data = load(tmp_path)
    assert (data.queries, data.qrels) == ({"q1": "x?"}, {"q1": {"d1": 1}})
    assert [d.title for d in data.corpus] == ["T", ""]


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"corpus": '{"_id": 3}'}, r"corpus.jsonl, line 1: each row needs _id and text"),
        ({"corpus": "{"}, "no JSON lines file"),
        ({"qrels": "h\nq1\td1\n"}, "each line is query id"),
        ({"qrels": "h\nq9\td1\t1\n"}, "name the query q9"),
        ({"qrels": "h\n"}, "no judgement"),
    ],
)
def test_what_is_wrong_is_said(tmp_path: Path, change: dict[str, str], message: str) -> None:
    write(tmp_path, **change)
    with pytest.raises(BadDataset, match=message):
        load(tmp_path)


def test_a_missing_file_is_named(tmp_path: Path) -> None:
    with pytest.raises(BadDataset, match=r"corpus\.jsonl is missing"):
        load(tmp_path)
