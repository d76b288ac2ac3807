"""Documents: upload, list, progress, labels, delete."""

from __future__ import annotations

import asyncio
import contextlib
import shutil
import tempfile
from contextlib import aclosing
from pathlib import Path
from typing import Any, cast

from aiohttp import BodyPartReader, web

from adapters.conversation import UploadedFile
from adapters.ports import AudienceChoice, UploadOptions
from adapters.web.context import BOT, SPOOL, actor, body, line, start_stream

_FIELD_BYTES = 10_000
_COPY_BYTES = 1 << 20


async def all_documents(request: web.Request) -> web.Response:
    bot, who = request.app[BOT], actor(request.app)
    found = await bot.documents.list(who)
    bases = await bot.documents.knowledge_bases(who)
    return web.json_response(
        {"documents": [d.model_dump(mode="json") for d in found], "knowledge_bases": list(bases)}
    )


async def upload(request: web.Request) -> web.Response:
    """Multipart: fields `knowledge_base`, `labels`, `same_name`, then one or more `file`."""
    if not request.content_type.startswith("multipart/"):
        raise web.HTTPBadRequest(text="Files are sent as multipart/form-data.")
    spool = Path(await asyncio.to_thread(tempfile.mkdtemp, dir=request.app[SPOOL]))
    try:
        fields, files = await _receive(request, spool)
        options = UploadOptions(
            knowledge_base=fields.get("knowledge_base") or None,
            labels=tuple(part.strip() for part in fields.get("labels", "").split(",") if part.strip()),
            audience=cast("AudienceChoice", fields.get("audience", "everyone")),
            same_name="keep_both" if fields.get("same_name") == "keep_both" else "replace",
        )
        progress = await request.app[BOT].documents.upload(actor(request.app), files, options)
    finally:
        await asyncio.to_thread(shutil.rmtree, spool, ignore_errors=True)
    return web.json_response(progress.model_dump(mode="json"))


async def _receive(request: web.Request, spool: Path) -> tuple[dict[str, str], list[UploadedFile]]:
    """Spool the parts to disk, whatever their size; the bot says what is too large."""
    fields: dict[str, str] = {}
    files: list[UploadedFile] = []
    async for part in await request.multipart():
        if not isinstance(part, BodyPartReader):
            continue
        if part.filename is None:
            text = await part.read_chunk(_FIELD_BYTES)
            fields[part.name or ""] = bytes(text).decode("utf-8", "replace")
            await part.release()
            continue
        path = spool / str(len(files))
        size = 0
        with await asyncio.to_thread(path.open, "wb") as file:
            while chunk := await part.read_chunk(_COPY_BYTES):
                size += len(chunk)
                await asyncio.to_thread(file.write, chunk)
        name = part.filename.replace("\\", "/").rsplit("/", 1)[-1]
        media_type = part.headers.get("Content-Type", "")
        files.append(UploadedFile(name=name, path=path, size=size, media_type=media_type))
    return fields, files


async def progress(request: web.Request) -> web.StreamResponse:
    """Progress of the versions named in `ids`, as JSON lines, until all have ended."""
    ids = [part for part in request.query.get("ids", "").split(",") if part][:2000]
    response = await start_stream(request)
    updates: Any = request.app[BOT].documents.watch(actor(request.app), ids)
    with contextlib.suppress(ConnectionResetError):  # the page was closed
        async with aclosing(updates):
            async for update in updates:
                await response.write(line(update.model_dump(mode="json")))
        await response.write_eof()
    return response


async def cancel(request: web.Request) -> web.Response:
    ids = (await body(request)).get("ids")
    if not isinstance(ids, list) or not all(isinstance(i, str) for i in ids):
        raise web.HTTPBadRequest(text="ids is a list of texts.")
    result = await request.app[BOT].documents.cancel(actor(request.app), ids)
    return web.json_response(result.model_dump(mode="json"))


async def relabel(request: web.Request) -> web.Response:
    labels = (await body(request)).get("labels")
    if not isinstance(labels, list) or not all(isinstance(label, str) for label in labels):
        raise web.HTTPBadRequest(text="labels is a list of texts.")
    changed = await request.app[BOT].documents.relabel(
        actor(request.app), request.match_info["document"], labels
    )
    return web.json_response(changed.model_dump(mode="json"))


async def delete(request: web.Request) -> web.Response:
    await request.app[BOT].documents.delete(actor(request.app), request.match_info["document"])
    return web.json_response({})


ROUTES = [
    web.get("/api/documents", all_documents),
    web.post("/api/documents", upload),
    web.get("/api/documents/progress", progress),
    web.post("/api/documents/cancel", cancel),
    web.post("/api/documents/{document}/labels", relabel),
    web.delete("/api/documents/{document}", delete),
]
