"""Speaker notes of a presentation, by slide."""

from __future__ import annotations

import posixpath

from retrieval.ingest.parse.archive import Archive
from retrieval.ingest.parse.xml import local, parse_xml
from retrieval.ingest.protocol import Unreadable

_PRESENTATION = "ppt/presentation.xml"
_ID = "{http://schemas.openxmlformats.org/officeDocument/2006/relationships}id"


def slide_names(archive: Archive) -> list[str]:
    """Names of the slides' parts in the order they are shown."""
    related = relations(archive, _PRESENTATION)
    data = archive.read(_PRESENTATION)
    if data is None:
        return []
    ids = [node.get(_ID, "") for node in parse_xml(data).iter() if local(node.tag) == "sldId"]
    return [related[key][1] for key in ids if key in related]


def speaker_notes(archive: Archive) -> dict[int, str]:
    """Notes by slide, from 1. What can't be read is left out: notes are no reason to refuse a file."""
    notes: dict[int, str] = {}
    try:
        for number, slide in enumerate(slide_names(archive), 1):
            for kind, target in relations(archive, slide).values():
                data = archive.read(target) if kind == "notesSlide" else None
                if data is not None and (text := _note(data)):
                    notes[number] = text
    except Unreadable:
        return notes
    return notes


def relations(archive: Archive, part: str) -> dict[str, tuple[str, str]]:
    """Of one part: relation id -> (last word of its type, the part it leads to)."""
    folder, name = posixpath.split(part)
    data = archive.read(f"{folder}/_rels/{name}.rels".lstrip("/"))
    if data is None:
        return {}
    found: dict[str, tuple[str, str]] = {}
    for node in parse_xml(data):
        target = node.get("Target", "")
        path = (
            target.lstrip("/")
            if target.startswith("/")
            else posixpath.normpath(posixpath.join(folder, target))
        )
        if node.get("TargetMode") != "External":
            found[node.get("Id", "")] = (node.get("Type", "").rpartition("/")[2], path)
    return found


def _note(data: bytes) -> str:
    """Text of the shapes of a notes page, without its slide number, header, footer and date."""
    lines: list[str] = []
    for shape in parse_xml(data).iter():
        if local(shape.tag) != "sp":
            continue
        places = [node.get("type", "") for node in shape.iter() if local(node.tag) == "ph"]
        if any(place in ("sldNum", "hdr", "ftr", "dt", "sldImg") for place in places):
            continue
        for paragraph in (node for node in shape.iter() if local(node.tag) == "p"):
            lines.append("".join(node.text or "" for node in paragraph.iter() if local(node.tag) == "t"))
    return "\n".join(line for line in lines if line.strip())
