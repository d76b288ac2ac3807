"""Files that people share on Slack, brought to this machine. Raises `Refused` with a sentence for them.

Slack's own hosts alone are asked, over https, and they alone get the token; a redirect is followed by hand.
"""

from __future__ import annotations

import asyncio
import re
import secrets
from pathlib import Path
from typing import Any, Final, cast
from urllib.parse import urljoin, urlsplit

import aiohttp
import structlog
from slack_sdk.errors import SlackApiError

from adapters.conversation import UploadedFile
from adapters.ports import Refused
from adapters.slack.context import Installed, Slack
from adapters.slack.errors import NoPlace, Unclear, attempt, code_of

log = structlog.get_logger()

#: Bytes taken at most where nobody says otherwise: Slack's own limit for a file.
MAX_BYTES: Final = 1024**3
_HOSTS: Final = ("slack.com", "slack-edge.com", "slack-files.com")
_REDIRECTS: Final = 5
_CHUNK: Final = 1 << 18
_PAUSES: Final = (0.5, 2.0, 6.0)
_CONTROL: Final = re.compile(r"[\x00-\x1f\x7f/\\]+")
#: Kinds that have no file behind them.
_NO_FILE: Final = {
    "external": "It is a link to another service. Download it there, and upload the file itself.",
    "quip": "A canvas can't be read. Export it as PDF, and upload that.",
    "list": "A list can't be read. Export it as CSV, and upload that.",
    "tombstone": "It was deleted.",
    "hidden_by_limit": "Slack keeps it hidden because of the workspace's plan.",
}


class _Again(Exception):
    """Worth another try."""


async def download(
    slack: Slack,
    installed: Installed,
    file: dict[str, Any],
    spool: Path,
    *,
    max_bytes: int = MAX_BYTES,
) -> UploadedFile:
    """Bring a file to `spool`, under a name that nobody gave it.

    Args:
        file: as an event has it; of a file from another organisation that is little more than the id.
    """
    known = await _info(installed, str(file.get("id") or ""))
    name = _name(known)
    mode = "quip" if known.get("filetype") in ("quip", "canvas") else str(known.get("mode") or "")
    if (why := _NO_FILE.get(mode)) is not None:
        raise Refused(f"“{name}” can't be read: {why[0].lower()}{why[1:]}")
    size = int(known.get("size") or 0)
    if size > max_bytes:
        raise Refused(_too_large(name, max_bytes))
    url = str(known.get("url_private_download") or known.get("url_private") or "")
    if not url:
        raise Refused(f"“{name}” can't be read: Slack gives no address for it. Upload it again.")
    path = spool / secrets.token_hex(16)
    try:
        written = await _fetch_surely(slack, installed, known, name, url, path, max_bytes)
    except BaseException:
        await asyncio.to_thread(path.unlink, missing_ok=True)
        raise
    permalink = known.get("permalink")
    return UploadedFile(
        name=name,
        path=path,
        size=written,
        media_type=str(known.get("mimetype") or ""),
        permalink=permalink if isinstance(permalink, str) and permalink else None,
    )


async def _info(installed: Installed, file_id: str) -> dict[str, Any]:
    try:
        return cast(
            "dict[str, Any]", (await attempt(lambda: installed.client.files_info(file=file_id)))["file"]
        )
    except NoPlace as error:
        log.warning("slack_file_unread", code=error.code)
        raise Refused("I may not read files here. An admin has to give the app “files:read”.") from error
    except SlackApiError as error:
        log.info("slack_file_unread", code=code_of(error))
        raise Refused("That file is not there (any more). Upload it again.") from error
    except (Unclear, KeyError) as error:
        raise Refused("Slack does not tell about that file just now. Try again.") from error


def _name(file: dict[str, Any]) -> str:
    name = _CONTROL.sub(" ", str(file.get("name") or file.get("title") or "")).strip(" .")
    return name[:200] or "file"


def _too_large(name: str, max_bytes: int) -> str:
    return f"“{name}” is too large: at most {max_bytes // (1024 * 1024)} MB."


def _allowed(url: str, api_url: str) -> bool:
    """Slack's hosts over https; and the host that the API is asked at, for a proxy."""
    parts, api = urlsplit(url), urlsplit(api_url)
    if (parts.scheme, parts.netloc) == (api.scheme, api.netloc):
        return True
    host = (parts.hostname or "").lower()
    return parts.scheme == "https" and any(host == own or host.endswith(f".{own}") for own in _HOSTS)


async def _fetch_surely(
    slack: Slack,
    installed: Installed,
    file: dict[str, Any],
    name: str,
    url: str,
    path: Path,
    max_bytes: int,
) -> int:
    for pause in (*_PAUSES, None):
        try:
            return await _fetch(slack, installed, file, name, url, path, max_bytes)
        except (_Again, TimeoutError, aiohttp.ClientError) as error:
            log.info("slack_download_again", error=type(error).__name__)
            if pause is None:
                raise Refused(f"“{name}” can't be downloaded from Slack just now. Try again.") from error
            await asyncio.sleep(pause)
    raise AssertionError("unreachable")


async def _fetch(
    slack: Slack,
    installed: Installed,
    file: dict[str, Any],
    name: str,
    url: str,
    path: Path,
    max_bytes: int,
) -> int:
    """Bytes written. Raises `_Again`, and what aiohttp raises."""
    headers = {"Authorization": f"Bearer {installed.client.token}"}
    timeout = aiohttp.ClientTimeout(total=600, sock_connect=10, sock_read=slack.settings.timeout)
    async with aiohttp.ClientSession(timeout=timeout, cookie_jar=aiohttp.DummyCookieJar()) as session:
        for _ in range(_REDIRECTS):
            if not _allowed(url, slack.settings.api_url):
                log.warning("slack_download_elsewhere", host=(urlsplit(url).hostname or "")[:80])
                raise Refused(
                    f"“{name}” can't be downloaded: it does not lie on Slack. Upload the file itself."
                )
            async with session.get(url, headers=headers, allow_redirects=False) as response:
                if response.status in (301, 302, 303, 307, 308):
                    url = urljoin(url, response.headers.get("Location", ""))
                    continue
                if response.status == 429 or response.status >= 500:
                    raise _Again
                if response.status in (404, 410):
                    raise Refused(f"“{name}” was deleted meanwhile. Upload it again.")
                if response.status != 200 or _is_login(response, file):
                    log.warning("slack_download_refused", status=response.status)
                    raise Refused(
                        f"“{name}” can't be downloaded: Slack asks for a login. An admin has to give the "
                        "app “files:read” and to install it again."
                    )
                return await _write(response, name, path, max_bytes)
    raise Refused(f"“{name}” can't be downloaded: Slack leads round in circles. Upload it again.")


def _is_login(response: aiohttp.ClientResponse, file: dict[str, Any]) -> bool:
    """Slack answers a token without the right with a page, where a file was asked for."""
    return response.content_type == "text/html" and file.get("mimetype") != "text/html"


async def _write(response: aiohttp.ClientResponse, name: str, path: Path, max_bytes: int) -> int:
    written = 0
    handle = await asyncio.to_thread(path.open, "wb")
    try:
        async for chunk in response.content.iter_chunked(_CHUNK):
            written += len(chunk)
            if written > max_bytes:
                raise Refused(_too_large(name, max_bytes))
            await asyncio.to_thread(handle.write, chunk)
    except OSError as error:
        if isinstance(error, aiohttp.ClientError | TimeoutError):
            raise
        raise Refused(
            f"“{name}” can't be kept here ({error.strerror}). Tell whoever runs this server."
        ) from error
    finally:
        await asyncio.to_thread(handle.close)
    return written
