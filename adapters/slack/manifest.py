"""The Slack app as Slack is told about it: what it may do, and what it wants to hear."""

from __future__ import annotations

from typing import Any, Final

from adapters.slack.http import EVENTS

INSTALL: Final = "/slack/install"
REDIRECT: Final = "/slack/oauth_redirect"

#: Each is used; `kb doctor` tells which ones a token lacks.
SCOPES: Final = (
    "app_mentions:read",
    "assistant:write",
    "channels:history",
    "channels:read",
    "chat:write",
    "commands",
    "files:read",
    "groups:history",
    "groups:read",
    "im:history",
    "im:read",
    "im:write",
    "mpim:history",
    "mpim:read",
    "usergroups:read",
    "users:read",
)
_HEARS: Final = (
    "agent_session_stopped",
    "app_home_opened",
    "app_mention",
    "member_joined_channel",
    "message.channels",
    "message.groups",
    "message.im",
    "message.mpim",
)
#: Where workspaces install the app themselves, and leave.
_LEAVES: Final = ("app_uninstalled", "tokens_revoked")


def manifest(url: str | None = None) -> dict[str, Any]:
    """For Socket Mode and one workspace; with `url`, where this server is reached (https, no slash at
    the end), for requests over HTTP, many workspaces and organisations, and tokens that are renewed.

    In Socket Mode tokens aren't renewed: the one in the environment would be dead after 12 hours.
    """
    address = {} if url is None else {"request_url": f"{url}{EVENTS}"}
    command = {"command": "/kb", **({} if url is None else {"url": f"{url}{EVENTS}"})}
    return {
        "display_information": {
            "name": "Footnote",
            "description": "Answers from your team's documents, with a citation for every claim.",
            "background_color": "#2b3a55",
        },
        "features": {
            "bot_user": {"display_name": "Footnote", "always_online": True},
            "app_home": {
                "home_tab_enabled": True,
                "messages_tab_enabled": True,
                "messages_tab_read_only_enabled": False,
            },
            "agent_view": {
                "agent_description": "Ask about anything in your team's documents. "
                "Each answer names its sources.",
                "suggested_prompts": [{"title": "What can you do?", "message": "What can you do?"}],
            },
            "slash_commands": [
                {
                    **command,
                    "description": "Ask, add documents, search, settings",
                    "usage_hint": "[ask | upload | list | status | search | delete | settings | help]",
                    "should_escape": True,
                }
            ],
            "shortcuts": [
                {
                    "name": "Add to knowledge base",
                    "type": "message",
                    "callback_id": "add_to_knowledge_base",
                    "description": "Add this message's files, or its thread, to the knowledge base",
                }
            ],
        },
        "oauth_config": {
            **({} if url is None else {"redirect_urls": [f"{url}{REDIRECT}"]}),
            "scopes": {"bot": list(SCOPES)},
        },
        "settings": {
            "event_subscriptions": {
                **address,
                "bot_events": list(_HEARS if url is None else sorted((*_HEARS, *_LEAVES))),
            },
            "interactivity": {"is_enabled": True, **address},
            "org_deploy_enabled": url is not None,
            "socket_mode_enabled": url is None,
            "token_rotation_enabled": url is not None,
        },
    }
