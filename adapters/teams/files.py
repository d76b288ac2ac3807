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
from adapters.download import Download, same_origin
from adapters.file_names import file_name
from adapters.ports import Refused
from adapters.teams.context import Teams
from adapters.teams.errors import NoGraph, Unclear, reason_of
from adapters.teams.hosts import HOSTS, LOGINS, PICTURES
from adapters.teams.reference import Reference

log = structlog.get_logger()

DOWNLOAD: Final = "application/vnd.microsoft.teams.file.download.info"
REFERENCE: Final = "reference"
#: Bytes taken at most where nobody says otherwise.
MAX_BYTES: Final = 1024**3
_DIRECT: Final = "Send it to me in a direct chat, as an attachment."
_AGAIN: Final = "Its address held for a while only: send the file again."
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
    name, link = file_label(attachment), str(attachment.get("contentUrl") or "")
    headers: dict[str, str] = {}
    hosts, no_access, trusted = HOSTS, _DIRECT, ""
    if kind == DOWNLOAD:
        url, no_access = _download_url(attachment), _AGAIN
    elif kind == REFERENCE:
        trusted = teams.settings.graph_url or ""
        url, headers = await _shared(teams, reference, name, link)
    elif kind.startswith("image/"):
        # A pasted picture, which the connector keeps.
        url, hosts, trusted = link, PICTURES, reference.service_url
        headers = await _bearer(teams, name, url, trusted)
    else:
        log.info("teams_file_refused", kind=kind[:80])
        raise Refused(f"“{name}” can't be read: it is no file. Attach the file itself.")
    fetch = Download(
        name=name,
        url=url,
        platform="Microsoft 365",
        no_access=no_access,
        hosts=hosts,
        trusted=tuple(filter(None, (trusted, teams.settings.file_origin))),
        logins=LOGINS,
        headers=headers,
        timeout=teams.settings.timeout,
        max_bytes=max_bytes,
        html=name.lower().endswith((".html", ".htm")),
        # Where that leads holds a token of its own; the bot's is for nobody else.
        tells=lambda asked: asked == URL(url),
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
        permalink=link if kind in (DOWNLOAD, REFERENCE) and _is_web(link) else None,
    )


def _download_url(attachment: dict[str, Any]) -> str:
    content = attachment.get("content")
    told = cast("dict[str, Any]", content) if isinstance(content, dict) else {}
    return str(told.get("downloadUrl") or "")


async def _bearer(teams: Teams, name: str, url: str, service_url: str) -> dict[str, str]:
    """The bot's token, for the service that told of the file, and for nobody else."""
    if not same_origin(url, service_url):
        return {}
    try:
        return await teams.connector.headers()
    except Unclear as error:
        log.warning("teams_file_refused", why=reason_of(error))
        raise Refused(f"“{name}” can't be downloaded from Microsoft 365 just now. Try again.") from error


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


def file_label(attachment: dict[str, Any]) -> str:
    """For showing, and for its ending; never empty."""
    if name := file_name(attachment.get("name")):
        return name
    kind = str(attachment.get("contentType") or "")
    if kind.startswith("image/"):
        return f"picture{mimetypes.guess_extension(kind) or '.png'}"
    try:
        path = urlsplit(str(attachment.get("contentUrl") or "")).path
    except ValueError:
        path = ""
    return file_name(unquote(PurePosixPath(path).name)) or "file"


def _is_web(link: str) -> bool:
    try:
        parts = urlsplit(link)
    except ValueError:
        return False
    return parts.scheme == "https" and bool(parts.hostname)
