"""Text in DrawingML: paragraphs with links and bullets, tables, charts, diagrams."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from lxml import etree

from retrieval.ingest.parse import markdown
from retrieval.ingest.parse.office.package import RELATION_ID, Relation
from retrieval.ingest.parse.xml import local

Element = etree._Element  # pyright: ignore[reportPrivateUsage]
_MAX_LEVEL = 8
_MAX_SPAN = 200


def paragraphs(body: Element, related: Mapping[str, Relation], *, bullets: bool) -> str:
    """A text body as Markdown; with `bullets` each paragraph is an item unless it says otherwise."""
    lines: list[str] = []
    numbers: dict[int, int] = {}
    for paragraph in (node for node in body if local(node.tag) == "p"):
        text = paragraph_text(paragraph, related)
        if not text:
            continue
        properties = next((node for node in paragraph if local(node.tag) == "pPr"), None)
        level = min(_number(properties, "lvl"), _MAX_LEVEL)
        marks = {local(node.tag) for node in properties} if properties is not None else set[str]()
        if "buAutoNum" in marks:
            numbers = {key: count for key, count in numbers.items() if key <= level}
            numbers[level] = numbers.get(level, 0) + 1
            lines.append(f"{'  ' * level}{numbers[level]}. {text}")
        elif "buNone" not in marks and (bullets or "buChar" in marks):
            numbers = {key: count for key, count in numbers.items() if key < level}
            lines.append(f"{'  ' * level}- {text}")
        else:
            numbers = {}
            lines.append(markdown.plain(text))
    return "\n".join(lines)


def paragraph_text(paragraph: Element, related: Mapping[str, Relation]) -> str:
    parts: list[str] = []
    for run in paragraph:
        tag = local(run.tag)
        if tag == "br":
            parts.append("\n")
        elif tag in ("r", "fld"):
            text = "".join(node.text or "" for node in run if local(node.tag) == "t")
            parts.append(markdown.link(text, address) if (address := _address(run, related)) else text)
    return "".join(parts).replace("\v", "\n").strip()


def table(frame: Element, related: Mapping[str, Relation]) -> list[list[str]]:
    """Rows of texts; a cell merged downwards says its text in each row."""
    rows: list[list[str]] = []
    for row in (node for node in frame.iter() if local(node.tag) == "tr"):
        texts: list[str] = []
        for cell in (node for node in row if local(node.tag) == "tc"):
            at = len(texts)
            if cell.get("vMerge") == "1" and rows and at < len(rows[-1]):
                texts.append(rows[-1][at])
            else:
                body = [node for node in cell.iter() if local(node.tag) == "p"]
                texts.append(" ".join(text for node in body if (text := paragraph_text(node, related))))
        rows.append(texts)
    return rows


def chart(root: Element) -> tuple[str, list[list[str]]]:
    """A chart's title, and its series as columns beside their categories."""
    title = next((node for node in root.iter() if local(node.tag) == "title"), None)
    said = (
        "".join(node.text or "" for node in title.iter() if local(node.tag) == "t")
        if title is not None
        else ""
    )
    categories: list[str] = []
    columns: list[tuple[str, list[str]]] = []
    for series in (node for node in root.iter() if local(node.tag) == "ser"):
        parts = {local(node.tag): node for node in series}
        name = " ".join(_points(parts["tx"])) if "tx" in parts else ""
        for key in ("cat", "xVal"):
            if key in parts and len(found := _points(parts[key])) > len(categories):
                categories = found
        values = next((_points(parts[key]) for key in ("val", "yVal") if key in parts), [])
        columns.append((name, values))
    length = max([len(categories), *(len(values) for _, values in columns)], default=0)
    rows = [["", *(name for name, _ in columns)]]
    for at in range(length):
        rows.append([_at(categories, at), *(_at(values, at) for _, values in columns)])
    return said.strip(), rows if columns else []


def diagram(root: Element) -> str:
    """The texts of a SmartArt diagram, in the order of its points."""
    points = [node for node in root.iter() if local(node.tag) == "pt"]
    texts = (
        "".join(node.text or "" for node in point.iter() if local(node.tag) == "t") for point in points
    )
    return "\n".join(f"- {text.strip()}" for text in texts if text.strip())


def _points(data: Element) -> list[str]:
    return [node.text or "" for node in data.iter() if local(node.tag) == "v"]


def _at(texts: list[str], at: int) -> str:
    return texts[at] if at < len(texts) else ""


def _address(run: Element, related: Mapping[str, Relation]) -> str:
    for node in _below(run, "rPr", "hlinkClick"):
        relation = related.get(str(node.get(RELATION_ID, "")))
        if (
            relation
            and relation.external
            and relation.target.startswith(("http://", "https://", "mailto:"))
        ):
            return relation.target
    return ""


def _below(node: Element, *path: str) -> Iterator[Element]:
    if not path:
        yield node
        return
    for child in node:
        if local(child.tag) == path[0]:
            yield from _below(child, *path[1:])


def _number(node: Element | None, name: str) -> int:
    text = node.get(name, "0") if node is not None else "0"
    return int(text) if text.isascii() and text.isdigit() else 0
