"""A message that is edited while work goes on."""

from __future__ import annotations

import asyncio
from typing import Any

import pytest

from adapters.edits import Edits
from adapters.slack.edits import FAILURES
from adapters.slack.errors import NoPlace, Unclear
from adapters.slack.kit import sentence
from adapters.slack.render import SlackMessage


class Slow:
    """A delivery whose calls take until `go` is set."""

    def __init__(self) -> None:
        self.shown: list[str] = []
        self.fails: list[Exception] = []
        self.go, self.called = asyncio.Event(), asyncio.Event()

    async def put(self, part: int, message: Any, **_: Any) -> str:
        self.called.set()
        await self.go.wait()
        if self.fails:
            raise self.fails.pop(0)
        self.shown.append(message["text"])
        return "1.1"

    async def finish(self, messages: Any) -> None:
        for part, message in enumerate(messages):
            await self.put(part, message)


def edits(slow: Slow) -> Edits[SlackMessage]:
    return Edits[SlackMessage](slow, FAILURES, every=0)


async def test_what_is_out_of_date_is_not_shown_any_more() -> None:
    slow = Slow()
    shown = edits(slow)
    shown.show(sentence("0"))
    await slow.called.wait()
    for number in range(1, 50):
        shown.show(sentence(str(number)))
    slow.go.set()
    await shown.finish(sentence("end"))
    assert slow.shown[0] == "0"
    assert slow.shown[-1] == "end"
    assert len(slow.shown) <= 3


async def test_an_edit_on_its_way_ends_before_the_last_one_begins() -> None:
    slow = Slow()
    shown = edits(slow)
    shown.show(sentence("on the way"))
    await slow.called.wait()
    finishing = asyncio.create_task(shown.finish(sentence("end")))
    await asyncio.sleep(0)
    slow.go.set()
    await finishing
    assert slow.shown == ["on the way", "end"]


async def test_work_goes_on_unseen_where_there_is_no_place() -> None:
    slow = Slow()
    slow.go.set()
    slow.fails = [NoPlace("is_archived"), NoPlace("is_archived")]
    shown = edits(slow)
    shown.show(sentence("on the way"))
    await slow.called.wait()
    await shown.finish(sentence("end"))
    assert shown.nowhere


async def test_an_end_that_could_not_be_shown_is_tried_again_later() -> None:
    slow = Slow()
    slow.go.set()
    slow.fails = [Unclear("timeout")]
    with pytest.raises(Unclear):
        await edits(slow).finish(sentence("end"))
