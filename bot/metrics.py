"""What an operator should see: what a user would feel. No label holds a name or a text."""

from __future__ import annotations

from prometheus_client import Counter, Histogram

_SECONDS = (0.1, 0.25, 0.5, 1, 2, 4, 8, 15, 30, 60, 120, 180)

TURN_SECONDS = Histogram("footnote_turn_seconds", "From question to the whole reply.", buckets=_SECONDS)
FIRST_TEXT_SECONDS = Histogram(
    "footnote_first_text_seconds", "From question to the first words of the answer.", buckets=_SECONDS
)
REPLIES = Counter("footnote_replies_total", "Replies by platform and kind.", ["platform", "kind"])
INGEST_SECONDS = Histogram(
    "footnote_ingest_seconds", "From upload to searchable.", buckets=(*_SECONDS, 300, 900, 3600)
)
DOCUMENTS = Counter("footnote_documents_total", "Documents that ended, by outcome.", ["outcome"])
