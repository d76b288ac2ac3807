"""Telling one person something, where they are: seen by nobody else."""

from __future__ import annotations

from typing import Any

import structlog
from slack_sdk.errors import SlackApiError

from adapters.slack.context import Installed
from adapters.slack.errors import NO_TOKEN, NoPlace, Unclear, attempt, code_of
from adapters.slack.kit import section

log = structlog.get_logger()


async def tell(
    installed: Installed, user: str, channel: str | None, text: str, *, thread: str | None = None
) -> None:
    """As an ephemeral message, or in the direct messages where that can't be."""
    blocks = [section(text)]
    if channel is not None and not channel.startswith("D"):
        try:
            await attempt(
                lambda: installed.client.chat_postEphemeral(
                    channel=channel, user=user, text=text, blocks=blocks, thread_ts=thread
                )
            )
            return
        except (NoPlace, SlackApiError, Unclear) as error:
            if isinstance(error, NoPlace) and error.code in NO_TOKEN:
                log.warning("slack_person_not_told", code=error.code)
                return
    try:
        place: Any = channel
        if channel is None or not channel.startswith("D"):
            opened = await attempt(lambda: installed.client.conversations_open(users=user))
            place = opened["channel"]["id"]
        metadata = {"event_type": "footnote_notice", "event_payload": {"to": user}}
        await attempt(
            lambda: installed.client.chat_postMessage(
                channel=place, text=text, blocks=blocks, thread_ts=thread, metadata=metadata
            )
        )
    except (NoPlace, Unclear) as error:
        log.warning("slack_person_not_told", error=str(error)[:80])
    except SlackApiError as error:
        log.warning("slack_person_not_told", code=code_of(error))
