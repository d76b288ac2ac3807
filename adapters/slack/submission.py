"""A modal's submission, acknowledged within Slack's time whatever happens."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable
from typing import Any

import structlog
from slack_bolt.async_app import AsyncAck

from adapters.ports import Refused
from adapters.slack.kit import notice_view
from adapters.slack.modal import at_first_field
from adapters.slack.surface import DEADLINE

log = structlog.get_logger()


async def acknowledge(
    ack: AsyncAck, view: dict[str, Any], answer: Awaitable[dict[str, Any]], what: str, *, again: str
) -> bool:
    """Acknowledge with what `answer` gives. What was refused takes the modal's place; what failed is said
    at its first field, and nothing typed is lost. False for both.

    Args:
        again: what to do after a failure, such as "Please save again."
    """
    told: dict[str, Any]
    try:
        async with asyncio.timeout(DEADLINE):
            told = await answer
        await ack(**told)
        return True
    except Refused as error:
        title = str(view.get("title", {}).get("text") or "Footnote")
        told = {"response_action": "update", "view": notice_view(title, str(error))}
    except TimeoutError:
        log.warning("slack_submission_slow", what=what)
        told = _errors(view, f"Slack is slow just now. {again}")
    except Exception:
        log.exception("slack_submission_failed", what=what)
        told = _errors(view, f"Something went wrong on my side. {again}")
    await ack(**told)
    return False


def _errors(view: dict[str, Any], text: str) -> dict[str, Any]:
    return {"response_action": "errors", "errors": at_first_field(view, text)}
