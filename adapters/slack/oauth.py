"""Workspaces install the app themselves: `/slack/install` leads to Slack, and Slack back.

The way through Slack is bolt's; the pages are ours: plain, nothing loaded, nothing repeated of what
came in the address. See https://docs.slack.dev/authentication/installing-with-oauth/.
"""

from __future__ import annotations

import html
import re
from collections.abc import Awaitable, Callable
from typing import Final
from urllib.parse import urlencode

import structlog
from aiohttp import ClientError, web
from slack_bolt.oauth.async_callback_options import AsyncCallbackOptions, AsyncFailureArgs, AsyncSuccessArgs
from slack_bolt.oauth.async_oauth_flow import AsyncOAuthFlow
from slack_bolt.oauth.async_oauth_settings import AsyncOAuthSettings
from slack_bolt.request.async_request import AsyncBoltRequest
from slack_bolt.response import BoltResponse
from slack_sdk.errors import SlackClientError
from slack_sdk.oauth.state_utils import OAuthStateUtils

from adapters.slack.clients import make_client
from adapters.slack.installations import Installations
from adapters.slack.manifest import INSTALL, REDIRECT, SCOPES
from adapters.slack.settings import SlackSettings
from adapters.slack.states import EXPIRES, States

log = structlog.get_logger()

_AUTHORIZE: Final = "https://slack.com/oauth/v2/authorize"
_TEAM: Final = re.compile(r"[TE][A-Z0-9]{1,30}", re.ASCII)
_HEADERS: Final = {
    "Cache-Control": "no-store",
    "Content-Security-Policy": "default-src 'none'; base-uri 'none'; form-action 'none'; "
    "frame-ancestors 'none'; style-src 'unsafe-inline'",
    "Referrer-Policy": "no-referrer",
    "X-Content-Type-Options": "nosniff",
}
_PAGE: Final = """<!doctype html>
<html lang="en">
<head><meta charset="utf-8"><title>{title}</title>
<meta name="viewport" content="width=device-width, initial-scale=1">
<style>body {{ font: 1rem/1.5 system-ui, sans-serif; max-width: 34rem; margin: 4rem auto; padding: 0 1rem }}
:root {{ color-scheme: light dark }}</style></head>
<body><h1>{title}</h1><p>{text}</p>{link}</body>
</html>
"""
_AGAIN: Final = f'<p><a href="{INSTALL}">Start again</a></p>'
_FAILED: Final = "Footnote was not installed"
_REASONS: Final = {
    "access_denied": "The request was declined in Slack. Nothing was changed.",
    "invalid_browser": "This page was opened in another browser than the one that started, or twice.",
    "invalid_state": "That took longer than ten minutes, or this page was opened twice.",
    "missing_code": "Slack's answer is incomplete.",
    "invalid_code": "Slack did not accept the installation.",
    "unreachable": "Slack could not be reached just now.",
    "storage_error": "Something went wrong on this server. Its log says more.",
}


class _Cookie(OAuthStateUtils):
    """Sent along when Slack leads back, and with no request that another site makes."""

    def build_set_cookie_for_new_state(self, state: str) -> str:
        return f"{super().build_set_cookie_for_new_state(state)}; SameSite=Lax"


class _Flow(AsyncOAuthFlow):
    async def build_authorize_url(self, state: str, request: AsyncBoltRequest) -> str:
        asked = {
            "client_id": self.client_id,
            "scope": ",".join(SCOPES),
            "redirect_uri": self.redirect_uri or "",
            "state": state,
        }
        team = (request.query.get("team") or [""])[0]
        if _TEAM.fullmatch(team):
            asked["team"] = team
        return f"{_AUTHORIZE}?{urlencode(asked)}"


def oauth_routes(
    installations: Installations, states: States, settings: SlackSettings
) -> list[web.RouteDef]:
    """Needs `client_id`, `client_secret` and `public_url`."""
    flow = _flow(installations, states, settings)

    def route(work: Callable[[AsyncBoltRequest], Awaitable[BoltResponse]]):
        async def handle(request: web.Request) -> web.Response:
            asked = AsyncBoltRequest(
                body="",
                query=request.query_string,
                headers={"cookie": request.headers.getall("Cookie", [])},
            )
            try:
                return _sent(await work(asked))
            except (ClientError, SlackClientError, TimeoutError, OSError) as error:
                log.warning("slack_install_unreachable", error=type(error).__name__)
                return _sent(_failure("unreachable", 502))
            except Exception:
                log.exception("slack_install_failed")
                return _sent(_failure("storage_error", 500))

        return handle

    return [
        web.get(INSTALL, route(flow.handle_installation), allow_head=False),
        web.get(REDIRECT, route(flow.handle_callback), allow_head=False),
    ]


def _flow(installations: Installations, states: States, settings: SlackSettings) -> _Flow:
    async def success(args: AsyncSuccessArgs) -> BoltResponse:
        link, app = "", args.installation.app_id or ""
        if re.fullmatch(r"A[A-Z0-9]{1,30}", app, re.ASCII):
            link = f'<p><a href="https://slack.com/app_redirect?app={app}">Open it in Slack</a></p>'
        text = "Mention it in a channel, or write to it directly."
        return _page(200, "Footnote is installed", text, link)

    async def failure(args: AsyncFailureArgs) -> BoltResponse:
        known = args.reason if args.reason in _REASONS else "other"
        log.warning("slack_install_refused", reason=known)
        return _failure(args.reason, args.suggested_status_code)

    options = AsyncOAuthSettings(
        client_id=settings.client_id,
        client_secret=settings.client_secret,
        scopes=SCOPES,
        user_scopes=(),
        redirect_uri=f"{settings.public_url}{REDIRECT}",
        install_path=INSTALL,
        redirect_uri_path=REDIRECT,
        install_page_rendering_enabled=False,
        callback_options=AsyncCallbackOptions(success, failure),
        installation_store=installations,
        state_store=states,
        state_expiration_seconds=EXPIRES,
    )
    options.state_utils = _Cookie(expiration_seconds=EXPIRES)
    return _Flow(client=make_client(None, settings), settings=options)


def _failure(reason: str, status: int) -> BoltResponse:
    text = _REASONS.get(reason, "Slack refused the installation.")
    return _page(status, _FAILED, text, _AGAIN)


def _page(status: int, title: str, text: str, link: str) -> BoltResponse:
    cookie = OAuthStateUtils(expiration_seconds=EXPIRES).build_set_cookie_for_deletion()
    body = _PAGE.format(title=html.escape(title), text=html.escape(text), link=link)
    return BoltResponse(status=status, body=body, headers={"set-cookie": [cookie]})


def _sent(answer: BoltResponse) -> web.Response:
    """bolt's own conversion would drop SameSite."""
    sent = web.Response(status=answer.status, text=answer.body, content_type="text/html", headers=_HEADERS)
    for cookie in answer.headers.get("set-cookie", []):
        sent.headers.add("Set-Cookie", cookie)
    if location := answer.headers.get("location"):
        sent.headers["Location"] = location[0]
    return sent
