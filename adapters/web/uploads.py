"""Uploads: multipart requests, spooled to disk part by part."""

from __future__ import annotations

import asyncio
import json
import shutil
import tempfile
from pathlib import Path
from typing import Any, cast

from aiohttp import BodyPartReader, web
from aiohttp.http_exceptions import HttpProcessingError
from pydantic import ValidationError

from adapters.conversation import UploadedFile
from adapters.ports import UploadOptions
from adapters.web.context import BOT, SPOOL, actor, log

_FIELDS = ("names", "knowledge_base", "labels", "audience", "same_name")
#: Bytes of a field; `names` holds those of all files.
_FIELD_BYTES = 1 << 20
_COPY_BYTES = 1 << 20
_NAME_LENGTH = 200


async def upload(request: web.Request) -> web.Response:
    """Multipart: fields `names`, `knowledge_base`, `labels`, `audience`, `same_name` first, then the files.

    `names` is a JSON list with one name a file. It is for names that the header of a part can't carry:
    with quotes, semicolons and the like. Without it the names in the headers count.
    """
    spool = Path(await asyncio.to_thread(tempfile.mkdtemp, dir=request.app[SPOOL]))
    try:
        fields, files = await _receive(request, spool)
        if not files:
            raise web.HTTPBadRequest(text="There is no file in this upload.")
        progress = await request.app[BOT].documents.upload(actor(request.app), files, _options(fields))
    except ConnectionResetError:  # the page was closed
        raise
    except OSError as error:
        log.exception("upload_not_spooled")
        raise web.HTTPInsufficientStorage(
            text=f"The file could not be stored on the server ({error.strerror or type(error).__name__})."
        ) from error
    finally:
        await asyncio.to_thread(shutil.rmtree, spool, ignore_errors=True)
    return web.json_response(progress.model_dump(mode="json"))


def _options(fields: dict[str, str]) -> UploadOptions:
    given: dict[str, Any] = {name: fields[name] for name in ("audience", "same_name") if fields.get(name)}
    labels = tuple(part.strip() for part in fields.get("labels", "").split(",") if part.strip())
    try:
        return UploadOptions(knowledge_base=fields.get("knowledge_base") or None, labels=labels, **given)
    except ValidationError as error:
        raise web.HTTPBadRequest(
            text=f"This upload asks for an unknown {error.errors()[0]['loc'][0]}."
        ) from None


async def _receive(request: web.Request, spool: Path) -> tuple[dict[str, str], list[UploadedFile]]:
    """Spool the parts to disk, whatever their size; the bot says what is too large."""
    if not request.content_type.startswith("multipart/"):
        raise web.HTTPBadRequest(text="Files are sent as multipart/form-data.")
    fields: dict[str, str] = {}
    files: list[UploadedFile] = []
    try:
        async for part in await request.multipart():
            if not isinstance(part, BodyPartReader):
                raise web.HTTPBadRequest(text="Parts of an upload can't have parts themselves.")
            if part.filename:
                files.append(await _spool(part, spool / str(len(files)), _names(fields)[len(files) :]))
            elif part.name in _FIELDS:
                fields[part.name] = await _field(part)
            elif part.name is None:
                raise web.HTTPBadRequest(text="A part of this upload has no name that can be read.")
    except (ValueError, AssertionError, HttpProcessingError):  # what aiohttp raises for broken parts
        raise web.HTTPBadRequest(text="This upload arrived broken. Please send it again.") from None
    return fields, files


async def _field(part: BodyPartReader) -> str:
    data = bytearray()
    while chunk := await part.read_chunk(_COPY_BYTES):
        data += chunk
        if len(data) > _FIELD_BYTES:
            raise web.HTTPBadRequest(text=f"The field {part.name} is too long.")
    return data.decode("utf-8", "replace")


def _names(fields: dict[str, str]) -> list[str]:
    names: object = json.loads(fields.get("names") or "[]")
    if not isinstance(names, list) or not all(isinstance(n, str) for n in cast("list[object]", names)):
        raise web.HTTPBadRequest(text="names is a list of texts.")
    return cast("list[str]", names)


async def _spool(part: BodyPartReader, path: Path, names: list[str]) -> UploadedFile:
    """`names` begins with this file's, where it was given apart from the part."""
    size = 0
    with await asyncio.to_thread(path.open, "wb") as file:
        while chunk := await part.read_chunk(_COPY_BYTES):
            size += len(chunk)
            await asyncio.to_thread(file.write, chunk)
    name = tidy_name(names[0] if names else part.filename or "")
    return UploadedFile(name=name, path=path, size=size, media_type=part.headers.get("Content-Type", ""))


def tidy_name(name: str) -> str:
    """A file's name without its folders and without what can't be shown; the ending stays."""
    last = name.encode("utf-8", "replace").decode().replace("\\", "/").rstrip("/").rsplit("/", 1)[-1]
    shown = "".join(character for character in last if character.isprintable()).strip()
    if len(shown) > _NAME_LENGTH:
        stem, dot, ending = shown.rpartition(".")
        keep = _NAME_LENGTH - len(dot + ending)
        shown = f"{stem[:keep]}{dot}{ending}" if dot and keep > 0 else shown[:_NAME_LENGTH]
    return shown or "unnamed"
