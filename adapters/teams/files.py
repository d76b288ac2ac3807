"""Files that people send in Teams, brought to this machine. Raises `Refused` with a sentence for them."""

from __future__ import annotations

import base64
import mimetypes
import secrets
from pathlib import PurePosixPath
from typing import Any, Final, cast
from urllib.parse import unquote, urlsplit

import structlog
from yarl import URL

from adapters.conversation import UploadedFile
from adapters.download import Download
from adapters.file_names import file_name
from adapters.ports import Refused
from adapters.teams.context import Teams
from adapters.teams.errors import NoGraph
from adapters.teams.hosts import HOSTS, PICTURES
from adapters.teams.reference import Reference

log = structlog.get_logger()

DOWNLOAD: Final = "application/vnd.microsoft.teams.file.download.info"
REFERENCE: Final = "reference"
#: Bytes taken at most where nobody says otherwise.
MAX_BYTES: Final = 1024**3
_NO_ACCESS: Final = "Send it to me in a direct chat, as an attachment."
_NO_FILES: Final = (
    "“{name}” can't be read here: an admin of the team has not allowed me its files. Send it to me in a "
    "direct chat, as an attachment."
)


async def download(
    teams: Teams, reference: Reference, attachment: dict[str, Any], *, max_bytes: int = MAX_BYTES
) -> UploadedFile:
    """Bring a file to the spool, under a name that nobody gave it.

    Args:
        attachment: as an activity has it.
    """
    kind = str(attachment.get("contentType") or "")
    name, link = _name(attachment), attachment.get("contentUrl")
    content = attachment.get("content")
    told = cast("dict[str, Any]", content) if isinstance(content, dict) else {}
    headers: dict[str, str] = {}
    trusted = teams.settings.file_origin
    hosts = HOSTS
    if kind == DOWNLOAD:
        url = str(told.get("downloadUrl") or "")
    elif kind == REFERENCE:
        url, headers = await _shared(teams, reference, name, str(link or ""))
        trusted = teams.settings.graph_url
    elif kind.startswith("image/"):
        # A pasted picture: the connector gives it, with the bot's token.
        url, hosts, trusted = str(link or ""), PICTURES, reference.service_url
        headers = await teams.connector.headers()
    else:
        log.info("teams_file_refused", kind=kind[:80])
        raise Refused(f"“{name}” can't be read: it is no file. Attach the file itself.")
    origin = URL(url).origin() if headers and URL(url).absolute else None
    fetch = Download(
        name=name,
        url=url,
        platform="Microsoft 365",
        no_access=_NO_ACCESS,
        hosts=hosts,
        trusted=trusted,
        headers=headers,
        timeout=teams.settings.timeout,
        max_bytes=max_bytes,
        html=name.lower().endswith((".html", ".htm")),
        # Graph leads to an address that needs no token, on a host that shall not see it.
        tells=lambda asked: asked.origin() == origin,
    )
    path = teams.spool / secrets.token_hex(16)
    try:
        written = await fetch.to(path)
    except BaseException:
        path.unlink(missing_ok=True)
        raise
    return UploadedFile(
        name=name,
        path=path,
        size=written,
        media_type=kind if kind.startswith("image/") else (mimetypes.guess_type(name)[0] or ""),
        permalink=link
        if kind in (DOWNLOAD, REFERENCE) and isinstance(link, str) and _is_web(link)
        else None,
    )


async def _shared(teams: Teams, reference: Reference, name: str, link: str) -> tuple[str, dict[str, str]]:
    """A file in a channel's or a chat's folder, through Graph."""
    if not _is_web(link):
        raise Refused(f"“{name}” can't be read: Teams gives no address for it. Upload it again.")
    # As Graph has it: https://learn.microsoft.com/graph/api/shares-get
    token = "u!" + base64.urlsafe_b64encode(link.encode()).decode().rstrip("=")
    try:
        return await teams.graph.content(reference, f"/shares/{token}/driveItem/content")
    except NoGraph as error:
        log.info("teams_file_refused", why=error.why)
        raise Refused(_NO_FILES.format(name=name)) from error


def _name(attachment: dict[str, Any]) -> str:
    if name := file_name(attachment.get("name")):
        return name
    kind = str(attachment.get("contentType") or "")
    if kind.startswith("image/"):
        ending = mimetypes.guess_extension(kind) if kind != "image/*" else ".png"
        return f"picture{ending or '.png'}"
    path = urlsplit(str(attachment.get("contentUrl") or "")).path
    return file_name(unquote(PurePosixPath(path).name)) or "file"


def _is_web(link: str) -> bool:
    parts = urlsplit(link)
    return parts.scheme == "https" and bool(parts.hostname)
