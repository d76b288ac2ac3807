from pathlib import Path

import pytest

from retrieval.ingest.protocol import Unreadable
from retrieval.ingest.sandbox import ParserPool
from tests.data import ROOT

POLICY = ROOT / "examples" / "handbook" / "travel-policy.pdf"


async def test_pages_are_drawn_and_searched_in_a_worker(tmp_path: Path) -> None:
    damaged = tmp_path / "x.pdf"
    damaged.write_bytes(b"%PDF-1.7 nothing")
    async with ParserPool(workers=1) as pool:
        png = await pool.page_image(POLICY, 1, width=300)
        assert png.startswith(b"\x89PNG")
        (box,) = await pool.locate(POLICY, 2, "The allowance covers meals.")
        assert 0 < box.left < box.right < 1
        with pytest.raises(Unreadable):
            await pool.page_image(POLICY, 99, width=300)
        with pytest.raises(Unreadable, match="corrupt"):
            await pool.page_image(damaged, 1, width=300)
        assert await pool.page_image(POLICY, 1, width=300) == png
