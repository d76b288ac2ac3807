from contextlib import suppress
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from retrieval.evaluation.errors import BadSettings
from retrieval.evaluation.settings import default_grid, read_grid, rerankers_of


def test_every_combination_in_order() -> None:
    grid = read_grid("mode=hybrid,semantic rerank=off,on top_k=5,10")
    assert [cell.label for cell in grid] == [
        "hybrid top_k=5",
        "hybrid",
        "hybrid rerank=on top_k=5",
        "hybrid rerank=on",
        "semantic top_k=5",
        "semantic",
        "semantic rerank=on top_k=5",
        "semantic rerank=on",
    ]
    assert rerankers_of(grid) == ["on"]


def test_from_a_file(tmp_path: Path) -> None:
    file = tmp_path / "grid.toml"
    file.write_text('mode = ["keyword"]\nrerank = [false, "cohere:rerank-v4.0-fast"]\nrephrase = true\n')
    assert [cell.label for cell in read_grid(str(file))] == [
        "keyword rephrase=on",
        "keyword rerank=cohere:rerank-v4.0-fast rephrase=on",
    ]


def test_options_measure_a_ranking() -> None:
    (cell,) = read_grid("top_k=20")
    options = cell.options()
    assert (options.passages_retrieved, options.passages_handed_on, options.rephrase) == (20, 20, False)


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("mod=hybrid", "no setting “mod”"),
        ("mode", "not of the form"),
        ("mode=", "not of the form"),
        ("mode=fuzzy", "mode: Input should be"),
        ("top_k=0", "top_k: "),
        ("top_k=1 top_k=2", "there twice"),
        ("top_k=" + ",".join(map(str, range(1, 31))) + " retrieved=10,20,30", "90 combinations"),
        ("missing.toml", "is missing"),
    ],
)
def test_what_is_wrong_is_said(text: str, message: str) -> None:
    with pytest.raises(BadSettings, match=message):
        read_grid(text)


@given(st.text(max_size=40))
def test_any_text_is_settings_or_refused(text: str) -> None:
    with suppress(BadSettings):
        assert all(cell.label for cell in read_grid(text))


def test_labels_tell_cells_apart() -> None:
    grid = read_grid("mode=hybrid,keyword rephrase=on,off alternatives=0,1 retrieved=12,30")
    assert len({cell.label for cell in grid}) == len(grid)
    assert [cell.label for cell in default_grid()] == ["keyword", "semantic", "hybrid"]
