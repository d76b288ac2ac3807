"""What Microsoft Teams takes at most, in characters where nothing else is said."""

from __future__ import annotations

#: A whole activity as JSON, in bytes of UTF-16; from about 100 KB on it is refused.
ACTIVITY_BYTES = 80_000
#: Citations of a message; what Microsoft documents is 20, but not every client takes more than 10.
CITATIONS = 10
CITATION_NAME, CITATION_ABSTRACT = 80, 160
URL = 2_000

#: A stream: seconds between two requests, seconds that it may take, characters of its text.
STREAM_EVERY = 1.1
STREAM_SECONDS = 120.0
STREAM_TEXT = 28_000
