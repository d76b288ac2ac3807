"""What goes wrong with the bot's calls: as a script, or at random from a seed."""

from __future__ import annotations

from dataclasses import dataclass

from tests.doubles.faults import FaultPlan


@dataclass(frozen=True, slots=True)
class Fails:
    """An error in the Bot Framework's (or Graph's) words. Nothing happened."""

    status: int
    code: str = ""
    message: str = "scripted failure"


@dataclass(frozen=True, slots=True)
class RateLimited:
    """429; `after` None: without `Retry-After`, as Teams often does. Nothing happened."""

    after: int | None = 1


@dataclass(frozen=True, slots=True)
class Breaks:
    """A 5xx with a page instead of JSON. `effect`: what was asked for has happened nevertheless."""

    effect: bool = False
    status: int = 502


@dataclass(frozen=True, slots=True)
class Hangs:
    """No answer until the double closes."""

    effect: bool = False


@dataclass(frozen=True, slots=True)
class Drops:
    """The connection is closed without an answer."""

    effect: bool = False


@dataclass(frozen=True, slots=True)
class Slow:
    """The answer comes after some real seconds."""

    seconds: float


@dataclass(frozen=True, slots=True)
class Expires:
    """The token of the call has just run out: 401. Nothing happened."""


Fault = Fails | RateLimited | Breaks | Hangs | Drops | Slow | Expires

PRECONDITION = Fails(412, "PreconditionFailed", "Precondition failed, please try again.")
BAD_GATEWAY = Fails(502, "BadGateway", "Service unavailable.")
GATEWAY_TIMEOUT = Fails(504, "GatewayTimeout", "Gateway timeout.")


class Faults(FaultPlan[Fault]):
    """`next(call, *faults)` spoils the next calls of a kind, one fault a call. Kinds are "send" (also as
    an answer), "update", "delete", "member", "members", "create", "team", "token", "keys", and for Graph
    "graph", "shares" and "content"; `"*"` is any.
    """
