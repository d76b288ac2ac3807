"""The methods of the Web API: who may call them, and what all have in common."""

from __future__ import annotations

import json
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, Literal, TypeVar, cast

from tests.doubles.slack.core import Core
from tests.doubles.slack.errors import Json, SlackError
from tests.doubles.slack.things import Channel, Team, Token

T = TypeVar("T")


@dataclass
class Call:
    """A call with a good token. `args` are strings where they came in a form or a query."""

    slack: Core
    method: str
    args: Json
    #: None for methods that need no token.
    granted: Token | None

    @property
    def token(self) -> Token:
        assert self.granted is not None
        return self.granted

    @property
    def team(self) -> Team:
        return self.slack.world.teams[self.token.team]

    def need(self, name: str, code: str = "invalid_arguments") -> str:
        """A required argument, as text."""
        value = self.args.get(name)
        if value is None or value == "":
            raise SlackError(code, messages=[f"[ERROR] missing required field: {name}"])
        if not isinstance(value, str | int | float):
            raise SlackError(code, messages=[f"[ERROR] must be a string [json-pointer:/{name}]"])
        return str(value)

    def get(self, name: str) -> str:
        value = self.args.get(name)
        return "" if value is None else str(value)

    def flag(self, name: str) -> bool:
        return str(self.args.get(name, "")).lower() in ("1", "true")

    def number(self, name: str, default: int, *, least: int = 1, most: int = 1000) -> int:
        value = self.args.get(name)
        if value in (None, ""):
            return default
        try:
            number = int(str(value))
        except ValueError:
            number = -1
        if not least <= number <= most:
            raise SlackError("invalid_limit" if name == "limit" else "invalid_arguments")
        return number

    def structure(self, name: str, kind: type[T], code: str) -> T | None:
        """An argument that is JSON, in a form as text. None where it is missing."""
        value = self.args.get(name)
        if isinstance(value, str):
            try:
                value = json.loads(value)
            except ValueError:
                raise SlackError(code) from None
        if value is None:
            return None
        if not isinstance(value, kind):
            raise SlackError(code)
        return value

    def scope(self, needed: str) -> None:
        if needed not in self.token.scopes:
            raise SlackError("missing_scope", needed=needed, provided=",".join(sorted(self.token.scopes)))

    def scope_of(self, channel: Channel, right: Literal["read", "history"]) -> None:
        family = {"public": "channels", "private": "groups", "im": "im", "mpim": "mpim"}[channel.kind]
        self.scope(f"{family}:{right}")

    def channel(self, name: str = "channel") -> Channel:
        return self.slack.world.channel_for(self.team.id, self.need(name, "channel_not_found"))


Handler = Callable[[Call], Json]


@dataclass(frozen=True, slots=True)
class Method:
    handler: Handler
    scopes: tuple[str, ...]
    token: Literal["bot", "app", "none"]


METHODS: dict[str, Method] = {}


def method(
    name: str, *scopes: str, token: Literal["bot", "app", "none"] = "bot"
) -> Callable[[Handler], Handler]:
    def add(handler: Handler) -> Handler:
        METHODS[name] = Method(handler, scopes, token)
        return handler

    return add


def authorise(core: Core, needed: Method, value: str | None) -> Token | None:
    """Raises what Slack says to a token that it does not take."""
    if needed.token == "none":
        return None
    if not value:
        raise SlackError("not_authed")
    if value == core.app.app_token:
        if needed.token != "app":
            raise SlackError("not_allowed_token_type")
        return Token(value, core.world.first_team, "app", frozenset({"connections:write"}))
    token = core.world.tokens.get(value)
    if token is None:
        raise SlackError("invalid_auth")
    if needed.token == "app":
        raise SlackError("not_allowed_token_type")
    if token.revoked:
        raise SlackError("token_revoked")
    if token.expires is not None and core.clock.now() >= token.expires:
        raise SlackError("token_expired")
    team = core.world.teams[token.team]
    if team.inactive or not team.installed:
        raise SlackError("account_inactive")
    return token


def call(core: Core, name: str, args: Json, token: str | None) -> Json:
    """Do what is asked for. Raises `SlackError`."""
    found = METHODS.get(name)
    if found is None:
        raise SlackError("unknown_method", req_method=name)
    made = Call(core, name, args, authorise(core, found, token))
    for scope in found.scopes:
        made.scope(scope)
    return {"ok": True, **found.handler(made)}


def page(call: Call, items: list[T], *, default: int = 100, most: int = 1000) -> tuple[list[T], Json]:
    """A page by cursor, and what tells the next one."""
    limit = call.number("limit", default, most=most)
    cursor = call.get("cursor")
    if cursor and not cursor.startswith("at:"):
        raise SlackError("invalid_cursor")
    start = int(cursor[3:]) if cursor else 0
    end = start + limit
    more = f"at:{end}" if end < len(items) else ""
    return items[start:end], {"response_metadata": {"next_cursor": more}}


def objects(value: list[Any]) -> list[Json]:
    return cast("list[Json]", value)
