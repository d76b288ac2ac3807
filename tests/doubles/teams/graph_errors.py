"""How Microsoft Graph says no."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from tests.doubles.teams.errors import Json, Refusal


def graph_error(status: int, code: str, message: str, *, blame: bool = True) -> Refusal:
    inner = {"date": "2026-01-01T00:00:00", "request-id": "r", "client-request-id": "r"}
    body: Json = {"error": {"code": code, "message": message, "innerError": inner}}
    return Refusal(status, code, message, body=body, blame=blame)


def only(query: Mapping[str, Any], known: tuple[str, ...]) -> None:
    """Refuse other query options than `known` ones."""
    if unknown := set(query) - set(known):
        raise graph_error(400, "BadRequest", f"Query option {sorted(unknown)} is not supported.")
