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

#: A card as JSON, in bytes of UTF-16: with the message's text beside it, an activity still fits; and in
#: UTF-8, which may be half as much again, a dialog.
CARD_BYTES = 40_000
#: Buttons of a set, characters on one, and of a block of text.
ACTIONS = 6
BUTTON = 60
TEXT_BLOCK = 4_000
#: Questions that are suggested under a message.
SUGGESTED = 3
#: Title of a dialog, and text that a field in it holds.
DIALOG_TITLE = 60
INPUT = 10_000
#: Choices of a field; as many as that are shown all at once.
OPTIONS, CHECKBOXES = 500, 10
#: Seconds within which Teams waits for a dialog.
DIALOG_SECONDS = 4.5
