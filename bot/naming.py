"""How people at a terminal name a document: by its file name, or by the beginning of its id."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

from adapters.ports import DocumentView, Refused

#: Characters of an id that are written at least, and that tell a document.
LEAST: Final = 6


def short_ids(ids: Sequence[str]) -> dict[str, str]:
    """The beginnings by which ids can be told apart, all of one length."""
    longest = max(map(len, ids), default=0)
    lengths = range(LEAST, longest)
    length = next((n for n in lengths if len({i[:n] for i in ids}) == len(set(ids))), longest)
    return {i: i[:length] for i in ids}


def named(documents: Sequence[DocumentView], name: str) -> DocumentView:
    """The one document of that id or file name, or whose id begins so. Raises `Refused`."""
    found = [d for d in documents if name in (d.document_id, d.name)]
    if len(found) > 1:
        raise Refused(f"Several documents are named “{name}”. Use the id: kb documents")
    if not found and len(name) >= LEAST:
        found = [d for d in documents if d.document_id.startswith(name)]
        if len(found) > 1:
            raise Refused(f"The ids of several documents begin with “{name}”. Write more of it.")
    if not found:
        raise Refused(f"There is no document “{name}”. See: kb documents")
    return found[0]
