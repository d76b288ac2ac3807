"""What the inbox holds for Teams, each to the part that works it."""

from __future__ import annotations

from collections.abc import Awaitable, Callable

from adapters.durable import Incoming
from adapters.teams import work
from adapters.teams.activity import Joined
from adapters.teams.answer import Answering
from adapters.teams.context import Teams
from adapters.teams.deliver import Delivery
from adapters.teams.reference import Reference
from adapters.teams.threads import Threads
from adapters.teams.uploads import work_upload
from adapters.teams.welcome import welcome


def handler(teams: Teams, threads: Threads) -> Callable[[Incoming], Awaitable[None]]:
    """For `Inbox.serve`."""
    answering = Answering(teams, threads)

    async def handle(incoming: Incoming) -> None:
        match incoming.kind:
            case work.MESSAGE:
                await answering.message(incoming)
            case work.WITHDRAWN:
                await _withdrawn(teams, incoming)
            case work.JOINED:
                await _joined(teams, incoming)
            case work.UPLOAD:
                await work_upload(teams, incoming)
            case _:
                pass  # stands for an activity that shall only be known

    return handle


async def _withdrawn(teams: Teams, incoming: Incoming) -> None:
    """A question was deleted. In its own lane, so after whatever worked it has ended."""
    reference = Reference.model_validate(incoming.payload["reference"])
    delivery = Delivery(teams, reference, incoming.payload["question"], resumed=True)
    await delivery.open()
    if not delivery.done:  # an answer that is there stays: others may have read it
        await delivery.remove()


async def _joined(teams: Teams, incoming: Incoming) -> None:
    joined = Joined.model_validate(incoming.payload)
    delivery = Delivery(teams, joined.reference, incoming.id, resumed=incoming.starts > 1)
    await delivery.open()
    if not delivery.done:
        await delivery.finish([await welcome(teams, joined)])
