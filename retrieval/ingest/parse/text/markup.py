"""Markdown to sections by its headings: ATX, setext, and the title in its front matter."""

from __future__ import annotations

import re
from typing import Any, cast

import yaml

from retrieval.documents import ParsedDocument
from retrieval.ingest.limits import ParseLimits
from retrieval.ingest.parse.charset import decode
from retrieval.ingest.parse.meta import clean_title, parse_date
from retrieval.ingest.parse.sections import SectionBuilder

_ATX = re.compile(r" {0,3}(#{1,6})(?:[ \t]+(.*?))?(?:[ \t]+#+)?[ \t]*$")
_SETEXT = re.compile(r" {0,3}(=+|-+)[ \t]*$")
_FENCE = re.compile(r" {0,3}(`{3,}|~{3,})(.*)$")
#: A line that can't be the text of a setext heading.
_NOT_TEXT = re.compile(r"\s*$| {4}|\t| {0,3}(?:[>|]|[-*+][ \t]|\d{1,9}[.)][ \t]|[-=*_]{3,}[ \t]*$)")
_FRONT_MATTER = re.compile(r"---[ \t]*\n(.*?)\n(?:---|\.\.\.)[ \t]*(?:\n|$)", re.DOTALL)
_MAX_FRONT_MATTER = 20_000
_INLINE = (
    (re.compile(r"!?\[([^\]\[]*)\]\([^)]*\)"), r"\1"),
    (re.compile(r"!?\[([^\]\[]*)\]\[[^\]]*\]"), r"\1"),
    (re.compile(r"(\*\*|__|~~)(?=\S)(.+?)(?<=\S)\1"), r"\2"),
    (re.compile(r"(?<![\w*])([*_])(?=\S)(.+?)(?<=\S)\1(?![\w*])"), r"\2"),
    (re.compile(r"`+([^`]+)`+"), r"\1"),
    (re.compile(r"<[^<>\n]{1,200}>|\{#[\w-]+\}"), ""),
    (re.compile(r"\\([!-/:-@\[-`{-~])"), r"\1"),
)


class MarkdownParser:
    """Keeps the text as it stands, divided by headings."""

    name = "markdown"

    def __init__(self, limits: ParseLimits) -> None:
        self._limits = limits

    def parse(self, name: str, data: bytes) -> ParsedDocument:  # noqa: ARG002
        text = decode(data).replace("\r\n", "\n").replace("\r", "\n")
        stated, text = _front_matter(text)
        builder = SectionBuilder(self._limits)
        first = write_markdown(text, builder)
        title = stated.get("title")
        date = stated.get("date") or stated.get("lastmod") or stated.get("updated")
        return ParsedDocument(
            sections=builder.build(),
            title=clean_title(str(title)) if title else clean_title(first),
            document_date=parse_date(str(date)) if date else None,
            parser=f"{self.name}/1",
        )


def write_markdown(text: str, builder: SectionBuilder) -> str | None:
    """Writes the sections of `text`; returns its first heading of level 1, when it begins with one."""
    first: str | None = None
    begun = False
    fence = ""
    body: list[str] = []

    def heading(level: int, title: str) -> None:
        nonlocal first, body, begun
        if not begun and level == 1 and not any(line.strip() for line in body):
            first = title
        begun = True
        builder.text("\n".join(body).strip("\n"))
        builder.heading(level, title)
        body = []

    for line in text.split("\n"):
        if match := _FENCE.match(line):
            mark = match.group(1)
            if not fence:
                fence = mark if "`" not in match.group(2) or mark[0] == "~" else ""
            elif mark.startswith(fence) and not match.group(2).strip():
                fence = ""
        elif not fence and (match := _ATX.match(line)):
            heading(len(match.group(1)), heading_text(match.group(2) or ""))
            continue
        elif not fence and body and (match := _SETEXT.match(line)) and not _NOT_TEXT.match(body[-1]):
            above = body[-2] if len(body) > 1 else ""
            if not above.strip():
                title = heading_text(body.pop())
                heading(1 if match.group(1)[0] == "=" else 2, title)
                continue
        body.append(line)
    builder.text("\n".join(body).strip("\n"))
    return first


def heading_text(markdown: str) -> str:
    """The words of a heading, without Markdown's marks."""
    for pattern, replacement in _INLINE:
        markdown = pattern.sub(replacement, markdown)
    return markdown.strip()


def _front_matter(text: str) -> tuple[dict[str, Any], str]:
    match = _FRONT_MATTER.match(text[:_MAX_FRONT_MATTER])
    if not match:
        return {}, text
    try:
        stated = yaml.load(match.group(1), Loader=yaml.CSafeLoader)
    except (yaml.YAMLError, ValueError, RecursionError):
        return {}, text
    return (cast("dict[str, Any]", stated), text[match.end() :]) if isinstance(stated, dict) else ({}, text)
