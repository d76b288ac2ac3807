"""The port `Documents`: the library as one actor may see and change it."""

from __future__ import annotations

from collections.abc import AsyncIterator, Sequence

from adapters.conversation import UploadedFile
from adapters.forms import Progress, ProgressItem
from adapters.ports import Actor, DocumentView, Refused, SearchHit, SearchMode, UploadOptions
from bot.access import document_audience, may_edit, may_read, person_key, reply_audience
from bot.engine import Engine
from bot.library import ATTACHED, UNCHANGED, Library
from bot.links import Links, Target
from bot.records import Document, Upload
from bot.scoping import ScopeError, choose_scope, read_terms
from bot.workspaces import WorkspaceBook
from retrieval.documents import DocumentMeta
from retrieval.index.protocol import Hit, QueryText
from retrieval.ingest.sandbox import ParserPool

_GONE = "This document is not there (any more)."
_MAX_LABELS = 20
_MAX_LABEL = 60


class DocumentDesk:
    """Checks who may do what, then asks the library."""

    def __init__(
        self,
        library: Library,
        workspaces: WorkspaceBook,
        engine: Engine,
        parsers: ParserPool,
        links: Links,
    ) -> None:
        self._library, self._workspaces, self._engine = library, workspaces, engine
        self._parsers, self._links = parsers, links

    async def upload(self, actor: Actor, files: Sequence[UploadedFile], options: UploadOptions) -> Progress:
        values = await self._workspaces.values(actor.workspace)
        if values.who_may_upload == "admins" and not actor.person.is_admin:
            raise Refused("Only admins can add documents here.")
        audience = document_audience(actor, options.audience)
        labels = tidy_labels(options.labels)
        knowledge_base = (options.knowledge_base or values.default_knowledge_base).strip()
        if not 0 < len(knowledge_base) <= _MAX_LABEL:
            raise Refused(f"A knowledge base's name has up to {_MAX_LABEL} characters.")
        if knowledge_base.casefold() == ATTACHED:
            raise Refused("That name is taken. Choose another knowledge base.")
        for existing in await self._library.knowledge_bases(actor.workspace):
            if existing.casefold() == knowledge_base.casefold():
                knowledge_base = existing
        items: list[ProgressItem] = []
        for file in files:
            upload = Upload(
                workspace=actor.workspace,
                knowledge_base=knowledge_base,
                path=file.path,
                name=file.name,
                media_type=file.media_type or "application/octet-stream",
                labels=labels,
                uploader=person_key(actor),
                audience=audience,
                source_url=file.permalink or options.source_url,
                keep_both=options.same_name == "keep_both",
            )
            items.append(await self._accept(actor, upload))
        return Progress(items=tuple(items))

    async def _accept(self, actor: Actor, upload: Upload) -> ProgressItem:
        """A new version replaces what others rely on, so it needs the right to delete it.

        The very same file replaces nothing. One that the actor can't see stays as it is, and unsaid.
        """
        old = None if upload.keep_both else await self._library.replaces(upload)
        if old is None or may_edit(actor, old.meta.uploader):
            return await self._library.accept(upload)
        if not self._readable(actor, old.meta):
            return await self._library.accept(upload.model_copy(update={"keep_both": True}))
        if await self._library.unchanged(old, upload):
            return old.item(UNCHANGED if old.status.stage == "done" else None)
        raise Refused(
            f"Somebody else has added a document named “{upload.name}”. Choose to keep both, "
            "or ask them or an admin to replace it."
        )

    async def watch(self, actor: Actor, version_ids: Sequence[str]) -> AsyncIterator[Progress]:
        versions = await self._library.catalogue.versions(version_ids)
        foreign = {v for v, version in versions.items() if version.meta.workspace != actor.workspace}
        async for progress in self._library.watch([v for v in version_ids if v not in foreign]):
            yield progress

    async def list(self, actor: Actor) -> list[DocumentView]:
        found = await self._library.list(actor.workspace)
        return [self._view(actor, document) for document in found if self._visible(actor, document)]

    async def get(self, actor: Actor, document_id: str) -> DocumentView:
        return self._view(actor, await self._document(actor, document_id))

    async def delete(self, actor: Actor, document_id: str) -> None:
        document = await self._editable(actor, document_id)
        try:
            await self._library.delete(actor.workspace, document.document_id)
        except LookupError:
            raise Refused(_GONE) from None

    async def cancel(self, actor: Actor, version_ids: Sequence[str]) -> Progress:
        versions = await self._library.catalogue.versions(version_ids)
        mine = [
            version_id
            for version_id, version in versions.items()
            if version.meta.workspace == actor.workspace and may_edit(actor, version.meta.uploader)
        ]
        if version_ids and not mine:
            raise Refused("Only the uploader and admins can cancel this.")
        return await self._library.cancel(mine)

    async def relabel(self, actor: Actor, document_id: str, labels: Sequence[str]) -> DocumentView:
        document = await self._editable(actor, document_id)
        try:
            changed = await self._library.relabel(
                actor.workspace, document.document_id, tidy_labels(labels)
            )
        except LookupError:
            raise Refused(_GONE) from None
        return self._view(actor, changed)

    async def reparse(self, actor: Actor, document_id: str, parser: str) -> Progress:
        document = await self._editable(actor, document_id)
        known = self._parsers.parsers_for(document.shown.meta.name)
        if parser not in known:
            raise Refused(f"This document can be parsed with: {', '.join(known)}.")
        try:
            item = await self._library.reparse(actor.workspace, document.document_id, parser)
        except LookupError:
            raise Refused(_GONE) from None
        return Progress(items=(item,))

    async def search(
        self, actor: Actor, query: str, *, mode: SearchMode = "hybrid", limit: int = 10
    ) -> list[SearchHit]:
        text, asked = read_terms(query)
        try:
            scope = choose_scope(
                actor.workspace,
                reply_audience(actor.conversation, actor.person, private=True),
                asked,
                bindings=list,
                default_labels=frozenset(),
                knowledge_bases=frozenset(await self._library.knowledge_bases(actor.workspace)),
            )
        except ScopeError as error:
            raise Refused(str(error)) from None
        if not text.strip():
            raise Refused("Type what to search for.")
        vectors = await self._engine.roles.embedder.embed_queries([text])
        hits = await self._engine.index.search(scope, [QueryText(text, vectors[0])], limit=limit, mode=mode)
        return [self._hit(actor, rank, hit) for rank, hit in enumerate(hits, 1)]

    async def knowledge_bases(self, actor: Actor) -> Sequence[str]:
        documents = await self._library.list(actor.workspace)
        names = {d.knowledge_base for d in documents if self._visible(actor, d)}
        return sorted(names - {ATTACHED})

    # -- what the actor may see ----------------------------------------------------------------

    def _visible(self, actor: Actor, document: Document) -> bool:
        return self._readable(actor, document.shown.meta)

    def _readable(self, actor: Actor, meta: DocumentMeta) -> bool:
        keys = reply_audience(actor.conversation, actor.person, private=True)
        return may_read(meta.audience, keys) or meta.uploader == person_key(actor)

    async def _document(self, actor: Actor, document_id: str) -> Document:
        try:
            document = await self._library.get(actor.workspace, document_id)
        except LookupError:
            raise Refused(_GONE) from None
        if not self._visible(actor, document):
            raise Refused(_GONE)
        return document

    async def _editable(self, actor: Actor, document_id: str) -> Document:
        document = await self._document(actor, document_id)
        if not may_edit(actor, document.shown.meta.uploader):
            raise Refused("Only the uploader and admins can do that.")
        return document

    def _view(self, actor: Actor, document: Document) -> DocumentView:
        shown = document.shown
        outcome = shown.outcome
        return DocumentView(
            document_id=document.document_id,
            version_id=shown.meta.version_id,
            version=shown.meta.version,
            name=shown.meta.name,
            title=shown.title,
            knowledge_base=document.knowledge_base,
            labels=shown.meta.labels,
            uploader=shown.meta.uploader or "",
            audience=shown.meta.audience,
            size=shown.accepted.size,
            pages=outcome.pages if outcome else None,
            chunks=outcome.chunks if outcome else 0,
            languages=outcome.languages if outcome else (),
            uploaded_at=shown.meta.uploaded_at,
            state=document.latest.item(),
            warnings=outcome.warnings if outcome else (),
            editable=may_edit(actor, shown.meta.uploader),
            source_url=shown.meta.source_url,
        )

    def _hit(self, actor: Actor, rank: int, hit: Hit) -> SearchHit:
        meta = hit.chunk.meta
        return SearchHit(
            rank=rank,
            score=hit.score,
            lists={name: (place.rank, place.score) for name, place in hit.lists.items()},
            chunk_id=hit.chunk.chunk_id,
            document_id=meta.document_id,
            title=meta.title,
            name=meta.name,
            summary=hit.chunk.kind == "summary",
            heading_path=hit.chunk.heading_path,
            page=hit.chunk.page,
            text=hit.chunk.text,
            url=self._links.url(
                Target(meta.workspace, meta.document_id, meta.version_id, hit.chunk.chunk_id),
                actor.conversation.platform,
            ),
        )


def tidy_labels(labels: Sequence[str]) -> tuple[str, ...]:
    """Lower case, each once. Raises `Refused` for too many or too long ones."""
    tidy = tuple(dict.fromkeys(" ".join(label.casefold().split()) for label in labels if label.strip()))
    if len(tidy) > _MAX_LABELS or any(len(label) > _MAX_LABEL for label in tidy):
        raise Refused(f"Up to {_MAX_LABELS} labels of up to {_MAX_LABEL} characters each.")
    return tidy
