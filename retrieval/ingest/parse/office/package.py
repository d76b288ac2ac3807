"""Parts of an OOXML package: which leads to which, and what the package states of itself."""

from __future__ import annotations

import posixpath
from dataclasses import dataclass
from datetime import datetime

from retrieval.ingest.parse.archive import Archive
from retrieval.ingest.parse.meta import clean_title, parse_date
from retrieval.ingest.parse.xml import local, parse_xml

RELATION_ID = "{http://schemas.openxmlformats.org/officeDocument/2006/relationships}id"
_PRESENTATION = "ppt/presentation.xml"


@dataclass(frozen=True, slots=True)
class Relation:
    """`kind` is the last word of its type; `target` a part's name, or an address when `external`."""

    kind: str
    target: str
    external: bool


def relations(archive: Archive, part: str) -> dict[str, Relation]:
    """What a part refers to, by id. Raises `Unreadable("corrupt")`."""
    folder, name = posixpath.split(part)
    data = archive.read(f"{folder}/_rels/{name}.rels".lstrip("/"))
    found: dict[str, Relation] = {}
    for node in parse_xml(data) if data is not None else ():
        target, external = str(node.get("Target", "")), node.get("TargetMode") == "External"
        if not external:
            target = posixpath.normpath(
                posixpath.join("/" if target.startswith("/") else folder, target)
            ).lstrip("/")
        found[str(node.get("Id", ""))] = Relation(
            str(node.get("Type", "")).rpartition("/")[2], target, external
        )
    return found


def slide_names(archive: Archive) -> list[str]:
    """Names of a presentation's slides in the order they are shown."""
    data = archive.read(_PRESENTATION)
    if data is None:
        return []
    related = relations(archive, _PRESENTATION)
    ids = [str(node.get(RELATION_ID, "")) for node in parse_xml(data).iter() if local(node.tag) == "sldId"]
    return [related[key].target for key in ids if key in related]


def stated(archive: Archive) -> tuple[str | None, datetime | None]:
    """Title and date from the properties of an OOXML or OpenDocument file."""
    found: dict[str, str] = {}
    for part in ("docProps/core.xml", "meta.xml"):
        if (data := archive.read(part)) is not None:
            found |= {local(node.tag): node.text or "" for node in parse_xml(data).iter() if not len(node)}
    date = found.get("modified") or found.get("date") or found.get("created") or found.get("creation-date")
    return clean_title(found.get("title")), parse_date(date)
