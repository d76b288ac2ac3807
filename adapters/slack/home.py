"""The Home tab: shown when it is opened, and anew after what is done there."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from typing import Any, Final, cast

import structlog
from slack_bolt.async_app import AsyncAck, AsyncApp
from slack_sdk.errors import SlackApiError

from adapters.ports import Actor, Refused, SearchMode, UploadOptions
from adapters.slack.context import Installed, Slack
from adapters.slack.errors import NoPlace, Unclear, attempt, reason_of
from adapters.slack.home_view import (
    HITS,
    MODE,
    MODES,
    QUESTIONS,
    REFRESH,
    SEARCH,
    SETTINGS,
    UPLOAD,
    WORDS,
    Searched,
    home_view,
)
from adapters.slack.settings_modal import open_settings
from adapters.slack.surface import Act, ending
from adapters.slack.upload_modal import open_upload

log = structlog.get_logger()

_NOTHING: Final = "Type what to search for."


async def publish_home(
    slack: Slack, installed: Installed, user: str, *, searched: Searched | None = None
) -> None:
    """Show the person's Home tab as it is now. Raises what `attempt` raises."""
    actor = await slack.actor(installed, user, None)
    is_admin = actor.person.is_admin
    view = home_view(
        await slack.bot.documents.list(actor),
        may_upload=await _may_upload(slack, actor),
        is_admin=is_admin,
        unanswered=await slack.bot.answers.unanswered(actor, limit=QUESTIONS) if is_admin else (),
        searched=searched,
    )
    await attempt(lambda: installed.client.views_publish(user_id=user, view=view))


async def refresh_home(slack: Slack, installed: Installed, user: str) -> None:
    """The same, as a courtesy: what fails is logged, and the tab is right when it is opened again."""
    try:
        await publish_home(slack, installed, user)
    except (NoPlace, Unclear, SlackApiError) as error:
        log.info("slack_home_not_refreshed", error=reason_of(error))


async def _may_upload(slack: Slack, actor: Actor) -> bool:
    try:
        # No file: this tells whether the person may at all.
        await slack.bot.documents.upload(actor, (), UploadOptions(audience="person"))
    except Refused:
        return False
    return True


async def search(slack: Slack, body: dict[str, Any], actor: Actor) -> Searched:
    """What the search test's inputs ask for."""
    state = cast("dict[str, dict[str, Any]]", (body["view"].get("state") or {}).get("values") or {})
    words = str((state.get(WORDS, {}).get(WORDS) or {}).get("value") or "").strip()
    chosen = (state.get(MODE, {}).get(MODE) or {}).get("selected_option") or {}
    modes: list[SearchMode] = [mode for mode in MODES if mode == chosen.get("value")]
    mode = modes[0] if modes else "hybrid"
    if not words:
        return Searched(words, mode, problem=_NOTHING)
    try:
        return Searched(words, mode, await slack.bot.documents.search(actor, words, mode=mode, limit=HITS))
    except Refused as error:
        return Searched(words, mode, problem=str(error))


def register(app: AsyncApp, slack: Slack) -> None:
    """Before other listeners of `app_home_opened`: this one takes the Home tab alone."""

    async def is_home(event: dict[str, Any]) -> bool:
        return event.get("tab") == "home"

    @app.event("app_home_opened", matchers=[is_home])
    async def opened(body: dict[str, Any]) -> None:  # pyright: ignore[reportUnusedFunction]
        installed = await slack.clients.of(body["team_id"], body.get("enterprise_id"))
        await refresh_home(slack, installed, body["event"]["user"])

    def acts(action_id: str, do: Callable[[Act, dict[str, Any]], Awaitable[None]]) -> None:
        @app.action(action_id)
        async def acted(ack: AsyncAck, body: dict[str, Any]) -> None:  # pyright: ignore[reportUnusedFunction]
            await ack()
            act = Act.of(body)
            async with ending(lambda text: act.tell(slack, text), action_id):
                await do(act, body)

    async def refresh(act: Act, body: dict[str, Any]) -> None:
        del body
        await publish_home(slack, await act.installed(slack), act.user)

    async def find(act: Act, body: dict[str, Any]) -> None:
        searched = await search(slack, body, await act.actor(slack))
        await publish_home(slack, await act.installed(slack), act.user, searched=searched)

    async def upload(act: Act, body: dict[str, Any]) -> None:
        del body
        await open_upload(slack, act)

    async def settings(act: Act, body: dict[str, Any]) -> None:
        del body
        await open_settings(slack, act)

    acts(REFRESH, refresh)
    acts(SEARCH, find)
    acts(UPLOAD, upload)
    acts(SETTINGS, settings)
