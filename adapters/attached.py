"""The files of a question: here for as long as it is worked."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncGenerator, Awaitable, Callable, Sequence
from contextlib import asynccontextmanager
from typing import Any, Final

from adapters.conversation import UploadedFile
from adapters.ports import Refused

#: Files of one question that are read.
_FILES: Final = 10


@asynccontextmanager
async def attached(
    files: Sequence[dict[str, Any]], fetch: Callable[[dict[str, Any]], Awaitable[UploadedFile]]
) -> AsyncGenerator[tuple[tuple[UploadedFile, ...], tuple[str, ...]]]:
    """The files while the context is open, and a sentence for each that can't be had.

    Args:
        files: as the platform's message has them.
        fetch: brings one here, or raises `Refused`.
    """
    here: list[UploadedFile] = []
    missing: list[str] = []
    try:
        for file in files[:_FILES]:
            try:
                here.append(await fetch(file))
            except Refused as error:
                missing.append(str(error))
        if len(files) > _FILES:
            missing.append(f"I read the first {_FILES} files only.")
        yield tuple(here), tuple(missing)
    finally:
        for file in here:
            await asyncio.to_thread(file.path.unlink, missing_ok=True)
