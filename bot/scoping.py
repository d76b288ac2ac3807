"""What a question may search: read from the message, then the bindings, then the workspace."""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import dataclass, replace
from datetime import UTC, date, datetime, time

from retrieval.scope import Scope

#: `in:handbook`, `label:"on call"`, `from:ann`, `after:2026-01-31`, `before:2026-02`.
_TERM = re.compile(
    r'(?<!\S)(?P<key>in|label|from|after|before):(?:"(?P<quoted>[^"\n]{1,80})"|(?P<plain>[^\s"]{1,80}))',
    re.IGNORECASE,
)


class ScopeError(Exception):
    """A scope term that can't be meant; `str()` is one sentence for the person."""


@dataclass(frozen=True, slots=True)
class Asked:
    """What a text asks to search. Empty fields ask nothing."""

    knowledge_bases: frozenset[str] = frozenset()
    labels: frozenset[str] = frozenset()
    uploaders: frozenset[str] = frozenset()
    after: datetime | None = None
    before: datetime | None = None

    @property
    def empty(self) -> bool:
        return self == Asked()


def _day(text: str) -> datetime:
    try:
        return datetime.combine(date.fromisoformat(text + "-01-01"[3 * (text.count("-")) :]), time(), UTC)
    except ValueError:
        raise ScopeError(f"“{text}” is no date. Write it as 2026-01-31, 2026-01 or 2026.") from None


def read_terms(text: str) -> tuple[str, Asked]:
    """The text without its scope terms, and what they ask. Raises `ScopeError` for a bad date."""
    asked = Asked()
    for match in _TERM.finditer(text):
        key = match["key"].lower()
        value = (match["quoted"] or match["plain"]).strip()
        match key:
            case "in":
                asked = replace(asked, knowledge_bases=asked.knowledge_bases | {value.casefold()})
            case "label":
                asked = replace(asked, labels=asked.labels | {value.casefold()})
            case "from":
                asked = replace(asked, uploaders=asked.uploaders | {value})
            case "after":
                asked = replace(asked, after=_day(value))
            case _:
                asked = replace(asked, before=_day(value))
    return " ".join(_TERM.sub(" ", text).split()) if not asked.empty else text, asked


def read_bindings(text: str) -> dict[str, Asked]:
    """Bindings by channel or person id, from lines such as `C0123 = in:handbook label:hr`.

    Raises `ScopeError` naming the line that can't be read.
    """
    found: dict[str, Asked] = {}
    for number, line in enumerate(text.splitlines(), 1):
        if not line.strip():
            continue
        name, equals, terms = line.partition("=")
        rest, asked = read_terms(terms.strip())
        if not equals or not name.strip() or asked.empty or rest.strip():
            raise ScopeError(f"Line {number} should read: an id, “=”, then in:… or label:….")
        found[name.strip()] = asked
    return found


def choose_scope(
    workspace: str,
    audience: frozenset[str],
    asked: Asked,
    *,
    bindings: Callable[[], list[Asked]],
    default_labels: frozenset[str],
    knowledge_bases: frozenset[str],
) -> Scope:
    """Most specific first: the message, its channel, its person, the default labels, else all.

    Args:
        bindings: the channel's and then the person's, where they have one.
        knowledge_bases: the names that exist; an unknown `in:` raises `ScopeError`.
    """
    unknown = asked.knowledge_bases - {name.casefold() for name in knowledge_bases}
    if unknown:
        names = ", ".join(sorted(knowledge_bases)) or "none yet"
        raise ScopeError(f"There is no knowledge base “{min(unknown)}”. There is: {names}.")
    chosen = next((a for a in (asked, *bindings()) if not a.empty), Asked(labels=default_labels))
    wanted = frozenset(name for name in knowledge_bases if name.casefold() in chosen.knowledge_bases)
    return Scope(
        workspace=workspace,
        audience=audience,
        knowledge_bases=wanted if chosen.knowledge_bases else None,
        labels=chosen.labels or None,
        uploaders=chosen.uploaders or None,
        uploaded_after=chosen.after,
        uploaded_before=chosen.before,
    )
