"""How the double says no."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

Json = dict[str, Any]


class SlackError(Exception):
    """`{"ok": false, "error": code, ...}`, with status 200 as Slack does it, or another."""

    def __init__(
        self,
        code: str,
        *,
        messages: list[str] | None = None,
        status: int = 200,
        headers: Mapping[str, str] | None = None,
        **more: Any,
    ) -> None:
        self.code, self.status, self.headers = code, status, dict(headers or {})
        self.body: Json = {"ok": False, "error": code, **more}
        if messages:
            self.body["response_metadata"] = {"messages": messages}
        super().__init__(code if not messages else f"{code}: {'; '.join(messages)}")


class Invalid(Exception):
    """A block, element or text that Slack refuses; `where` is a JSON pointer."""

    def __init__(self, message: str, where: str) -> None:
        self.message, self.where = message, where
        super().__init__(f"[ERROR] {message} [json-pointer:{where}]")
