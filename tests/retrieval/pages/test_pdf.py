import json
from pathlib import Path

import pypdfium2 as pdfium
import pytest

from retrieval.pages.pdf import NoSuchPage, locate, render
from tests.data import DATA, ROOT, needs_data

POLICY = (ROOT / "examples" / "handbook" / "travel-policy.pdf").read_bytes()


def test_the_marks_hold_the_quote() -> None:
    """The text that PDFium itself reads inside the boxes is the quote."""
    quote = "premium economy may be booked. Business class is for flights of more than ten hours"
    boxes = locate(POLICY, 1, quote)
    assert len(boxes) == 2  # it runs over a line break
    with pdfium.PdfDocument(POLICY) as document:
        page = document[0]
        across, down = page.get_size()
        inside = " ".join(
            page.get_textpage().get_text_bounded(
                b.left * across, down - b.bottom * down, b.right * across, down - b.top * down
            )
            for b in boxes
        )
    assert quote in " ".join(inside.split())


def test_a_page_is_drawn_at_the_width_asked_for() -> None:
    png = render(POLICY, 2, width=700)
    assert png.startswith(b"\x89PNG")
    assert int.from_bytes(png[16:20], "big") in range(695, 706)


def test_a_quote_of_another_page_is_not_marked() -> None:
    assert locate(POLICY, 2, "premium economy may be booked") == []
    with pytest.raises(NoSuchPage):
        locate(POLICY, 9, "premium")


@needs_data
@pytest.mark.data
def test_the_snippets_of_real_files_are_marked() -> None:
    assert DATA is not None
    marked: list[bool] = []
    for line in (DATA / "documents" / "expected.jsonl").read_text("utf-8").splitlines():
        row = json.loads(line)
        path: Path = DATA / "documents" / "files" / row["file"]
        if path.suffix == ".pdf":
            marked += [bool(locate(path.read_bytes(), e["page"], e["text"])) for e in row.get("expect", [])]
    assert len(marked) > 10
    assert sum(marked) / len(marked) >= 0.95
