"""What goes wrong with calls of the Web API: as a script, or at random from a seed."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from tests.doubles.faults import FaultPlan


@dataclass(frozen=True, slots=True)
class Fails:
    """Slack answers `{"ok": false, "error": code}`; `status` 200 as usual. Nothing happened."""

    code: str
    status: int = 200
    body: Mapping[str, Any] | None = None


@dataclass(frozen=True, slots=True)
class RateLimited:
    """429 with `Retry-After`. Nothing happened."""

    after: int = 1


@dataclass(frozen=True, slots=True)
class Breaks:
    """A 5xx with a page instead of JSON. `effect`: what was asked for has happened nevertheless."""

    effect: bool = False
    status: int = 503


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


Fault = Fails | RateLimited | Breaks | Hangs | Drops | Slow


class Faults(FaultPlan[Fault]):
    """`next(method, *faults)` spoils the next calls of a method (`"*"`: of any), one fault a call."""
