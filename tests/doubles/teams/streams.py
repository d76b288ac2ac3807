"""Streaming: one message in a chat with one person that grows by the rules of Teams."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from tests.doubles.teams import limits
from tests.doubles.teams.check_activity import size_of
from tests.doubles.teams.check_entities import root_entities
from tests.doubles.teams.errors import CannotAct, Json, Refusal, bad_request
from tests.doubles.teams.rates import too_many
from tests.doubles.teams.things import Conversation, Message, Stream

if TYPE_CHECKING:
    from tests.doubles.teams.core import Core

_OVER = {
    "completed": "Content stream is not allowed on an already completed streamed message",
    "canceled": "Content stream was canceled by user.",
    "expired": "Content stream finished due to exceeded streaming time.",
}


def stream_info(activity: Json) -> Json | None:
    for one in activity.get("entities") or []:
        if isinstance(one, dict) and one.get("type") == "streaminfo":
            return one
    return None


def not_allowed(message: str, *, blame: bool = True) -> Refusal:
    return Refusal(403, "ContentStreamNotAllowed", message, blame=blame)


def _wrong(message: str) -> Refusal:
    return bad_request(message, "BadRequest")


class Streams:
    def __init__(self, core: Core) -> None:
        self._core = core
        #: When each chat had its last request of a stream.
        self._last: dict[str, float] = {}

    def check(self, place: Conversation, activity: Json) -> None:
        """What the general rules of activities don't say, before these are looked at."""
        info = stream_info(activity)
        if info is None:
            return
        if len([one for one in activity["entities"] if one.get("type") == "streaminfo"]) > 1:
            raise _wrong("More than one streaminfo entity")
        if place.kind != "personal":
            raise _wrong("Streaming is supported in one-on-one chats only")
        kind = info.get("streamType", "streaming")
        if kind not in ("informative", "streaming", "final"):
            raise _wrong("streamType is informative, streaming or final")
        if (kind == "final") != (activity.get("type") == "message"):
            raise _wrong("The final request is a message, and all others are typing activities")
        if size_of(activity) > limits.MESSAGE_BYTES:
            raise not_allowed("Message size too large")
        if kind == "final":
            self._check_final(info)
            return
        first = "streamId" not in info
        if not str(activity.get("text") or "").strip():
            raise _wrong(f"{'Start' if first else 'Continue'} streaming activities should include text")
        if activity.get("attachments") or activity.get("suggestedActions"):
            raise _wrong("Only the final message has attachments")
        if root_entities(activity["entities"]) or (
            "channelData" in activity and activity["channelData"].get("feedbackLoop")
        ):
            raise _wrong("Only the final message has labels, citations and feedback")
        sequence = info.get("streamSequence")
        if not isinstance(sequence, int) or isinstance(sequence, bool) or sequence < 1:
            raise _wrong("Streaming activities should include streamSequence")
        if first and sequence != 1:
            raise _wrong("Start streaming activities should have streamSequence 1")

    @staticmethod
    def _check_final(info: Json) -> None:
        if not info.get("streamId"):
            raise _wrong("End streaming activities should include streamId")
        if "streamSequence" in info:
            raise _wrong("End streaming activities should not include streamSequence")

    def take(self, place: Conversation, activity: Json, info: Json) -> tuple[int, Json]:
        """A checked request of a stream; gives Teams' answer."""
        core, now = self._core, self._core.clock.now()
        if not core.rules.streaming:
            raise not_allowed("Content stream is not allowed", blame=False)
        if now - self._last.get(place.id, -1e9) < core.rules.stream_every:
            raise too_many()
        self._expire(place, now)
        kind, id = info.get("streamType", "streaming"), info.get("streamId")
        if id is None:
            stream = self._start(place, activity, now)
        else:
            stream = place.streams.get(id)
            if stream is None:
                raise Refusal(404, "ActivityNotFoundInConversation", "The stream could not be found")
            if stream.state != "open":
                raise not_allowed(_OVER[stream.state], blame=stream.state != "canceled")
        self._last[place.id] = stream.last = now
        if kind == "final":
            self._finish(place, stream, activity)
            return 202, {}
        sequence = info["streamSequence"]
        if sequence <= stream.sequence:
            code = "ContentStreamSequenceOrderPreConditionFailed"
            raise Refusal(202, code, "PreCondition failed exception when processing streaming activity.")
        self._grow(place, stream, kind, activity["text"])
        stream.sequence = sequence
        return (201, {"id": stream.id}) if id is None else (202, {})

    def _start(self, place: Conversation, activity: Json, now: float) -> Stream:
        if any(one.state == "open" for one in place.streams.values()):
            raise not_allowed("Content stream is not allowed")
        stream = Stream(self._core.world.new_id(), now)
        place.streams[stream.id] = stream
        message = Message(
            stream.id,
            place.id,
            self._core.app.bot,
            reply_to=activity.get("replyToId"),
            created=now,
            final=False,
        )
        message.versions.append("")
        place.messages[stream.id] = message
        return stream

    def _grow(self, place: Conversation, stream: Stream, kind: str, text: str) -> None:
        if kind == "informative":
            if stream.phase == "streaming":
                raise _wrong("Informative updates end where the response begins")
            stream.line = text
            return
        if not text.startswith(stream.text):
            raise not_allowed("Request streamed content should contain the previously streamed content")
        stream.phase, stream.text = "streaming", text
        place.messages[stream.id].text = text

    def _finish(self, place: Conversation, stream: Stream, activity: Json) -> None:
        stream.state = "completed"
        message = place.messages[stream.id]
        fill(message, activity)
        message.final = True
        message.versions = [message.text]
        self._core.notified.append((place.id, message.id))

    def _expire(self, place: Conversation, now: float) -> None:
        for stream in place.streams.values():
            if stream.state == "open" and now - stream.started > self._core.rules.stream_seconds:
                stream.state = "expired"

    def open_in(self, place: Conversation) -> Stream | None:
        self._expire(place, self._core.clock.now())
        return next((one for one in place.streams.values() if one.state == "open"), None)

    def stop(self, place: Conversation) -> str:
        """A person presses stop. Gives the stream's id."""
        stream = self.open_in(place)
        if stream is None:
            raise CannotAct("nothing is being streamed")
        stream.state = "canceled"
        return stream.id


def fill(message: Message, activity: Json) -> None:
    """What a message of the bot shows now."""
    message.activity = activity
    message.text = activity.get("text", "")
    message.entities = [one for one in _dicts(activity, "entities") if one.get("type") != "streaminfo"]
    message.attachments = _dicts(activity, "attachments")


def _dicts(activity: Json, field: str) -> list[Json]:
    value: Any = activity.get(field)
    return list(value or [])
