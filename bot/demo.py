"""The example handbook: where it is, and how it gets into the demo's workspace."""

from __future__ import annotations

import mimetypes
from collections.abc import Iterable
from pathlib import Path

from adapters.conversation import UploadedFile
from adapters.forms import Progress
from adapters.ports import Actor, Documents, UploadOptions

WORKSPACE = "demo"
KNOWLEDGE_BASE = "handbook"
QUESTION = "How often do I have to change my API key?"


def handbook() -> Path:
    """The folder of the example documents, in an installed package or in a checkout."""
    installed = Path(__file__).parent / "handbook"
    return installed if installed.is_dir() else Path(__file__).parent.parent / "examples" / "handbook"


def files_in(paths: Iterable[Path]) -> list[UploadedFile]:
    """Files and the files of folders, in order; hidden ones are left out."""
    found: list[UploadedFile] = []
    for path in paths:
        inside = sorted(path.rglob("*")) if path.is_dir() else [path]
        for file in inside:
            hidden = any(part.startswith(".") for part in file.relative_to(path).parts)
            if file.is_file() and not hidden:
                media_type = mimetypes.guess_type(file.name)[0] or ""
                found.append(
                    UploadedFile(
                        name=file.name, path=file.resolve(), size=file.stat().st_size, media_type=media_type
                    )
                )
    return found


async def load_handbook(documents: Documents, actor: Actor) -> Progress:
    """Queue the handbook. What is there already costs nothing."""
    options = UploadOptions(knowledge_base=KNOWLEDGE_BASE)
    return await documents.upload(actor, files_in([handbook()]), options)
