"""All messages of a thread, or of a channel since a time, page by page."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncGenerator
from typing import Any, Final

from adapters.slack.context import Installed
from adapters.slack.errors import RateLimited, Unclear, attempt

#: Seconds between tries of one page.
_PAUSES: Final = (0.3, 1.0, 3.0)


async def messages_of(
    installed: Installed,
    channel: str,
    thread: str | None,
    *,
    since: str = "",
    wait: float = 0.0,
    tries: int = 2,
    again: bool = False,
) -> AsyncGenerator[dict[str, Any]]:
    """With their metadata, the oldest first in a thread; each once, though its root may come with every
    page. Raises what `attempt` raises.

    Args:
        wait: seconds that Slack's "later" is waited for.
        tries: of each page, at most 4.
        again: try again after a call that ended without an answer, too.
    """
    asked: dict[str, Any] = {"channel": channel, "limit": 200, "include_all_metadata": True}
    asked |= ({"ts": thread} if thread else {}) | ({"oldest": since} if since else {})
    cursor, seen = "", set[str]()
    while True:
        page = await _page(
            installed, asked | ({"cursor": cursor} if cursor else {}), wait, tries, again=again
        )
        for message in page.get("messages") or []:
            ts = str(message.get("ts") or "")
            if ts not in seen:
                seen.add(ts)
                yield message
        following = (page.get("response_metadata") or {}).get("next_cursor") or ""
        if not following or following == cursor:
            return
        cursor = following


async def _page(
    installed: Installed, asked: dict[str, Any], wait: float, tries: int, *, again: bool
) -> Any:
    client = installed.client
    read = client.conversations_replies if "ts" in asked else client.conversations_history
    for number in range(tries):
        try:
            return await attempt(lambda: read(**asked))
        except Unclear as error:
            if number == tries - 1:
                raise
            if isinstance(error, RateLimited):
                if error.seconds > wait:
                    raise
                await asyncio.sleep(error.seconds)
            elif not again:
                raise
            else:
                await asyncio.sleep(_PAUSES[number])
    raise AssertionError("unreachable")
