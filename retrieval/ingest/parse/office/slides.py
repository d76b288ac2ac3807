"""PowerPoint presentations to sections: one page a slide, with its tables, charts and speaker notes."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from lxml import etree

from retrieval.documents import ParsedDocument
from retrieval.ingest.limits import ParseLimits
from retrieval.ingest.parse import markdown
from retrieval.ingest.parse.archive import Archive
from retrieval.ingest.parse.grid import write_grid
from retrieval.ingest.parse.meta import clean_title
from retrieval.ingest.parse.office import drawings
from retrieval.ingest.parse.office.package import RELATION_ID, Relation, relations, slide_names, stated
from retrieval.ingest.parse.sections import SectionBuilder
from retrieval.ingest.parse.xml import local, parse_xml
from retrieval.ingest.protocol import Unreadable

Element = etree._Element  # pyright: ignore[reportPrivateUsage]
_TITLES = ("title", "ctrTitle")
#: Placeholders that say the same on each slide.
_FURNITURE = ("sldNum", "hdr", "ftr", "dt", "sldImg")
_DIAGRAM_ID = RELATION_ID.replace("}id", "}dm")
_MAX_GROUPS = 50


class SlidesParser:
    """PPTX. xberg puts spaces into words whose letters differ in form, so this reads the XML itself."""

    name = "slides"

    def __init__(self, limits: ParseLimits) -> None:
        self._limits = limits

    def parse(self, name: str, data: bytes) -> ParsedDocument:  # noqa: ARG002
        archive = Archive(data, self._limits)
        slides = slide_names(archive)
        if len(slides) > self._limits.max_pages:
            raise Unreadable("too_large", f"{len(slides)} slides")
        builder, damaged, first = SectionBuilder(self._limits), list[int](), ""
        for number, part in enumerate(slides, 1):
            builder.page(number, keep_path=False)
            try:
                title = _write_slide(archive, part, builder)
            except Unreadable as refusal:
                if refusal.reason != "corrupt":
                    raise
                damaged.append(number)
                continue
            first = first or title
        if damaged and len(damaged) == len(slides):
            raise Unreadable("corrupt", "no slide can be read")
        title, date = stated(archive)
        return ParsedDocument(
            sections=builder.build(),
            title=title or clean_title(first),
            pages=len(slides),
            document_date=date,
            parser=f"{self.name}/1",
            warnings=tuple(f"Slide {number} could not be read." for number in damaged),
        )


def _write_slide(archive: Archive, part: str, builder: SectionBuilder) -> str:
    """Writes one slide and returns its title."""
    data = archive.read(part)
    if data is None:
        raise Unreadable("corrupt", "a slide is missing")
    related = relations(archive, part)
    shapes = sorted(_shapes(parse_xml(data)), key=_place)
    title = ""
    for shape in shapes:
        if _placeholder(shape) in _TITLES and not title:
            title = _said(shape, related, bullets=False).replace("\n", " ")
            builder.heading(1, title)
    for shape in shapes:
        if _placeholder(shape) not in (*_TITLES, *_FURNITURE):
            _write_shape(archive, shape, related, builder)
    for relation in related.values():
        if relation.kind == "notesSlide" and (notes := archive.read(relation.target)) is not None:
            said = [
                _said(shape, {}, bullets=False) for shape in _shapes(parse_xml(notes)) if _is_note(shape)
            ]
            text = "\n".join(line for line in said if line)
            builder.text(f"Notes: {text}" if text else "")
    return title


def _shapes(root: Element) -> Iterator[Element]:
    """Shapes, pictures and frames, those in groups too; of alternatives the first."""
    pending = [(node, 0) for node in root.iter() if local(node.tag) == "spTree"][:1]
    while pending:
        node, depth = pending.pop()
        below: list[tuple[Element, int]] = []
        for child in node:
            tag = local(child.tag)
            if tag in ("sp", "pic", "graphicFrame", "cxnSp"):
                yield child
            elif tag == "AlternateContent":
                below += [(choice, depth) for choice in child if len(choice)][:1]
            elif tag == "grpSp" and depth < _MAX_GROUPS:
                below.append((child, depth + 1))
        pending.extend(reversed(below))


def _place(shape: Element) -> tuple[int, int]:
    """From the top, then from the left; what stands where the layout has it comes first."""
    for node in shape.iter():
        if local(node.tag) == "off":
            x, y = str(node.get("x", "")), str(node.get("y", ""))
            if x.lstrip("-").isdigit() and y.lstrip("-").isdigit():
                # Within a quarter of an inch (in English Metric Units) things stand side by side.
                return int(y) // 228_600, int(x)
    return -(10**9), 0


def _placeholder(shape: Element) -> str:
    """What a shape is a placeholder for: "body" where it does not say; empty for none."""
    found = next((node for node in shape.iter() if local(node.tag) == "ph"), None)
    return "" if found is None else str(found.get("type") or "body")


def _is_note(shape: Element) -> bool:
    return _placeholder(shape) not in _FURNITURE


def _said(shape: Element, related: Mapping[str, Relation], *, bullets: bool) -> str:
    bodies = (node for node in shape.iter() if local(node.tag) == "txBody")
    return "\n".join(drawings.paragraphs(body, related, bullets=bullets) for body in bodies)


def _write_shape(
    archive: Archive, shape: Element, related: Mapping[str, Relation], builder: SectionBuilder
) -> None:
    tag = local(shape.tag)
    if tag == "pic":
        about = next(
            (str(node.get("descr") or "") for node in shape.iter() if local(node.tag) == "cNvPr"), ""
        )
        builder.text(about.strip() if len(about.split()) > 2 else "")
    elif tag != "graphicFrame":
        body = _placeholder(shape) in ("body", "obj")
        builder.text(_said(shape, related, bullets=body))
    elif any(local(node.tag) == "tbl" for node in shape.iter()):
        write_grid(drawings.table(shape, related), builder)
    else:
        for node in shape.iter():
            if local(node.tag) in ("chart", "relIds"):
                _write_graphic(
                    archive, related.get(str(node.get(RELATION_ID) or node.get(_DIAGRAM_ID))), builder
                )


def _write_graphic(archive: Archive, relation: Relation | None, builder: SectionBuilder) -> None:
    data = archive.read(relation.target) if relation and not relation.external else None
    if data is None or relation is None:
        return
    root = parse_xml(data)
    if relation.kind == "chart":
        title, rows = drawings.chart(root)
        builder.text(title)
        builder.text(markdown.table(rows))
    else:
        builder.text(drawings.diagram(root))
