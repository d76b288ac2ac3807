"""chat.startStream, appendStream, stopStream.

Undocumented answers of the real service, as others have measured them: an open stream refuses edits
(`streaming_state_conflict`) and deletion (`cant_delete_message`); one that was opened with text takes no
chunks and the other way round (`streaming_mode_mismatch`); details and output of a task add up.
"""

from __future__ import annotations

from typing import Any, Literal

from tests.doubles.slack import limits
from tests.doubles.slack.api import Call, method
from tests.doubles.slack.api_chat import metadata, place, posted, settle, thread, with_ids
from tests.doubles.slack.blocks import check_message, sources
from tests.doubles.slack.checks import as_object, known, one_of, optional, required, string
from tests.doubles.slack.errors import Invalid, Json, SlackError
from tests.doubles.slack.things import Channel, Message, Stream

_STATUSES = ("pending", "in_progress", "complete", "error")


def _chunk(value: Any, where: str) -> Json:
    found = as_object(value, where)
    match found.get("type"):
        case "markdown_text":
            known(found, where, "type", "text")
            string(required(found, "text", where), f"{where}/text", most=limits.MARKDOWN, least=1)
        case "plan_update":
            known(found, where, "type", "title")
            string(required(found, "title", where), f"{where}/title", most=limits.CHUNK_TEXT, least=1)
        case "task_update":
            known(found, where, "type", "id", "title", "status", "details", "output", "sources")
            string(required(found, "id", where), f"{where}/id", most=limits.IDENTIFIER, least=1)
            string(required(found, "title", where), f"{where}/title", most=limits.CHUNK_TEXT, least=1)
            one_of(found, "status", where, _STATUSES, needed=True)
            for name in ("details", "output"):
                optional(found, name, where, most=limits.CHUNK_TEXT)
            sources(found, where)
        case "blocks":
            known(found, where, "type", "blocks")
            check_message(required(found, "blocks", where))
        case kind:
            raise Invalid(f"unsupported type: {kind}", where)
    return found


def _content(call: Call) -> tuple[Literal["markdown_text", "chunks"] | None, str, list[Json]]:
    text = call.get("markdown_text")
    chunks = call.structure("chunks", list, "invalid_chunks")
    if text and chunks:
        raise SlackError("invalid_arguments", messages=["[ERROR] only one of markdown_text and chunks"])
    if len(text) > limits.MARKDOWN:
        raise SlackError("msg_too_long")
    if chunks is None:
        return ("markdown_text" if text else None), text, []
    try:
        checked = [_chunk(chunk, f"/chunks/{number}") for number, chunk in enumerate(chunks)]
    except Invalid as error:
        raise SlackError("invalid_chunks", messages=[str(error)]) from error
    return "chunks", "", checked


def _add(stream: Stream, text: str, chunks: list[Json]) -> None:
    stream.text += text
    for chunk in chunks:
        match chunk["type"]:
            case "markdown_text":
                stream.text += chunk["text"]
            case "plan_update":
                stream.plan_title = chunk["title"]
            case "blocks":
                stream.blocks += chunk["blocks"]
            case _:
                held = stream.tasks.get(chunk["id"], {})
                added = {
                    name: str(held.get(name, "")) + str(chunk.get(name, ""))
                    for name in ("details", "output")
                    if name in held or name in chunk
                }
                stream.tasks[chunk["id"]] = held | chunk | added


@method("chat.startStream", "chat:write")
def start_stream(call: Call) -> Json:
    rules = call.slack.rules
    if not rules.streaming:
        raise SlackError(rules.no_streaming)
    channel = place(call)
    root = thread(channel, call.need("thread_ts", "invalid_thread_ts"))
    mode, text, chunks = _content(call)
    if channel.kind != "im":
        for name in ("recipient_user_id", "recipient_team_id"):
            if not call.get(name):
                raise SlackError(f"missing_{name}")
        if call.get("recipient_user_id") not in call.slack.world.users:
            raise SlackError("user_not_found")
        if call.get("recipient_team_id") not in call.slack.world.teams:
            raise SlackError("team_not_found")
    display = call.get("task_display_mode") or "timeline"
    if display not in ("timeline", "plan", "dense"):
        raise SlackError("invalid_arguments", messages=["[ERROR] [json-pointer:/task_display_mode]"])
    stream = Stream("open", call.slack.clock.now(), mode or "chunks", display=display)
    _add(stream, text, chunks)
    made = posted(call, channel, text=stream.text, thread_ts=root, stream=stream)
    return {"channel": channel.id, "ts": made.ts}


def _open(call: Call) -> tuple[Channel, Message, Stream]:
    if not call.slack.rules.streaming:
        raise SlackError(call.slack.rules.no_streaming)
    channel = call.channel()
    message = channel.messages.get(call.need("ts", "message_not_found"))
    if message is None:
        raise SlackError("message_not_found")
    if message.bot_id != call.team.bot_id:
        raise SlackError("message_not_owned_by_app")
    settle(call.slack, message)
    stream = message.stream
    if stream is not None and stream.state == "stopped_by_user" and call.method == "chat.appendStream":
        raise SlackError("stopped_by_user")
    if stream is None or stream.state != "open":
        raise SlackError("message_not_in_streaming_state")
    return channel, message, stream


def _appended(call: Call, message: Message, stream: Stream, *, needed: bool) -> None:
    mode, text, chunks = _content(call)
    if mode is None:
        if needed:
            raise SlackError("no_text")
        return
    if mode != stream.mode:
        raise SlackError("streaming_mode_mismatch")
    if len(stream.text) + len(text) > limits.MESSAGE_TEXT:
        raise SlackError("msg_too_long")
    _add(stream, text, chunks)
    message.text = stream.text
    message.versions.append(stream.text)


@method("chat.appendStream", "chat:write")
def append_stream(call: Call) -> Json:
    channel, message, stream = _open(call)
    _appended(call, message, stream, needed=True)
    return {"channel": channel.id, "ts": message.ts}


@method("chat.stopStream", "chat:write")
def stop_stream(call: Call) -> Json:
    channel, message, stream = _open(call)
    blocks = check_message(call.args.get("blocks"))
    found = metadata(call)
    before = call.slack.payloads.message(message, event=True)
    _appended(call, message, stream, needed=False)
    stream.state = "stopped"
    message.blocks = with_ids(call.slack, blocks)
    if found is not None:
        message.metadata = found or None
    call.slack.changed(channel, message, before)
    shown = call.slack.payloads.message(message, metadata=True)
    return {"channel": channel.id, "ts": message.ts, "message": shown}
