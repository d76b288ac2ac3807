"""What stands behind the marks of a message: a claim for each source, the AI label, sensitivity. Pure."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import PurePath
from typing import Any, Final

from adapters.conversation import SLIDES, Citation
from adapters.markdown import cut, to_plain
from adapters.short import cut16
from adapters.teams import limits
from adapters.teams.card import is_https, one_line
from adapters.teams.text import PLAIN

_ICONS: Final = {
    ".pdf": "PDF", ".docx": "Microsoft Word", ".doc": "Microsoft Word", ".xlsx": "Microsoft Excel",
    ".xls": "Microsoft Excel", ".png": "Image", ".jpg": "Image", ".jpeg": "Image",
    **dict.fromkeys(SLIDES, "Microsoft PowerPoint"),
    **dict.fromkeys((".py", ".js", ".ts", ".java", ".go", ".rs", ".c", ".cpp", ".sh"), "Source Code"),
}  # fmt: skip
_UNTITLED: Final = "Untitled"


def message_entity(citations: Sequence[Citation], *, sensitivity: str = "") -> dict[str, Any]:
    """The one root entity of a message."""
    entity: dict[str, Any] = {
        "type": "https://schema.org/Message",
        "@type": "Message",
        "@context": "https://schema.org",
        "@id": "",
        "additionalType": ["AIGeneratedContent"],
    }
    if citations:
        entity["citation"] = [claim(citation) for citation in citations]
    if name := one_line(sensitivity, limits.CITATION_NAME):
        entity["usageInfo"] = {"type": "https://schema.org/Message", "@type": "CreativeWork", "name": name}
    return entity


def address_of(citation: Citation) -> str | None:
    """What the source is opened with in Teams: its passage here, or the original."""
    return next((url for url in (citation.url, citation.source_url) if is_https(url)), None)


def claim(citation: Citation) -> dict[str, Any]:
    title = ", ".join(filter(None, (citation.title.strip() or citation.name, citation.place())))
    quote = " ".join(to_plain(citation.quote, PLAIN).split())
    document: dict[str, Any] = {
        "@type": "DigitalDocument",
        "name": _cut(title, limits.CITATION_NAME) or _UNTITLED,
        "abstract": _cut(quote or title, limits.CITATION_ABSTRACT) or _UNTITLED,
        "image": {
            "@type": "ImageObject",
            "name": _ICONS.get(PurePath(citation.name).suffix.lower(), "Text"),
        },
    }
    if (url := address_of(citation)) is not None:
        document["url"] = url
    return {"@type": "Claim", "position": citation.number, "appearance": document}


def _cut(text: str, most: int) -> str:
    """At a word; in UTF-16, as Teams counts."""
    return cut16(cut(text, most), most)
