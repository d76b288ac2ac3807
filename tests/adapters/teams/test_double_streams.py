"""Streaming in the stand-in for Teams: every rule that a stream can break."""

from __future__ import annotations

from typing import Any

import pytest

from tests.adapters.teams.small_bot import Bot, Json, bot, teams
from tests.doubles.teams import CannotAct, RateLimited, TeamsDouble

__all__ = ["bot", "teams"]

LABEL: Json = {
    "type": "https://schema.org/Message",
    "@type": "Message",
    "@context": "https://schema.org",
    "additionalType": ["AIGeneratedContent"],
}


def chunk(kind: str, text: str = "", sequence: Any = None, stream: str | None = None, **more: Any) -> Json:
    info: Json = {"type": "streaminfo", "streamType": kind}
    info |= {"streamId": stream} if stream else {}
    info |= {} if sequence is None else {"streamSequence": sequence}
    entities = [info, *more.pop("entities", [])]
    return {"type": "message" if kind == "final" else "typing", "text": text, "entities": entities} | more


class Chat:
    def __init__(self, teams: TeamsDouble, bot: Bot) -> None:
        self.teams, self.bot = teams, bot
        self.place = teams.world.personal(teams.world.add_person("Ana").aad).id

    async def tell(self, activity: Json, *, seconds: float = 1.0) -> tuple[int, Any]:
        answer = await self.bot.send(self.place, activity)
        self.teams.clock.advance(seconds)
        return answer

    async def start(self, kind: str = "informative", text: str = "Searching") -> str:
        status, answer = await self.tell(chunk(kind, text, 1))
        assert status == 201
        return answer["id"]

    async def refused(self, activity: Json, status: int, code: str, words: str = "") -> None:
        told, answer = await self.tell(activity)
        assert (told, answer["error"]["code"]) == (status, code), answer
        assert words in answer["error"]["message"]


@pytest.fixture
def chat(teams: TeamsDouble, bot: Bot) -> Chat:
    return Chat(teams, bot)


async def test_a_stream_from_its_start_to_its_end(teams: TeamsDouble, chat: Chat) -> None:
    stream = await chat.start()
    assert teams.informed(chat.place) == "Searching"
    assert teams.shown(chat.place) == []
    assert (await chat.tell(chunk("informative", "Reading", 2, stream))) == (202, {})
    assert (await chat.tell(chunk("streaming", "Twelve", 3, stream))) == (202, {})
    assert (await chat.tell(chunk("streaming", "Twelve weeks", 4, stream))) == (202, {})
    [shown] = teams.shown(chat.place)
    assert (shown.text, shown.final, teams.informed(chat.place)) == ("Twelve weeks", False, None)
    assert teams.notified == []
    final = chunk("final", "Twelve weeks [of leave].", None, stream, entities=[LABEL])
    assert (await chat.tell(final)) == (202, {})
    [shown] = teams.shown(chat.place)
    assert (shown.id, shown.text, shown.final, shown.edits) == (stream, final["text"], True, 0)
    assert shown.generated
    assert teams.notified == [(chat.place, stream)]
    assert teams.refusals == []
    await chat.start()  # another one may begin


@pytest.mark.parametrize(
    "activity",
    [
        chunk("informative", "", 1),
        chunk("streaming", " ", 1),
        chunk("streaming", "x"),
        chunk("streaming", "x", 2),
        chunk("streaming", "x", 0),
        chunk("streaming", "x", "1"),
        chunk("partial", "x", 1),
        chunk("final", "x"),
        chunk("streaming", "x", 1, entities=[LABEL]),
        chunk("streaming", "x", 1, channelData={"feedbackLoop": {"type": "default"}}),
        chunk(
            "streaming",
            "x",
            1,
            attachments=[{"contentType": "image/png", "contentUrl": "https://a.example"}],
        ),
        chunk("streaming", "x", 1, entities=[{"type": "streaminfo"}]),
        chunk("streaming", "x", 1) | {"type": "message"},
    ],
)
async def test_refuses_a_start(chat: Chat, activity: Json) -> None:
    await chat.refused(activity, 400, "BadRequest")


async def test_refuses_a_continuation(chat: Chat) -> None:
    stream = await chat.start()
    await chat.refused(chunk("streaming", "", 2, stream), 400, "BadRequest", "should include text")
    await chat.refused(chunk("streaming", "x", None, stream), 400, "BadRequest")
    await chat.refused(chunk("final", "x", 2, stream), 400, "BadRequest", "streamSequence")
    await chat.refused(chunk("final", "x", None, stream) | {"type": "typing"}, 400, "BadRequest")
    await chat.refused(chunk("streaming", "x", 2, "1"), 404, "ActivityNotFoundInConversation")
    assert (await chat.tell(chunk("streaming", "One", 2, stream)))[0] == 202
    await chat.refused(chunk("informative", "Reading", 3, stream), 400, "BadRequest")
    prefix = "should contain the previously streamed content"
    await chat.refused(chunk("streaming", "Two", 3, stream), 403, "ContentStreamNotAllowed", prefix)


async def test_drops_what_comes_out_of_order(teams: TeamsDouble, chat: Chat) -> None:
    stream = await chat.start("streaming", "One")
    await chat.tell(chunk("streaming", "One two three", 3, stream))
    code = "ContentStreamSequenceOrderPreConditionFailed"
    await chat.refused(chunk("streaming", "One two", 2, stream), 202, code)
    assert teams.shown(chat.place)[0].text == "One two three"
    assert len(teams.refusals) == 1


async def test_takes_one_request_a_second(teams: TeamsDouble, chat: Chat) -> None:
    stream = await chat.start()
    await chat.tell(chunk("streaming", "x", 2, stream), seconds=0.5)
    await chat.refused(chunk("streaming", "xy", 3, stream), 429, "Throttled", "API calls quota exceeded")
    assert (await chat.tell(chunk("streaming", "xy", 3, stream)))[0] == 202
    teams.rules.stream_every = 0.0
    for number in range(4, 8):
        assert (await chat.tell(chunk("streaming", "xy" * number, number, stream), seconds=0.0))[0] == 202


async def test_a_stream_lives_for_two_minutes(teams: TeamsDouble, chat: Chat) -> None:
    stream = await chat.start("streaming", "x")
    teams.clock.advance(120)
    words = "Content stream finished due to exceeded streaming time."
    await chat.refused(chunk("streaming", "xy", 2, stream), 403, "ContentStreamNotAllowed", words)
    await chat.refused(chunk("final", "xy", None, stream), 403, "ContentStreamNotAllowed", words)
    assert [(one.text, one.final) for one in teams.shown(chat.place)] == [("x", False)]
    await chat.start()


async def test_one_stream_a_chat(chat: Chat) -> None:
    await chat.start()
    await chat.refused(chunk("informative", "x", 1), 403, "ContentStreamNotAllowed", "is not allowed")


async def test_a_person_stops_it(teams: TeamsDouble, chat: Chat) -> None:
    stream = await chat.start("streaming", "x")
    teams.stop(chat.place)
    words = "Content stream was canceled by user."
    await chat.refused(chunk("streaming", "xy", 2, stream), 403, "ContentStreamNotAllowed", words)
    await chat.refused(chunk("final", "xy", None, stream), 403, "ContentStreamNotAllowed", words)
    changed = {"type": "message", "text": "xy"}
    path = f"conversations/{chat.place}/activities/{stream}"
    assert (await chat.bot.call("PUT", path, changed))[0] == 403
    assert teams.shown(chat.place)[0].text == "x"
    assert len(teams.refusals) == 1  # nobody can know of the stop before
    with pytest.raises(CannotAct):
        teams.stop(chat.place)


async def test_an_ended_stream_is_over_but_can_be_edited(teams: TeamsDouble, chat: Chat) -> None:
    stream = await chat.start()
    path = f"conversations/{chat.place}/activities/{stream}"
    assert (await chat.bot.call("PUT", path, {"type": "message", "text": "x"}))[0] == 403
    await chat.tell(chunk("final", "x", None, stream))
    words = "already completed streamed message"
    await chat.refused(chunk("final", "x", None, stream), 403, "ContentStreamNotAllowed", words)
    assert (await chat.bot.call("PUT", path, {"type": "message", "text": "y"}))[0] == 200
    [shown] = teams.shown(chat.place)
    assert (shown.text, shown.edits) == ("y", 1)


async def test_a_stream_that_is_too_large(chat: Chat) -> None:
    stream = await chat.start()
    large = "x" * 51_200
    for activity in (chunk("streaming", large, 2, stream), chunk("final", large, None, stream)):
        await chat.refused(activity, 403, "ContentStreamNotAllowed", "Message size too large")


async def test_no_streams_but_in_chats_with_one(teams: TeamsDouble, bot: Bot, chat: Chat) -> None:
    ana = next(iter(teams.world.people))
    for place in (teams.world.add_chat("Lunch", ana).id, teams.world.add_team("Support", ana).id):
        status, answer = await bot.send(place, chunk("informative", "x", 1))
        assert (status, answer["error"]["code"]) == (400, "BadRequest")
    teams.rules.streaming = False
    await chat.refused(
        chunk("informative", "x", 1), 403, "ContentStreamNotAllowed", "Content stream is not allowed"
    )


async def test_a_stream_goes_with_its_message(teams: TeamsDouble, chat: Chat) -> None:
    stream = await chat.start("streaming", "x")
    assert (await chat.bot.call("DELETE", f"conversations/{chat.place}/activities/{stream}"))[0] == 200
    assert teams.shown(chat.place) == []
    await chat.start()


async def test_a_stream_that_a_fault_delays(teams: TeamsDouble, chat: Chat) -> None:
    stream = await chat.start()
    teams.faults.next("send", RateLimited(None))
    assert (await chat.tell(chunk("streaming", "x", 2, stream)))[0] == 429
    assert (await chat.tell(chunk("streaming", "x", 2, stream)))[0] == 202
    assert teams.refusals == []
