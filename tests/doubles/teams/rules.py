"""What holds in the double's Teams, and the record of what was called."""

from __future__ import annotations

from dataclasses import dataclass

from tests.doubles.teams import limits
from tests.doubles.teams.errors import Json


@dataclass
class Rules:
    """Switches between regimes of the real Teams, and figures that a test may have no time for."""

    #: Streaming is allowed for this bot and its people; else "Content stream is not allowed".
    streaming: bool = True
    stream_every: float = limits.STREAM_EVERY
    stream_seconds: float = limits.STREAM_SECONDS
    #: Too many calls in a time are refused.
    rates: bool = True
    #: `channelData.team` tells the team's name and its id in Microsoft Graph.
    group_in_activities: bool = True
    #: The id of a conversation has its `;messageid=` also where a message opens a thread.
    suffix_on_posts: bool = True
    #: Seconds after which the address of a file in a personal chat is worthless.
    download_seconds: float = 3600.0
    #: Largest page that Graph gives, whatever `$top` says.
    graph_page: int = limits.GRAPH_PAGE_MOST


@dataclass(frozen=True, slots=True)
class Called:
    """A call of the bot. `kind` is one of the words of `Faults`; `error` Teams' code, or None.

    `fault`: it failed because a test wanted so, or by how things stand, and not since it was wrong.
    """

    kind: str
    place: str
    body: Json
    at: float
    status: int
    error: str | None = None
    message: str = ""
    fault: bool = False
