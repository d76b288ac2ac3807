"""The port `Sources`: one passage in its surroundings, for whoever holds its signed link."""

from __future__ import annotations

import structlog

from adapters.ports import Rectangle, Refused, SourceView
from bot.library import Library
from bot.links import LinkError, Links, Target
from bot.records import Version
from retrieval.documents import Chunk
from retrieval.ingest.protocol import Unreadable
from retrieval.ingest.sandbox import ParserPool
from retrieval.pages.marks import Box
from retrieval.scope import Scope

log = structlog.get_logger()

_GONE = "This document was deleted or replaced by a newer version. Ask again to get a link to it."
#: Passages shown before and after the cited one.
_RADIUS = 1


class SourceDesk:
    def __init__(self, library: Library, links: Links, pages: ParserPool) -> None:
        self._library, self._links, self._pages = library, links, pages

    async def open(self, token: str) -> SourceView:
        target, version, chunk = await self._find(token)
        scope = _scope_of(target, version)
        around = await self._library.index.neighbours(scope, chunk, radius=_RADIUS)
        start, end = target.start, target.end
        if not 0 <= start < end <= len(chunk.text):
            start, end = 0, 0
        marks: tuple[Rectangle, ...] = ()
        if (page := chunk.page) is not None and _drawable(version):
            quote = chunk.text[start:end] or chunk.text
            marks = tuple(
                Rectangle(left=b.left, top=b.top, right=b.right, bottom=b.bottom)
                for b in await self._locate(target, page, quote)
            )
        return SourceView(
            title=chunk.meta.title,
            name=chunk.meta.name,
            version=chunk.meta.version,
            page=chunk.page,
            heading_path=chunk.heading_path,
            before="\n\n".join(c.text for c in around if c.ordinal < chunk.ordinal),
            passage=chunk.text,
            quote_span=(start, end),
            after="\n\n".join(c.text for c in around if c.ordinal > chunk.ordinal),
            has_image=chunk.page is not None and _drawable(version),
            marks=marks,
            source_url=chunk.meta.source_url,
        )

    async def page_image(self, token: str, *, width: int = 1200) -> bytes:
        target, version, chunk = await self._find(token)
        if chunk.page is None or not _drawable(version):
            raise Refused("This document has no pages to show.")
        try:
            async with self._library.original(target.workspace, target.version_id) as path:
                return await self._pages.page_image(path, chunk.page, width=width)
        except (LookupError, Unreadable) as error:
            raise Refused("This page can't be shown.") from error

    async def _find(self, token: str) -> tuple[Target, Version, Chunk]:
        try:
            target = self._links.read(token)
        except LinkError as error:
            raise Refused(str(error)) from None
        document = await self._library.catalogue.document(target.workspace, target.document_id)
        version = document.current if document else None
        if version is None or version.meta.version_id != target.version_id:
            raise Refused(_GONE)
        found = await self._library.index.get(_scope_of(target, version), [target.chunk_id])
        if not found:
            raise Refused(_GONE)
        return target, version, found[0]

    async def _locate(self, target: Target, page: int, quote: str) -> list[Box]:
        """Empty where that fails: the passage is shown as text all the same."""
        try:
            async with self._library.original(target.workspace, target.version_id) as path:
                return await self._pages.locate(path, page, quote)
        except (LookupError, Unreadable):
            log.warning("marks_not_found", version_id=target.version_id, exc_info=True)
            return []


def _scope_of(target: Target, version: Version) -> Scope:
    """The link itself gives the right to this document, whoever opens it."""
    return Scope(
        workspace=target.workspace,
        audience=frozenset(version.meta.audience),
        documents=frozenset({target.document_id}),
    )


def _drawable(version: Version) -> bool:
    return bool(version.outcome and version.outcome.parser.startswith("pdf"))
