"""A client that looks at what it sends: for tests and development, where a limit that is passed shall be
found at once and not by the person who asked."""

from __future__ import annotations

import json
from typing import Any, Final

from slack_sdk.web.async_client import AsyncWebClient
from slack_sdk.web.async_slack_response import AsyncSlackResponse

from adapters.slack.validate import check_message, check_view

_MESSAGES: Final = frozenset({"chat.postMessage", "chat.update", "chat.postEphemeral"})


class CheckedClient(AsyncWebClient):
    """Raises `PayloadTooLarge` before anything is sent."""

    async def api_call(self, api_method: str, **call: Any) -> AsyncSlackResponse:  # type: ignore[override]
        sent: dict[str, Any] = call.get("json") or call.get("params") or {}
        if api_method in _MESSAGES:
            check_message({name: _read(sent[name]) for name in ("text", "blocks") if sent.get(name)})
        elif api_method.startswith("views."):
            check_view(_read(sent["view"]))
        return await super().api_call(api_method, **call)


def _read(value: Any) -> Any:
    """The SDK sends some parts as JSON in a text."""
    if isinstance(value, str) and value[:1] in ("[", "{"):
        try:
            return json.loads(value)
        except ValueError:
            return value
    return value
