"""What reaches bolt over HTTP: Slack's signed requests, and nothing else."""

from __future__ import annotations

import asyncio
import gzip
import hmac
import json
from collections.abc import AsyncGenerator, AsyncIterator, Callable, Mapping
from dataclasses import dataclass, field
from hashlib import sha256
from time import time
from typing import Any, cast
from urllib.parse import urlencode

import pytest
from aiohttp import StreamReader, web
from aiohttp.base_protocol import BaseProtocol
from aiohttp.test_utils import TestClient, TestServer, make_mocked_request
from hypothesis import given, settings
from hypothesis import strategies as st
from multidict import CIMultiDict
from slack_bolt.async_app import AsyncApp
from slack_bolt.authorization import AuthorizeResult

from adapters.slack.http import EVENTS, LARGEST, slack_routes
from adapters.slack.settings import SlackSettings

SECRET = "8f742231b10e8888abcd99yyyzzz85a5"
SETTINGS = SlackSettings(bot_token="xoxb-1", signing_secret=SECRET)
EVENT = json.dumps(
    {
        "type": "event_callback",
        "team_id": "T1",
        "event_id": "Ev1",
        "event": {"type": "app_mention", "user": "U1", "channel": "C1", "ts": "1.1", "text": "hello"},
        "authorizations": [{"team_id": "T1", "user_id": "U0", "is_bot": True}],
    }
).encode()


@dataclass
class Heard:
    app: AsyncApp = field(default_factory=lambda: make_app())
    events: list[dict[str, Any]] = field(default_factory=list[dict[str, Any]])

    def __post_init__(self) -> None:
        async def listen(event: dict[str, Any]) -> None:
            self.events.append(event)

        self.app.event("app_mention")(listen)


def make_app() -> AsyncApp:
    async def authorize(enterprise_id: str | None, team_id: str | None) -> AuthorizeResult:
        return AuthorizeResult(
            enterprise_id=enterprise_id, team_id=team_id, bot_token="xoxb-1", bot_id="B0", bot_user_id="U0"
        )

    return AsyncApp(signing_secret=SECRET, authorize=authorize)


def sign(body: bytes, stamp: str, secret: str = SECRET) -> str:
    return f"v0={hmac.new(secret.encode(), f'v0:{stamp}:'.encode() + body, sha256).hexdigest()}"


def signed(body: bytes, *, late: float = 0, kind: str = "application/json") -> dict[str, str]:
    stamp = str(int(time() - late))
    return {
        "Content-Type": kind,
        "X-Slack-Request-Timestamp": stamp,
        "X-Slack-Signature": sign(body, stamp),
    }


@pytest.fixture
def heard() -> Heard:
    return Heard()


@pytest.fixture
async def client(heard: Heard) -> AsyncGenerator[TestClient[web.Request, web.Application]]:
    app = web.Application()
    app.add_routes(slack_routes(heard.app, SETTINGS))
    async with TestClient(TestServer(app)) as client:
        yield client


Client = TestClient[web.Request, web.Application]


async def test_a_signed_event_reaches_its_listener(client: Client, heard: Heard) -> None:
    answer = await client.post(EVENTS, data=EVENT, headers=signed(EVENT))
    assert answer.status == 200
    assert [event["text"] for event in heard.events] == ["hello"]


async def test_slack_can_check_the_address(client: Client) -> None:
    body = json.dumps({"type": "url_verification", "challenge": "3eZbrw1a"}).encode()
    answer = await client.post(EVENTS, data=body, headers=signed(body))
    assert answer.status == 200
    assert "3eZbrw1a" in await answer.text()


Change = Callable[[dict[str, str]], Mapping[str, str]]


def _without(name: str) -> Change:
    def change(headers: dict[str, str]) -> dict[str, str]:
        return {key: value for key, value in headers.items() if key != name}

    return change


def _signature(value: str) -> Change:
    def change(headers: dict[str, str]) -> dict[str, str]:
        return headers | {"X-Slack-Signature": value}

    return change


def _twice(name: str) -> Change:
    def change(headers: dict[str, str]) -> CIMultiDict[str]:
        return CIMultiDict([*headers.items(), (name, headers[name])])

    return change


def _stamped(stamp: str, secret: str = SECRET) -> Change:
    """Signed, for a time that may be none."""

    def change(headers: dict[str, str]) -> dict[str, str]:
        return headers | {
            "X-Slack-Request-Timestamp": stamp,
            "X-Slack-Signature": sign(EVENT, stamp, secret),
        }

    return change


def _late(seconds: float) -> Change:
    return lambda _: signed(EVENT, late=seconds)


@pytest.mark.parametrize(
    "change",
    [
        pytest.param(_signature("v0=" + "0" * 64), id="wrong signature"),
        pytest.param(_signature("v0=é" + "0" * 63), id="non-ASCII signature"),
        pytest.param(_signature(""), id="empty signature"),
        pytest.param(_signature("v1=" + "0" * 64), id="another version"),
        pytest.param(_without("X-Slack-Signature"), id="no signature"),
        pytest.param(_twice("X-Slack-Signature"), id="two signatures"),
        pytest.param(_without("X-Slack-Request-Timestamp"), id="no timestamp"),
        pytest.param(_twice("X-Slack-Request-Timestamp"), id="two timestamps"),
        pytest.param(_stamped("now"), id="non-numeric timestamp"),
        pytest.param(_stamped(""), id="empty timestamp"),
        pytest.param(_stamped("1e9"), id="a float as timestamp"),
        pytest.param(_stamped("nan"), id="not a number"),
        pytest.param(_stamped("٣٤٥"), id="digits that are not ASCII"),
        pytest.param(_stamped("9" * 400), id="a timestamp beyond everything"),
        pytest.param(_late(310), id="stale"),
        pytest.param(_late(-310), id="from the future"),
        pytest.param(_signature(sign(EVENT + b" ", str(int(time())))), id="signed for another body"),
        pytest.param(_stamped(str(int(time())), "another"), id="signed with another secret"),
    ],
)
async def test_what_is_not_proven_gets_401(client: Client, heard: Heard, change: Change) -> None:
    answer = await client.post(EVENTS, data=EVENT, headers=change(signed(EVENT)))
    assert answer.status == 401
    assert heard.events == []


async def test_a_retry_within_the_window_is_heard(client: Client, heard: Heard) -> None:
    headers = signed(EVENT, late=290) | {"X-Slack-Retry-Num": "1", "X-Slack-Retry-Reason": "http_timeout"}
    assert (await client.post(EVENTS, data=EVENT, headers=headers)).status == 200
    assert len(heard.events) == 1


async def test_bolts_own_headers_do_not_come_from_outside(client: Client, heard: Heard) -> None:
    headers = signed(EVENT) | {"X-Slack-Bolt-Lazy-Only": "1", "X-Slack-Bolt-Lazy-Function-Name": "listen"}
    assert (await client.post(EVENTS, data=EVENT, headers=headers)).status == 200
    assert len(heard.events) == 1


async def test_a_body_beyond_the_limit_gets_413_told_or_not(client: Client) -> None:
    async def untold() -> AsyncIterator[bytes]:
        for _ in range(LARGEST // 65536 + 1):
            yield b"x" * 65536

    body = b"x" * (LARGEST + 1)
    assert (await client.post(EVENTS, data=body, headers=signed(body))).status == 413
    assert (await client.post(EVENTS, data=untold(), headers=signed(body))).status == 413


async def test_a_compressed_body_is_not_unpacked(client: Client) -> None:
    headers = signed(EVENT) | {"Content-Encoding": "gzip"}
    assert (await client.post(EVENTS, data=gzip.compress(EVENT), headers=headers)).status == 415


@pytest.mark.parametrize(
    ("body", "kind"),
    [
        (b"\xff\xfe", "application/json"),
        (b"{", "application/json"),
        (b"[1]", "application/json"),
        (b"7", "application/json"),
        (b'{"team": {"id"', "application/json"),
        (b"[" * 100_000, "application/json"),
        (urlencode({"payload": "{"}).encode(), "application/x-www-form-urlencoded"),
        (urlencode({"payload": "[]"}).encode(), "application/x-www-form-urlencoded"),
        (EVENT, "application/json; charset=no-such-thing"),
    ],
)
async def test_what_is_signed_and_is_none_of_slacks_payloads_is_no_fault_of_ours(
    client: Client, body: bytes, kind: str
) -> None:
    answer = await client.post(EVENTS, data=body, headers=signed(body, kind=kind))
    assert answer.status < 500


KINDS = ("event_callback", "block_actions", "view_submission", "view_closed", "shortcut", "message_action",
         "block_suggestion", "dialog_submission")  # fmt: skip
PARTS = ("event", "authorizations", "team", "enterprise", "user", "channel", "actions", "view", "message",
         "container", "callback_id", "team_id", "function_data", "payload")  # fmt: skip
ODD: tuple[Any, ...] = (None, [], {}, "x", 1, [None], {"id": None}, {"type": ["message"]})


@pytest.mark.parametrize("kind", KINDS)
async def test_one_odd_part_of_a_payload_is_no_fault_of_ours(heard: Heard, kind: str) -> None:
    async def listen() -> None: ...

    heard.app.command("/kb")(listen)
    heard.app.shortcut("add_to_knowledge_base")(listen)
    heard.app.action("delete")(listen)
    heard.app.view("upload")(listen)
    for part in PARTS:
        for value in ODD:
            body = json.dumps({"type": kind, "event": {"type": "app_mention"}} | {part: value}).encode()
            status = await answered(heard.app, body, list(signed(body).items()))
            assert status < 500, (part, value)


async def test_without_a_secret_there_is_no_http() -> None:
    with pytest.raises(ValueError, match="signing secret"):
        slack_routes(make_app(), SlackSettings(bot_token="xoxb-1", signing_secret=""))


# -- anything at all -----------------------------------------------------------------------------------


async def answered(app: AsyncApp, body: bytes, headers: list[tuple[str, str]]) -> int:
    (route,) = slack_routes(app, SETTINGS)
    loop = asyncio.get_running_loop()
    content = StreamReader(BaseProtocol(loop), 2**16, loop=loop)
    content.feed_data(body)
    content.feed_eof()
    request = make_mocked_request("POST", EVENTS, headers=CIMultiDict(headers), payload=content)
    answer = await cast("Any", route).handler(request)
    return int(answer.status)


NAMES = st.sampled_from(
    [
        "X-Slack-Signature",
        "X-Slack-Request-Timestamp",
        "Content-Type",
        "X-Slack-Retry-Num",
    ]
)
TEXT = st.text(st.characters(exclude_characters="\r\n\0", exclude_categories=["Cs"]), max_size=80)
JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.text(max_size=5),
    lambda inner: (
        st.lists(inner, max_size=2)
        | st.dictionaries(
            st.sampled_from(
                ["id", "type", "user", "team", "team_id", "channel", "event", "actions", "view"]
            ),
            inner,
            max_size=4,
        )
    ),
    max_leaves=10,
)
PAYLOAD = st.dictionaries(
    st.sampled_from(
        ["type", "event", "team", "team_id", "user", "enterprise", "authorizations", "actions", "view",
         "command", "callback_id", "is_enterprise_install", "container", "message", "challenge"]
    ),
    JSON | st.sampled_from(["event_callback", "block_actions", "view_submission", "shortcut", "/kb"]),
)  # fmt: skip


def test_no_bytes_and_headers_bring_500() -> None:
    with asyncio.Runner() as runner:
        app = runner.run(_made())

        @settings(max_examples=150, deadline=None)
        @given(st.binary(max_size=300), st.lists(st.tuples(NAMES, TEXT), max_size=5))
        def check(body: bytes, headers: list[tuple[str, str]]) -> None:
            status = runner.run(answered(app, body, headers))
            assert status == 401

        check()


def test_no_signed_body_of_the_wrong_shape_brings_500() -> None:
    with asyncio.Runner() as runner:
        app = runner.run(_made())

        @settings(max_examples=150, deadline=None)
        @given(
            st.binary(max_size=50) | PAYLOAD.map(lambda found: json.dumps(found).encode()), st.booleans()
        )
        def check(body: bytes, form: bool) -> None:
            kind = "application/json"
            if form:
                body, kind = urlencode({"payload": body}).encode(), "application/x-www-form-urlencoded"
            status = runner.run(answered(app, body, list(signed(body, kind=kind).items())))
            assert status in (200, 400, 404)

        check()


async def _made() -> AsyncApp:
    return Heard().app
