"""What an adapter asks to be kept: work that must end visibly, and small facts; both outlive a process."""

from __future__ import annotations

import hashlib
from collections.abc import Awaitable, Callable, Mapping
from contextlib import AbstractAsyncContextManager
from typing import Any, Protocol

from adapters.conversation import Neutral


class Incoming(Neutral):
    """Something that a platform told and that must end visibly: accepted at once, worked later."""

    #: Derived from the event, so that a resend has the same.
    id: str
    platform: str
    #: What has one lane is worked in order, one at a time: a thread, for instance.
    lane: str
    #: All names of this event; it is accepted only if none was seen. A question that arrives as two
    #: events has a name in common, such as its channel and timestamp.
    names: tuple[str, ...]
    #: What the adapter's handler is told by.
    kind: str
    #: As JSON; only what the handler needs.
    payload: dict[str, Any]
    #: How many times the work was begun. More than 1: a process died or was stopped in the middle.
    starts: int = 0


def incoming(
    kind: str,
    name: str,
    *,
    prefix: str,
    platform: str,
    lane: str,
    payload: dict[str, Any],
    also: tuple[str, ...] = (),
) -> Incoming:
    """With an id, beginning with `prefix`, that a resend has too.

    Args:
        name: what the event is known by; `also` names it too.
    """
    digest = hashlib.sha256(f"{kind}:{name}".encode()).hexdigest()[:24]
    return Incoming(
        id=f"{prefix}{digest}",
        platform=platform,
        lane=lane,
        names=(f"{kind}:{name}", *also),
        kind=kind,
        payload=payload,
    )


class Inbox(Protocol):
    """Durable work of the adapters: accepted exactly once, begun until it ends, in order within a lane."""

    async def accept(self, incoming: Incoming) -> bool:
        """Remember its names and queue it, in one step. False if one of the names was seen before.

        When this returns, the work survives a killed process.
        """
        ...

    def serve(
        self, platform: str, handle: Callable[[Incoming], Awaitable[None]], *, concurrency: int = 16
    ) -> AbstractAsyncContextManager[None]:
        """Work what is queued for `platform` while the context is open; what is unfinished then is begun
        again at the next start. A handler that raises is begun again later, with growing delays, until
        it was begun `MAX_STARTS` times; it then ends with a log line, so a handler ends by itself."""
        ...

    async def cancel(self, platform: str, lane: str, incoming_id: str) -> None:
        """Take it out of the queue, or cancel the handler that works it, in whichever process."""
        ...


class Notes(Protocol):
    """What an adapter must remember across restarts: small hashes of text, by name."""

    async def read(self, name: str) -> dict[str, str]:
        """Empty where nothing is kept."""
        ...

    async def write(self, name: str, fields: Mapping[str, str], *, seconds: int | None = None) -> None:
        """Set these fields, leave the others. `seconds` is how long the whole note is kept from now."""
        ...

    async def erase(self, name: str, *fields: str) -> None:
        """These fields; the whole note where none is named."""
        ...

    async def claim(self, name: str, *, seconds: int) -> bool:
        """True for the first who asks within `seconds`, in whichever process."""
        ...

    def lock(self, name: str, *, seconds: int = 30) -> AbstractAsyncContextManager[None]:
        """Held by one at a time, over all processes. Raises `TimeoutError` after waiting `seconds`."""
        ...
