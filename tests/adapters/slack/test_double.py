"""The stand-in for Slack refuses what Slack refuses, and real clients work with it."""

from __future__ import annotations

from collections.abc import AsyncIterator
from typing import Any

import aiohttp
import pytest
from aiohttp import web
from slack_bolt.adapter.socket_mode.aiohttp import AsyncSocketModeHandler
from slack_bolt.async_app import AsyncApp
from slack_sdk.errors import SlackApiError
from slack_sdk.web.async_client import AsyncWebClient

from tests.doubles.slack import Breaks, CannotAct, Clock, Fails, RateLimited, SlackDouble
from tests.doubles.slack.blocks import check_message, check_view_blocks
from tests.doubles.slack.errors import SlackError
from tests.doubles.slack.oauth import consent
from tests.doubles.slack.oracle import oracle


def plain(text: str = "x") -> dict[str, Any]:
    return {"type": "plain_text", "text": text}


def mrkdwn(text: str = "x") -> dict[str, Any]:
    return {"type": "mrkdwn", "text": text}


def button(**more: Any) -> dict[str, Any]:
    return {"type": "button", "action_id": "go", "text": plain(), **more}


def option(value: str = "v", text: str = "x") -> dict[str, Any]:
    return {"text": plain(text), "value": value}


def actions(*elements: Any) -> dict[str, Any]:
    return {"type": "actions", "elements": list(elements)}


def table(rows: int = 1, columns: int = 1) -> dict[str, Any]:
    return {"type": "table", "rows": [[{"type": "raw_text", "text": "x"}] * columns] * rows}


def field(**element: Any) -> dict[str, Any]:
    return {"type": "input", "label": plain(), "element": {"type": "plain_text_input", **element}}


TASK = {"task_id": "1", "title": "x"}
MARKDOWN = {"type": "markdown", "text": "x"}
RATE = {
    "type": "feedback_buttons",
    "action_id": "rate",
    "positive_button": {"text": plain(), "value": "up"},
    "negative_button": {"text": plain(), "value": "down"},
}
GOOD: list[Any] = [
    MARKDOWN,
    {"type": "section", "text": mrkdwn("x" * 3000), "accessory": button(url="https://example.com")},
    {"type": "header", "text": plain("x" * 150)},
    {"type": "context", "elements": [mrkdwn()] * 10},
    {"type": "context_actions", "elements": [RATE]},
    actions(button(), {"type": "overflow", "action_id": "more", "options": [option()] * 5}),
    table(100, 20),
    {"type": "plan", "title": "x", "tasks": [{"task_id": "1", "title": "x", "status": "pending"}]},
    {"type": "task_card", "task_id": "1", "title": "x", "status": "complete"},
    {"type": "divider"},
]
BAD: list[tuple[str, list[Any], str]] = [
    ("51 blocks", [{"type": "divider"}] * 51, "invalid_blocks"),
    ("no list", {"type": "divider"}, "invalid_blocks_format"),  # pyright: ignore[reportAssignmentType]
    ("unknown block", [{"type": "banner"}], "invalid_blocks"),
    ("alert in a message", [{"type": "alert", "text": plain()}], "invalid_blocks"),
    ("long section", [{"type": "section", "text": mrkdwn("x" * 3001)}], "invalid_blocks"),
    ("empty section", [{"type": "section", "text": mrkdwn("")}], "invalid_blocks"),
    ("section without text", [{"type": "section"}], "invalid_blocks"),
    ("11 fields", [{"type": "section", "fields": [mrkdwn()] * 11}], "invalid_blocks"),
    ("long field", [{"type": "section", "fields": [mrkdwn("x" * 2001)]}], "invalid_blocks"),
    ("long header", [{"type": "header", "text": plain("x" * 151)}], "invalid_blocks"),
    ("mrkdwn header", [{"type": "header", "text": mrkdwn()}], "invalid_blocks"),
    ("11 in context", [{"type": "context", "elements": [mrkdwn()] * 11}], "invalid_blocks"),
    ("26 actions", [actions(*[button(action_id=str(n)) for n in range(26)])], "invalid_blocks"),
    ("two alike actions", [actions(button(), button())], "invalid_blocks"),
    ("two alike blocks", [{"type": "divider", "block_id": "a"}] * 2, "invalid_blocks"),
    ("long block_id", [{"type": "divider", "block_id": "a" * 256}], "invalid_blocks"),
    ("long button", [actions(button(text=plain("x" * 76)))], "invalid_blocks"),
    ("mrkdwn button", [actions(button(text=mrkdwn()))], "invalid_blocks"),
    ("long value", [actions(button(value="x" * 2001))], "invalid_blocks"),
    ("long url", [actions(button(url="https://example.com/" + "x" * 3000))], "invalid_blocks"),
    ("url of a script", [actions(button(url="javascript:alert(1)"))], "invalid_blocks"),
    ("unknown style", [actions(button(style="loud"))], "invalid_blocks"),
    ("unknown field", [actions(button(colour="red"))], "invalid_blocks"),
    ("6 in overflow", [actions({"type": "overflow", "options": [option()] * 6})], "invalid_blocks"),
    ("101 options", [actions({"type": "static_select", "options": [option()] * 101})], "invalid_blocks"),
    ("long option", [actions({"type": "static_select", "options": [option("v" * 151)]})], "invalid_blocks"),
    ("feedback in actions", [actions(RATE)], "invalid_blocks"),
    ("button in context_actions", [{"type": "context_actions", "elements": [button()]}], "invalid_blocks"),
    ("file_input in a message", [field() | {"element": {"type": "file_input"}}], "invalid_blocks"),
    ("input without label", [{"type": "input", "element": field()["element"]}], "invalid_blocks"),
    ("101 rows", [table(rows=101)], "invalid_blocks"),
    ("21 columns", [table(columns=21)], "invalid_blocks"),
    ("two tables", [table(), table()], "invalid_blocks"),
    ("12,001 of markdown", [{"type": "markdown", "text": "x" * 6001}] * 2, "invalid_blocks"),
    ("too much in all", [{"type": "section", "text": mrkdwn("x" * 2900)}] * 5, "msg_blocks_too_long"),
    ("pending card", [{"type": "task_card", **TASK, "status": "pending"}], "invalid_blocks"),
    ("unknown status", [{"type": "task_card", **TASK, "status": "ok"}], "invalid_blocks"),
    ("51 tasks", [{"type": "plan", "title": "x", "tasks": [TASK] * 51}], "invalid_blocks"),
]  # fmt: skip


@pytest.mark.parametrize(("blocks", "code"), [row[1:] for row in BAD], ids=[row[0] for row in BAD])
def test_refuses_blocks(blocks: list[Any], code: str) -> None:
    with pytest.raises(SlackError) as refused:
        check_message(blocks)
    assert refused.value.code == code
    if code == "invalid_blocks":
        assert "json-pointer:/blocks" in refused.value.body["response_metadata"]["messages"][0]


@pytest.mark.parametrize("block", GOOD, ids=[block["type"] for block in GOOD])
def test_takes_blocks_at_their_limits_and_slackblocks_agrees(block: Any) -> None:
    if block["type"] != "table":
        assert check_message([block]) == [block]
    assert oracle({"blocks": [block]}) == []


#: What slackblocks does not look at: identifiers' uniqueness, unknown fields, schemes, sums over a payload.
_BEYOND = {
    "no list", "two alike actions", "two alike blocks", "url of a script", "unknown field", "two tables",
    "12,001 of markdown", "too much in all", "mrkdwn header", "mrkdwn button", "file_input in a message",
    "section without text", "feedback in actions", "button in context_actions", "unknown style",
}  # fmt: skip


@pytest.mark.parametrize("row", [row for row in BAD if row[0] not in _BEYOND], ids=lambda row: row[0])
def test_slackblocks_refuses_it_too(row: tuple[str, list[Any], str]) -> None:
    assert oracle({"blocks": row[1]})


@pytest.mark.parametrize("block", [MARKDOWN, {"type": "context_actions", "elements": [RATE]}, table()])
def test_keeps_blocks_of_messages_out_of_modals(block: Any) -> None:
    with pytest.raises(SlackError):
        check_view_blocks([block], "modal")


# -- with clients ------------------------------------------------------------------------------


class Room:
    def __init__(self, slack: SlackDouble) -> None:
        self.slack = slack
        self.team = slack.world.add_team()
        self.ann = slack.world.add_user("ann", admin=True).id
        self.channel = slack.world.add_channel("general", self.ann).id
        #: `AsyncWebClient`, whose answers may be None to a type checker.
        self.client: Any = AsyncWebClient(f"xoxb-{self.team.id}", base_url=slack.api_url)

    async def refused(self, method: str, **args: Any) -> str:
        with pytest.raises(SlackApiError) as error:
            await getattr(self.client, method)(**args)
        return str(error.value.response["error"])


@pytest.fixture
async def room() -> AsyncIterator[Room]:
    async with SlackDouble(clock=Clock(1_800_000_000.0)) as slack:
        slack.outbox.auto = False
        yield Room(slack)


async def test_refuses_what_a_bot_may_not_do(room: Room) -> None:
    world, channel = room.slack.world, room.channel
    asked = room.slack.say(channel, room.ann, "hi")
    other = world.add_channel("other", room.ann, bot=False).id
    hidden = world.add_channel("hidden", room.ann, kind="private", bot=False).id
    old = world.add_channel("old", room.ann, archived=True).id
    post = "chat_postMessage"
    assert await room.refused(post, channel="C9", text="x") == "channel_not_found"
    assert await room.refused(post, channel=other, text="x") == "not_in_channel"
    assert await room.refused(post, channel=hidden, text="x") == "channel_not_found"
    assert await room.refused(post, channel=old, text="x") == "is_archived"
    assert await room.refused(post, channel=channel, text=" ") == "no_text"
    assert await room.refused(post, channel=channel, text="x" * 40_001) == "msg_too_long"
    assert await room.refused(post, channel=channel, text="x", thread_ts="1.2") == "invalid_thread_ts"
    broken = {"event_type": "a"}
    assert await room.refused(post, channel=channel, text="x", metadata=broken) == "invalid_metadata_format"
    assert await room.refused("chat_update", channel=channel, ts=asked, text="x") == "cant_update_message"
    assert await room.refused("chat_delete", channel=channel, ts=asked) == "cant_delete_message"
    assert await room.refused("chat_update", channel=channel, ts="1.2", text="x") == "message_not_found"
    assert await room.refused("conversations_replies", channel=channel, ts="1.2") == "thread_not_found"
    assert await room.refused("users_info", user="U9") == "user_not_found"
    assert await room.refused("api_call", api_method="chat.shout") == "unknown_method"
    world.tokens[room.client.token or ""].scopes = frozenset()
    assert await room.refused(post, channel=channel, text="x") == "missing_scope"
    room.slack.revoke(room.team.id)
    assert await room.refused(post, channel=channel, text="x") == "token_revoked"
    room.client.token = "xoxb-unknown"
    assert await room.refused("auth_test") == "invalid_auth"


async def test_pages_of_a_thread_begin_with_the_oldest(room: Room) -> None:
    root = room.slack.say(room.channel, room.ann, "root")
    said = [room.slack.say(room.channel, room.ann, str(n), root) for n in range(5)]
    cursor, seen = "", []
    while True:
        page = await room.client.conversations_replies(
            channel=room.channel, ts=root, limit=2, cursor=cursor
        )
        seen += [message["ts"] for message in page["messages"]]
        cursor = page["response_metadata"]["next_cursor"]
        if not cursor:
            break
    assert list(dict.fromkeys(seen)) == [root, *said]


async def test_streams_live_and_end(room: Room) -> None:
    slack, client, channel = room.slack, room.client, room.channel
    root = slack.say(channel, room.ann, "hi")
    place = {"channel": channel, "thread_ts": root}
    who = {"recipient_user_id": room.ann, "recipient_team_id": room.team.id}
    text = {"type": "markdown_text", "text": "a"}
    assert await room.refused("chat_startStream", **place) == "missing_recipient_user_id"
    bad = [{"type": "task_update", "id": "1", "title": "x", "status": "done"}]
    assert await room.refused("chat_startStream", **place, **who, chunks=bad) == "invalid_chunks"
    ts = (await client.chat_startStream(**place, **who, chunks=[text]))["ts"]
    assert (
        await room.refused("chat_appendStream", channel=channel, ts=ts, markdown_text="b")
        == "streaming_mode_mismatch"
    )
    assert await room.refused("chat_update", channel=channel, ts=ts, text="x") == "streaming_state_conflict"
    await client.chat_appendStream(channel=channel, ts=ts, chunks=[text | {"text": "b"}])
    await client.chat_stopStream(
        channel=channel, ts=ts, blocks=[{"type": "context_actions", "elements": [RATE]}]
    )
    assert slack.replies(channel, root)[0].text.startswith("ab")
    assert (
        await room.refused("chat_appendStream", channel=channel, ts=ts, chunks=[text])
        == "message_not_in_streaming_state"
    )
    await client.chat_update(channel=channel, ts=ts, text="final", blocks=[])
    ts = (await client.chat_startStream(**place, **who, chunks=[text]))["ts"]
    assert slack.press_stop(channel, root, room.ann) == [ts]
    assert (
        await room.refused("chat_appendStream", channel=channel, ts=ts, chunks=[text]) == "stopped_by_user"
    )
    ts = (await client.chat_startStream(**place, **who, chunks=[text]))["ts"]
    slack.clock.advance(300)
    assert await room.refused("chat_stopStream", channel=channel, ts=ts) == "message_not_in_streaming_state"


async def test_modals_need_a_fresh_trigger_and_a_known_state(room: Room) -> None:
    slack, client = room.slack, room.client
    modal = {"type": "modal", "title": plain(), "blocks": [field()], "submit": plain()}
    late = slack.trigger(room.ann)
    slack.clock.advance(3.1)
    assert await room.refused("views_open", trigger_id=late, view=modal) == "expired_trigger_id"
    fresh = slack.trigger(room.ann)
    long = modal | {"title": plain("x" * 25)}
    assert await room.refused("views_open", trigger_id=fresh, view=long) == "invalid_arguments"
    shown = (await client.views_open(trigger_id=fresh, view=modal))["view"]
    assert await room.refused("views_open", trigger_id=fresh, view=modal) == "exchanged_trigger_id"
    await client.views_update(view_id=shown["id"], hash=shown["hash"], view=modal)
    assert (
        await room.refused("views_update", view_id=shown["id"], hash=shown["hash"], view=modal)
        == "hash_conflict"
    )
    for _ in range(2):
        await client.views_push(trigger_id=slack.trigger(room.ann, view=shown["id"]), view=modal)
    again = slack.trigger(room.ann, view=shown["id"])
    assert await room.refused("views_push", trigger_id=again, view=modal) == "push_limit_reached"
    with pytest.raises(CannotAct):
        await slack.submit(room.ann, {})


async def test_refresh_tokens_are_used_once(room: Room) -> None:
    slack = room.slack
    slack.app.rotation = True
    client: Any = AsyncWebClient(base_url=slack.api_url)
    who = {"client_id": slack.app.client_id, "client_secret": slack.app.client_secret}
    first = await client.oauth_v2_access(**who, code=consent(slack, room.team.id))
    turn = {"grant_type": "refresh_token", "refresh_token": first["refresh_token"]}
    second = await client.oauth_v2_access(**who, **turn)
    assert second["access_token"] != first["access_token"]
    with pytest.raises(SlackApiError, match="invalid_refresh_token"):
        await client.oauth_v2_access(**who, **turn)
    slack.clock.advance(second["expires_in"])
    room.client.token = second["access_token"]
    assert await room.refused("auth_test") == "token_expired"


async def test_faults_come_before_or_after_the_effect(room: Room) -> None:
    slack = room.slack
    slack.faults.next(
        "chat.postMessage", Fails("fatal_error"), RateLimited(7), Breaks(), Breaks(effect=True)
    )
    for status in (200, 429, 503, 503):
        with pytest.raises(SlackApiError) as error:
            await room.client.chat_postMessage(channel=room.channel, text="x")
        assert error.value.response.status_code == status
    assert len(slack.visible(room.channel)) == 1
    slack.rules.history_limited = True
    await room.client.conversations_history(channel=room.channel)
    assert await room.refused("conversations_history", channel=room.channel) == "ratelimited"


async def test_downloads_need_the_token(room: Room) -> None:
    slack = room.slack
    file = slack.world.add_file("a.txt", "content", user=room.ann)
    slack.say(room.channel, room.ann, "look", files=[file.id])
    url = (await room.client.files_info(file=file.id))["file"]["url_private_download"]
    async with aiohttp.ClientSession() as session:
        async with session.get(url, headers={"Authorization": f"Bearer {room.client.token}"}) as good:
            assert await good.read() == b"content"
        async with session.get(url) as bad:
            assert bad.content_type == "text/html"


def listening(room: Room) -> tuple[AsyncApp, list[Any]]:
    """A tiny app: answers mentions, a command, and a click that opens a modal."""
    heard: list[Any] = []
    app = AsyncApp(client=room.client, signing_secret=room.slack.app.signing_secret)
    modal = {
        "type": "modal",
        "title": plain(),
        "submit": plain(),
        "callback_id": "form",
        "blocks": [field(action_id="name") | {"block_id": "named"}],
    }

    @app.event("app_mention")
    async def mention(event: dict[str, Any], say: Any) -> None:
        heard.append(event)
        await say(text="answer", blocks=[actions(button(value="1"))], thread_ts=event["ts"])

    @app.event("message")
    async def message(event: dict[str, Any]) -> None:
        heard.append(event)

    @app.command("/kb")
    async def command(ack: Any, command: dict[str, Any], respond: Any) -> None:
        await ack(f"you said {command['text']}")
        await respond("later")

    @app.action("go")
    async def go(ack: Any, body: dict[str, Any], client: AsyncWebClient) -> None:
        await ack()
        await client.views_open(trigger_id=body["trigger_id"], view=modal)

    @app.view("form")
    async def form(ack: Any, view: dict[str, Any]) -> None:
        value = view["state"]["values"]["named"]["name"]["value"]
        if value == "bad":
            await ack(response_action="errors", errors={"named": "No."})
        else:
            await ack()

    return app, heard


async def conversation(room: Room, heard: list[Any]) -> None:
    slack, ann, channel = room.slack, room.ann, room.channel
    ts = slack.say(channel, ann, f"<@{room.team.bot_user}> hello")
    await slack.outbox.deliver()
    while len(slack.visible(channel, ts)) < 2:
        await slack.world_changed()
    await slack.outbox.deliver()
    assert {event["type"] for event in heard if event["ts"] == ts} == {"app_mention", "message"}
    reply = slack.replies(channel, ts)[0]
    await slack.command("/kb one two", ann, channel)
    while len(slack.ephemerals(ann)) < 2:
        await slack.world_changed()
    assert {one.text for one in slack.ephemerals(ann)} == {"you said one two", "later"}
    await slack.click(ann, "go", channel=channel, ts=reply.ts)
    while not slack.views(ann):
        await slack.world_changed()
    assert (await slack.submit(ann, {"name": "bad"})).errors == {"named": "No."}
    assert (await slack.submit(ann, {"name": "good"})).ok
    assert slack.views(ann) == []
    assert all(delivery.acknowledged for delivery in slack.outbox.deliveries)


async def test_bolt_over_http(room: Room) -> None:
    app, heard = listening(room)
    room.slack.clock = room.slack.world.clock = Clock()
    runner = web.AppRunner(app.web_app(path="/slack/events", port=0))
    await runner.setup()
    site = web.TCPSite(runner, "127.0.0.1", 0)
    await site.start()
    room.slack.outbox.url = f"http://127.0.0.1:{runner.addresses[0][1]}/slack/events"
    try:
        assert await room.slack.outbox.verify(room.slack.outbox.url)
        await conversation(room, heard)
        status, _ = await room.slack.outbox.raw(
            room.slack.outbox.url, "{}", {"X-Slack-Signature": "v0=bad", "X-Slack-Request-Timestamp": "1"}
        )
        assert status == 401
    finally:
        await runner.cleanup()


async def test_bolt_over_socket_mode(room: Room) -> None:
    app, heard = listening(room)
    handler = AsyncSocketModeHandler(app, room.slack.app.app_token)
    await handler.connect_async()
    try:
        await room.slack.sockets.connected()
        await conversation(room, heard)
        await room.slack.sockets.refresh()
        await room.slack.sockets.connected(2)
    finally:
        await handler.close_async()


async def test_an_event_without_an_answer_comes_again(room: Room) -> None:
    tries: list[str | None] = []

    async def serve(request: web.BaseRequest) -> web.Response:
        tries.append(request.headers.get("X-Slack-Retry-Num"))
        return web.Response(status=500 if len(tries) < 3 else 200)

    runner = web.ServerRunner(web.Server(serve))
    await runner.setup()
    site = web.TCPSite(runner, "127.0.0.1", 0)
    await site.start()
    room.slack.outbox.url = f"http://127.0.0.1:{runner.addresses[0][1]}/"
    try:
        room.slack.say(room.channel, room.ann, "hi")
        (delivery,) = await room.slack.outbox.deliver()
        assert tries == [None, "1", "2"]
        assert [attempt.failed for attempt in delivery.attempts] == ["http_error", "http_error", None]
    finally:
        await runner.cleanup()


async def test_tells_what_a_person_does_in_slacks_shapes(room: Room) -> None:
    slack, channel = room.slack, room.channel
    file = slack.world.add_file("a.txt", "x", user=room.ann, connect=True)
    said = slack.say(channel, room.ann, f"<@{room.team.bot_user}> see", files=[file.id])
    slack.say(channel, room.ann, "more", said)
    slack.unfurl(channel, said)
    slack.delete(channel, said)
    slack.say(slack.open_messages_tab(room.ann), room.ann, "direct")
    slack.join(channel)
    slack.uninstall(room.team.id, tokens_first=True)
    events = [delivery.event for delivery in slack.outbox.deliveries]
    assert [(event["type"], event.get("subtype")) for event in events] == [
        ("app_mention", None), ("message", "file_share"), ("file_shared", None), ("message", None),
        ("message", "message_changed"), ("message", "message_changed"), ("app_home_opened", None),
        ("message", None), ("member_joined_channel", None), ("tokens_revoked", None),
        ("app_uninstalled", None),
    ]  # fmt: skip
    assert events[0]["ts"] == events[1]["ts"] == said
    assert events[1]["files"] == [{"id": file.id, "mode": "file_access", "file_access": "check_file_info"}]
    assert (events[3]["thread_ts"], events[3]["parent_user_id"]) == (said, room.ann)
    assert events[5]["message"]["subtype"] == "tombstone"
    assert (events[6]["tab"], events[7]["channel_type"]) == ("messages", "im")


async def test_an_answer_url_serves_five_times_within_half_an_hour(room: Room) -> None:
    slack = room.slack
    url = slack.response_url(room.ann, room.channel)
    async with aiohttp.ClientSession() as session:

        async def post(address: str, **body: Any) -> tuple[int, str]:
            async with session.post(address, json=body) as answer:
                return answer.status, await answer.text()

        assert await post(url, blocks=[table(101)]) == (400, "invalid_blocks")
        for number in range(4):
            assert await post(url, text=str(number)) == (200, "ok")
        assert await post(url, text="x") == (404, "used_url")
        late = slack.response_url(room.ann, room.channel)
        slack.clock.advance(1801)
        assert await post(late, text="x") == (404, "expired_url")
    assert [one.text for one in slack.ephemerals(room.ann)] == ["0", "1", "2", "3"]


async def test_posting_too_fast_is_told_off(room: Room) -> None:
    room.slack.rules.post_limited = True
    for _ in range(room.slack.rules.burst):
        await room.client.chat_postMessage(channel=room.channel, text="x")
    assert await room.refused("chat_postMessage", channel=room.channel, text="x") == "ratelimited"
    room.slack.clock.advance(1)
    await room.client.chat_postMessage(channel=room.channel, text="x")
