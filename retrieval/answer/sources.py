"""Passages as labelled sources: their labels, and how they stand in a prompt."""

from __future__ import annotations

import re
from collections.abc import Sequence

from retrieval.answer.events import Source
from retrieval.answer.protocol import LabelStyle
from retrieval.documents import Chunk
from retrieval.index.protocol import Hit

#: Longer names are cut: a label is repeated after each claim.
MAX_LABEL = 48

#: What a label is written with, or what means something to Markdown, can't be part of a name.
_NOT_IN_LABELS = re.compile(r"[\s\[\](){}<>【】［］,;、，；|`*\\^#†\"\x00-\x1f\x7f]+")
#: The beginning of a tag that the fence is made of, in whatever way it is written.
_FENCE = re.compile(r"<(?=\s*/?\s*(?:sources?|conversation|message|answer|question|instructions)\b)", re.I)


def label_sources(hits: Sequence[Hit], style: LabelStyle) -> tuple[Source, ...]:
    """Labels in the order of `hits`: "1", "2", ... or "keys.md", "sts.md", "keys.md#2"."""
    labels = (
        numbers(len(hits)) if style == "numbers" else unique_names([hit.chunk.meta.name for hit in hits])
    )
    return tuple(Source(label, hit.chunk, hit.score) for label, hit in zip(labels, hits, strict=True))


def numbers(count: int) -> list[str]:
    return [str(n) for n in range(1, count + 1)]


def unique_names(names: Sequence[str]) -> list[str]:
    """A label for each file name; the second of the same name gets "#2". Compared without case."""
    seen: dict[str, int] = {}
    labels: list[str] = []
    for name in names:
        label = _label(name)
        count = seen[label.casefold()] = seen.get(label.casefold(), 0) + 1
        labels.append(label if count == 1 else f"{label}#{count}")
    return labels


def _label(name: str) -> str:
    name = _NOT_IN_LABELS.sub(" ", name).strip() or "document"
    if len(name) <= MAX_LABEL:
        return name
    stem, dot, ending = name.rpartition(".")
    if not dot or len(ending) > 8:
        return name[:MAX_LABEL].strip()
    return stem[: MAX_LABEL - len(ending) - 1].strip() + "." + ending


def fenced(sources: Sequence[Source], fields: Sequence[str] = ()) -> str:
    """The sources for a prompt: each in a `<source>` of its own that its text can't close.

    `fields` names the document fields that are told.
    """
    parts = [
        f'<source label="[{source.label}]"{_attributes(source.chunk, fields)}>\n'
        f"{escape(source.chunk.text.strip())}\n</source>"
        for source in sources
    ]
    return "<sources>\n" + "\n".join(parts) + "\n</sources>"


def escape(text: str) -> str:
    """Text of a document or person as data: it can neither close its fence nor open one."""
    return _FENCE.sub("&lt;", text)


def _attributes(chunk: Chunk, fields: Sequence[str]) -> str:
    meta = chunk.meta
    told = {
        "document": meta.name,
        "title": meta.title if meta.title != meta.name else "",
        "section": " > ".join(chunk.heading_path),
        "page": "" if chunk.page is None else str(chunk.page),
        "date": meta.document_date.date().isoformat() if meta.document_date else "",
        **{name: meta.fields.get(name, "") for name in fields},
    }
    return "".join(f' {_attribute(name)}="{_attribute(value)}"' for name, value in told.items() if value)


def _attribute(value: str) -> str:
    """On one line, without quotation marks or brackets that could look like a label or a fence."""
    return " ".join(value.translate(_PLAIN).split())


_PLAIN = str.maketrans({'"': "'", "<": "‹", ">": "›", "[": "(", "]": ")"})
