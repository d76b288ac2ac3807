"""Where the evaluation data is, for tests that need it."""

import os
from pathlib import Path

import pytest

ROOT = Path(__file__).parent.parent


def _find() -> Path | None:
    told = os.environ.get("FOOTNOTE_DATA")
    place = Path(told) if told else ROOT.parent / "shared" / "data"
    return place if place.is_dir() else None


#: The folder that holds `documents/` and `retrieval/`; None where there is none.
DATA: Path | None = _find()

needs_data = pytest.mark.skipif(DATA is None, reason="set FOOTNOTE_DATA to the evaluation data")
