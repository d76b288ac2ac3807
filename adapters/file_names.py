"""Names that people give their files."""

from __future__ import annotations

import re
from typing import Any, Final

#: Control characters, separators, and those that turn the direction of writing.
_UNFIT: Final = re.compile(r"[\x00-\x1f\x7f-\x9f/\\\u2028-\u202e\u2066-\u2069]+")
_LONGEST: Final = 200


def file_name(given: Any) -> str:
    """For showing, and for its ending; empty where nothing of it can be shown."""
    name = _UNFIT.sub(" ", given if isinstance(given, str) else "").strip(" .")
    if len(name) > _LONGEST:
        stem, dot, ending = name.rpartition(".")
        short = dot and len(ending) < 20
        name = f"{stem[: _LONGEST - 20]}.{ending}" if short else name[:_LONGEST]
    return name
