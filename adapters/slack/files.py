"""Files that people share on Slack, brought to this machine. Raises `Refused` with a sentence for them."""

from __future__ import annotations

import secrets
from pathlib import Path
from typing import Any, Final, cast

import structlog
from slack_sdk.errors import SlackApiError

from adapters.conversation import UploadedFile
from adapters.download import Download
from adapters.file_names import file_name
from adapters.ports import Refused
from adapters.slack.context import Installed, Slack
from adapters.slack.errors import NO_TOKEN, NoPlace, Unclear, attempt, code_of, reason_of
from adapters.slack.hosts import HOSTS

log = structlog.get_logger()

#: Bytes taken at most where nobody says otherwise: Slack's own limit for a file.
MAX_BYTES: Final = 1024**3
_NO_ACCESS: Final = "An admin has to give the app “files:read” and to install it again."
#: Kinds that have no file behind them, by `mode` and by `file_access`.
_NO_FILE: Final = {
    "external": "it is a link to another service. Download it there, and upload the file itself.",
    "quip": "it is a canvas. Export it as PDF, and upload that.",
    "canvas": "it is a canvas. Export it as PDF, and upload that.",
    "list": "it is a list. Export it as CSV, and upload that.",
    "post": "it is an old Slack post. Save its text in a file, and upload that.",
    "space": "it is an old Slack post. Save its text in a file, and upload that.",
    "email": "it is an e-mail that was sent to Slack. Save its text in a file, and upload that.",
    "tombstone": "it was deleted.",
    "hidden_by_limit": "Slack keeps it hidden because of the workspace's plan.",
    "file_not_found": "it was deleted.",
    "access_denied": "Slack does not let me see it. Share it in this conversation.",
}


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
    for key in ("mode", "filetype", "file_access"):
        if (why := _NO_FILE.get(str(known.get(key) or ""))) is not None:
            log.info("slack_file_refused", **{key: known.get(key)})
            raise Refused(f"“{name}” can't be read: {why}")
    url = known.get("url_private_download") or known.get("url_private")
    if not isinstance(url, str):
        raise Refused(f"“{name}” can't be read: Slack gives no address for it. Upload it again.")
    size, media_type = known.get("size"), str(known.get("mimetype") or "")
    options = {"proxy": installed.client.proxy, "ssl": installed.client.ssl or True}
    fetch = Download(
        name=name,
        url=url,
        platform="Slack",
        no_access=_NO_ACCESS,
        hosts=HOSTS,
        trusted=(slack.settings.api_url,),
        headers={"Authorization": f"Bearer {installed.client.token}"},
        timeout=slack.settings.timeout,
        max_bytes=max_bytes,
        size=size if isinstance(size, int) else 0,
        html=media_type == "text/html",
        options=options,
    )
    path = spool / secrets.token_hex(16)
    try:
        written = await fetch.to(path)
    except BaseException:
        path.unlink(missing_ok=True)
        raise
    permalink = known.get("permalink")
    return UploadedFile(
        name=name,
        path=path,
        size=written,
        media_type=media_type,
        permalink=permalink if isinstance(permalink, str) and permalink else None,
    )


async def _info(installed: Installed, file_id: str) -> dict[str, Any]:
    try:
        found: Any = (await attempt(lambda: installed.client.files_info(file=file_id))).get("file")
    except NoPlace as error:
        log.warning("slack_file_unread", code=error.code)
        if error.code in NO_TOKEN:
            raise Refused("Slack does not let me in any more. An admin has to install me again.") from error
        raise Refused("I may not read files here. An admin has to give the app “files:read”.") from error
    except SlackApiError as error:
        log.info("slack_file_unread", code=code_of(error))
        raise Refused("That file is not there (any more). Upload it again.") from error
    except Unclear as error:
        log.warning("slack_file_unread", error=reason_of(error))
        raise Refused("Slack does not tell about that file just now. Try again.") from error
    if not isinstance(found, dict):
        log.warning("slack_file_unread", error="no such field")
        raise Refused("Slack does not tell about that file just now. Try again.")
    return cast("dict[str, Any]", found)


def _name(file: dict[str, Any]) -> str:
    """For showing, and for its ending; a snippet may have none."""
    name = file_name(file.get("name") or file.get("title"))
    if file.get("mode") == "snippet" and "." not in name:
        return f"{name or 'snippet'}.txt"
    return name or "file"
