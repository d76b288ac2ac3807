"""How the double says no."""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any

Json = dict[str, Any]


class Refusal(Exception):
    """An HTTP error with the Bot Framework's body, `{"error": {"code", "message"}}`, or `body` instead."""

    def __init__(
        self,
        status: int,
        code: str,
        message: str = "",
        *,
        headers: Mapping[str, str] | None = None,
        body: Json | None = None,
        blame: bool = True,
    ) -> None:
        """`blame` False: it is how things stand, which a bot learns only from the refusal."""
        self.blame = blame
        self.status, self.code, self.message = status, code, message
        self.headers = dict(headers or {})
        self.body: Json = {"error": {"code": code, "message": message}} if body is None else body
        super().__init__(f"{status} {code}: {message}")


def bad_request(message: str, code: str = "BadSyntax") -> Refusal:
    return Refusal(400, code, message)


def writes_blocked() -> Refusal:
    """Teams words this one in an envelope of its own."""
    inner = {
        "subCode": "MessageWritesBlocked",
        "details": "Thread is blocked from message writes.",
        "errorCode": None,
        "errorSubCode": None,
    }
    body = {"errorCode": 209, "message": json.dumps(inner, indent=2)}
    return Refusal(403, "MessageWritesBlocked", inner["details"] or "", body=body, blame=False)


class CannotAct(Exception):
    """A person can't do that in Teams: there is no such button, message or dialog, or it is not theirs."""


class BadAnswer(Exception):
    """The bot answered an invoke with what Teams does not take; people see "Something went wrong"."""
