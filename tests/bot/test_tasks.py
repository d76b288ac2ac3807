"""Ending tasks that do not end at the first asking."""

from __future__ import annotations

import asyncio

from bot.tasks import end


async def test_a_task_that_swallows_a_cancellation_ends_all_the_same() -> None:
    swallowed = 0

    async def stubborn() -> None:
        nonlocal swallowed
        while True:
            try:
                await asyncio.Event().wait()
            except asyncio.CancelledError:
                swallowed += 1
                if swallowed == 2:
                    raise

    async def done() -> None: ...

    async def failing() -> None:
        raise ValueError

    tasks = [asyncio.create_task(work()) for work in (stubborn, done, failing)]
    await asyncio.sleep(0)
    await end(*tasks)
    assert [task.cancelled() for task in tasks] == [True, False, False]
    assert isinstance(tasks[2].exception(), ValueError)
    await end()
