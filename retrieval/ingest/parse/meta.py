"""Titles and dates that files state, kept only where they make sense."""

from __future__ import annotations

import re
from datetime import UTC, datetime, timedelta
from email.utils import parsedate_to_datetime

_MAX_TITLE_CHARS = 300
_PDF_DATE = re.compile(
    r"D?:?(\d{4})(\d{2})?(\d{2})?(\d{2})?(\d{2})?(\d{2})?(?:\s*(Z|[+-])(?:(\d{2})'?(\d{2})?'?)?)?"
)
_FRACTION = re.compile(r"(\.\d{1,6})\d*")
#: What programs write when nobody gave a title.
_NO_TITLE = re.compile(
    r"untitled.*|document\d*|microsoft (?:word|powerpoint|excel) - .*|title|none|no title|slide \d+|"
    r"book\d*|(?:presentation|powerpoint[ -]presentation|powerpoint-präsentation)\d*|scan.*\d+.*|"
    r".*\.(?:docx?|pptx?|xlsx?|pdf|dvi|ps|indd|tex|qxd|rtf|odt|html?)",
    re.IGNORECASE,
)


def clean_title(title: str | None) -> str | None:
    """`title` on one line; None when it is none that a person wrote."""
    title = " ".join((title or "").split())
    if len(title) < 2 or not any(char.isalpha() for char in title) or _NO_TITLE.fullmatch(title):
        return None
    return title[:_MAX_TITLE_CHARS]


def parse_date(text: str | None) -> datetime | None:
    """A date in the form of PDF, ISO 8601 or RFC 5322, with a time zone (UTC when it states none).

    None for what can't be read, and for years before 1970 or dates more than a day ahead, which are
    clocks that were never set.
    """
    text = (text or "").strip()
    found = _pdf_date(text) or _iso_date(text) or _mail_date(text)
    if found is None:
        return None
    if found.tzinfo is None:
        found = found.replace(tzinfo=UTC)
    return found if found.year > 1970 and found <= datetime.now(UTC) + timedelta(days=1) else None


def _pdf_date(text: str) -> datetime | None:
    match = _PDF_DATE.fullmatch(text)
    if not match:
        return None
    year, month, day, hour, minute, second = (int(part) if part else None for part in match.groups()[:6])
    sign, hours, minutes = match.groups()[6:]
    try:
        found = datetime(year or 1, month or 1, day or 1, hour or 0, minute or 0, second or 0, tzinfo=UTC)
    except ValueError:
        return None
    offset = timedelta(hours=int(hours or 0), minutes=int(minutes or 0))
    try:
        return found - offset if sign == "+" else found + offset
    except OverflowError:
        return None


def _iso_date(text: str) -> datetime | None:
    try:
        return datetime.fromisoformat(_FRACTION.sub(r"\1", text))
    except ValueError:
        return None


def _mail_date(text: str) -> datetime | None:
    try:
        return parsedate_to_datetime(text)
    except (ValueError, IndexError, TypeError):
        return None
