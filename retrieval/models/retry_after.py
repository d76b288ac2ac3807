"""How long a server asks a client to wait, in seconds."""

from __future__ import annotations

import math
import re
from collections.abc import Mapping
from datetime import UTC, datetime
from email.utils import parsedate_to_datetime
from typing import Any

_SECONDS = re.compile(r"(\d+(?:\.\d+)?)s")


def from_headers(headers: Mapping[str, str] | None, *, now: datetime | None = None) -> float | None:
    """`Retry-After` as seconds or as an HTTP date (RFC 9110, 10.2.3), and OpenAI's `retry-after-ms`.

    `headers` may be of any case. Values in the past are 0; nonsense is None.
    """
    lowered = {str(name).lower(): value for name, value in (headers or {}).items()}
    if (milliseconds := _number(lowered.get("retry-after-ms"))) is not None:
        return milliseconds / 1000
    value = lowered.get("retry-after", "")
    if (seconds := _number(value)) is not None:
        return seconds
    try:
        when = parsedate_to_datetime(value)
    except (TypeError, ValueError):
        return None
    when = when if when.tzinfo else when.replace(tzinfo=UTC)
    return max(0.0, (when - (now or datetime.now(UTC))).total_seconds())


def from_google(details: Any) -> float | None:
    """The `retryDelay` ("34s") of a google.rpc.RetryInfo in an error's JSON."""
    error = details.get("error", details) if isinstance(details, dict) else {}
    entries = error.get("details") if isinstance(error, dict) else None
    for entry in entries if isinstance(entries, list) else []:
        if isinstance(entry, dict) and str(entry.get("@type", "")).endswith("google.rpc.RetryInfo"):
            match = _SECONDS.fullmatch(str(entry.get("retryDelay", "")))
            return float(match.group(1)) if match else None
    return None


def _number(value: str | None) -> float | None:
    try:
        number = float(value or "")
    except ValueError:
        return None
    return max(0.0, number) if math.isfinite(number) else None
