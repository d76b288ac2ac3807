"""What an index keeps about itself, so that no other model or version of Footnote misreads it."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from retrieval.index.protocol import Fingerprint, IndexMismatch, IndexUnavailable

#: Grows when points are stored in another way, or text is split into other terms.
FORMAT = 1


def about_of(fingerprint: Fingerprint) -> dict[str, Any]:
    return {"format": FORMAT, "fingerprint": fingerprint.model_dump()}


def check_about(about: Mapping[str, Any], wanted: Fingerprint) -> None:
    """Raises `IndexMismatch` for another model, `IndexUnavailable` for another format."""
    if about.get("format") != FORMAT:
        raise IndexUnavailable(
            "This index was made by another version of Footnote. Run `kb reindex` to rebuild it."
        )
    stored = Fingerprint.model_validate(about["fingerprint"])
    if stored != wanted:
        raise IndexMismatch(stored, wanted)
