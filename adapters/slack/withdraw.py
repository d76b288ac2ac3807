"""A question was deleted while its answer was on the way: what was posted of it goes, too."""

from __future__ import annotations

from adapters.durable import Incoming
from adapters.slack.context import Slack
from adapters.slack.deliver import Delivery


async def work_withdrawn(slack: Slack, incoming: Incoming) -> None:
    """In the question's own lane, so after whatever worked the question has ended."""
    told = incoming.payload
    installed = await slack.clients.of(told["team"], told["enterprise"])
    delivery = Delivery(
        slack, installed, told["channel"], told["root"], told["question"], since=told["ts"], resumed=True
    )
    await delivery.open()
    if not delivery.done:  # an answer that is there stays: others may have read it
        await delivery.remove()
