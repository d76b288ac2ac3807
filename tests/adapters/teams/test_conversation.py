"""Questions and answers in Teams, end to end over HTTP."""

from __future__ import annotations

from tests.adapters.teams.site import Site, World


async def test_a_question_in_a_personal_chat(site: Site, world: World) -> None:
    await site.ask(world.direct, world.ann, "How often do keys change?")
    [answer] = site.answers(world.direct)
    assert answer.text == "Answer to: How often do keys change?"
    assert answer.generated
    assert answer.asks_feedback
    assert not site.teams.refusals


async def test_a_mention_in_a_channel_is_answered_in_its_thread(site: Site, world: World) -> None:
    root = await site.ask(world.general, world.ann, f"{world.at} How often do keys change?")
    [answer] = site.answers(world.general, root)
    assert answer.text == "Answer to: How often do keys change?"
    assert answer.root == root
    assert not site.teams.refusals


async def test_a_mention_in_a_group_chat(site: Site, world: World) -> None:
    await site.ask(world.group, world.ann, f"{world.at} How often?")
    [answer] = site.answers(world.group)
    assert answer.text == "Answer to: How often?"
    assert not site.teams.refusals
