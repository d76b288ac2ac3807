"""EPUB to sections: the chapters in the order of the spine."""

from __future__ import annotations

import posixpath
from urllib.parse import unquote

from lxml import etree

from retrieval.documents import ParsedDocument
from retrieval.ingest.limits import ParseLimits
from retrieval.ingest.parse.archive import Archive
from retrieval.ingest.parse.charset import decode
from retrieval.ingest.parse.html.parser import write_html
from retrieval.ingest.parse.meta import clean_title, parse_date
from retrieval.ingest.parse.sections import SectionBuilder
from retrieval.ingest.parse.xml import local, parse_xml
from retrieval.ingest.protocol import Unreadable

_CONTAINER = "META-INF/container.xml"
_ENCRYPTION = "META-INF/encryption.xml"
_TEXT_TYPES = ("application/xhtml+xml", "text/html", "application/x-dtbook+xml")
#: Ways to scramble fonts, which hide no text.
_FONT_SCRAMBLING = ("http://www.idpf.org/2008/embedding", "http://ns.adobe.com/pdf/enc#RC")
Element = etree._Element  # pyright: ignore[reportPrivateUsage]


class EpubParser:
    """EPUB 2 and 3 without rights management."""

    name = "epub"

    def __init__(self, limits: ParseLimits) -> None:
        self._limits = limits

    def parse(self, name: str, data: bytes) -> ParsedDocument:  # noqa: ARG002
        archive = Archive(data, self._limits)
        if _is_encrypted(archive):
            raise Unreadable("encrypted", "rights management")
        path = _package_path(archive)
        content = archive.read(path)
        if content is None:
            raise Unreadable("corrupt", "no package document")
        package = parse_xml(content)
        builder, missing = SectionBuilder(self._limits), 0
        for chapter in _spine(package, posixpath.dirname(path)):
            page = archive.read(chapter)
            if page is None:
                missing += 1
                continue
            write_html(decode(page), builder)
        stated = {
            local(node.tag): " ".join("".join(map(str, node.itertext())).split())
            for node in reversed(_metadata(package))
        }
        warnings = (f"Chapters missing in this book: {missing}.",) if missing else ()
        return ParsedDocument(
            sections=builder.build(),
            title=clean_title(stated.get("title")),
            document_date=parse_date(stated.get("date")),
            parser=f"{self.name}/1",
            warnings=warnings,
        )


def _package_path(archive: Archive) -> str:
    container = archive.read(_CONTAINER)
    if container is not None:
        for node in parse_xml(container).iter():
            if local(node.tag) == "rootfile" and node.get("full-path"):
                return str(node.get("full-path"))
    return next((name for name in sorted(archive.names) if name.endswith(".opf")), "")


def _spine(package: Element, folder: str) -> list[str]:
    """Names of the chapters' files, in order."""
    files: dict[str, str] = {}
    for node in package.iter():
        if local(node.tag) == "item" and node.get("media-type") in _TEXT_TYPES:
            files[node.get("id", "")] = posixpath.normpath(
                posixpath.join(folder, unquote(node.get("href", "")))
            )
    order = [node.get("idref", "") for node in package.iter() if local(node.tag) == "itemref"]
    return [files[key] for key in order if key in files] or list(files.values())


def _metadata(package: Element) -> list[Element]:
    return [
        node for block in package if local(block.tag) == "metadata" for node in block if local(node.tag)
    ]


def _is_encrypted(archive: Archive) -> bool:
    data = archive.read(_ENCRYPTION)
    if data is None:
        return False
    methods = [
        node.get("Algorithm", "")
        for node in parse_xml(data).iter()
        if local(node.tag) == "EncryptionMethod"
    ]
    return any(method not in _FONT_SCRAMBLING for method in methods)
