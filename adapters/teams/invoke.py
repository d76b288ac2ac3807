"""What waits for an answer: dialogs, message actions, thumbs. Whatever happens, the person reads one."""

from __future__ import annotations

import asyncio
import secrets
from collections.abc import Mapping
from typing import Any, Final, cast

import structlog

from adapters.kb import VERBS, Command
from adapters.ports import Refused
from adapters.teams import limits
from adapters.teams.activity import Invoked
from adapters.teams.card import Json
from adapters.teams.commands import SHOW, clicked, show, title_of
from adapters.teams.context import InvokeAnswer, Teams
from adapters.teams.dialog import TITLE, Handler, actor_of, notice, opened, text_of
from adapters.teams.errors import RateLimited, TeamsError, Unclear, reason_of
from adapters.teams.explain import open_passages, open_why
from adapters.teams.feedback import take_feedback
from adapters.teams.listing import DELETE, DELETE_NOW, KEEP, LIST_PAGE
from adapters.teams.render import PASSAGES, WHY
from adapters.teams.settings_dialog import SETTINGS, open_settings, save_settings
from adapters.teams.upload_dialog import SUBMIT, UPLOAD, open_action, open_upload, submit_upload

log = structlog.get_logger()

#: `id` of the action in the app's manifest.
ACTION: Final = "addToKnowledgeBase"
_GONE: Final = "That button does nothing any more."
_BUSY: Final = "Teams is busy just now. Please try again in a minute."
_SLOW: Final = "That took too long. Please try again."
_WRONG: Final = "Something went wrong on my side. Please try again. Reference: {reference}"


async def open_shown(teams: Teams, invoked: Invoked, data: Json) -> Json:
    """What a command says, for the one who opens it."""
    verb = next((verb for verb in VERBS if verb == data.get("verb")), None)
    if verb not in ("list", "status", "search", "delete"):
        raise Refused(_GONE)
    command = Command(verb, text_of(data, "rest"))
    return opened(title_of(verb), await show(teams, await actor_of(teams, invoked), command))


async def click_in_dialog(teams: Teams, invoked: Invoked, data: Json) -> Json:
    card, title, _ = await clicked(teams, await actor_of(teams, invoked), data)
    return opened(title, card)


_FETCH: Final[Mapping[str, Handler]] = {
    WHY: open_why, PASSAGES: open_passages, SETTINGS: open_settings, UPLOAD: open_upload, SHOW: open_shown,
}  # fmt: skip
_SUBMIT: Final[Mapping[str, Handler]] = {
    SETTINGS: save_settings,
    SUBMIT: submit_upload,
    **dict.fromkeys((DELETE, DELETE_NOW, KEEP, LIST_PAGE), click_in_dialog),
}


async def answer_invoke(teams: Teams, invoked: Invoked) -> InvokeAnswer:
    """Within the time that Teams waits. 501 for what the bot has nothing for, as its SDK does."""
    match invoked.name:
        case "task/fetch":
            return await _dialog(teams, invoked, _FETCH)
        case "task/submit":
            return await _dialog(teams, invoked, _SUBMIT)
        case "composeExtension/fetchTask" if invoked.value.get("commandId") == ACTION:
            return await _answered(teams, invoked, open_action, {})
        case "composeExtension/submitAction" if invoked.value.get("commandId") == ACTION:
            return await _dialog(teams, invoked, _SUBMIT)
        case "message/submitAction":
            return await _feedback(teams, invoked)
        case _:
            log.info("teams_invoke_unknown", name=invoked.name[:60])
            return InvokeAnswer(501)


async def _dialog(teams: Teams, invoked: Invoked, handlers: Mapping[str, Handler]) -> InvokeAnswer:
    found: Any = invoked.value.get("data")
    data = cast("Json", found) if isinstance(found, dict) else {}
    handler = handlers.get(text_of(data, "kind"))
    if handler is None:
        return InvokeAnswer(body=notice(TITLE, _GONE))
    return await _answered(teams, invoked, handler, data)


async def _answered(teams: Teams, invoked: Invoked, handler: Handler, data: Json) -> InvokeAnswer:
    try:
        async with asyncio.timeout(limits.DIALOG_SECONDS):
            return InvokeAnswer(body=await handler(teams, invoked, data))
    except Refused as error:
        text = str(error)
    except RateLimited:
        text = _BUSY
    except (TeamsError, Unclear, TimeoutError) as error:
        log.warning("teams_dialog_failed", name=invoked.name, error=reason_of(error))
        text = _SLOW if isinstance(error, TimeoutError) else _BUSY
    except Exception:
        reference = secrets.token_hex(4)
        log.exception("teams_dialog_failed", name=invoked.name, reference=reference)
        text = _WRONG.format(reference=reference)
    return InvokeAnswer(body=notice(TITLE, text))


async def _feedback(teams: Teams, invoked: Invoked) -> InvokeAnswer:
    """A thumb that could not be kept is answered as an error: Teams says so to the person."""
    try:
        async with asyncio.timeout(limits.DIALOG_SECONDS):
            return await take_feedback(teams, invoked)
    except Exception:
        log.exception("teams_feedback_not_kept")
        return InvokeAnswer(500)
