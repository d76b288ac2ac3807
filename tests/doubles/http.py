"""The base of strict doubles: a real HTTP server on 127.0.0.1 that plays a script and keeps records.

A double refuses what the real service refuses (wrong path, missing key, unknown field, wrong type)
with the service's own error, so that a test of the client fails in the way the product would.
"""

from __future__ import annotations

import asyncio
import json
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field
from typing import Any, Self, TypeVar

from aiohttp import web
from pydantic import BaseModel, ConfigDict, ValidationError

M = TypeVar("M", bound=BaseModel)


class Strict(BaseModel):
    """A body in which an unknown field or a wrong type is an error."""

    model_config = ConfigDict(extra="forbid", strict=True)


@dataclass(frozen=True, slots=True)
class Received:
    """A request as it came. `json` is the parsed body, None where there was none."""

    method: str
    path: str
    query: Mapping[str, str]
    headers: Mapping[str, str]
    json: Any


@dataclass(frozen=True, slots=True)
class Fail:
    """An HTTP error: `body` as JSON, or the service's usual error for `status`."""

    status: int
    message: str = "scripted failure"
    headers: Mapping[str, str] = field(default_factory=dict[str, str])
    body: Any = None


@dataclass(frozen=True, slots=True)
class Raw:
    """A body that is sent as it stands, with status 200: malformed JSON, for example."""

    body: str
    content_type: str = "application/json"


@dataclass(frozen=True, slots=True)
class Hang:
    """No answer until the double closes: for timeouts and cancellation."""


@dataclass(frozen=True, slots=True)
class Cut:
    """A stream that ends after `text`: the connection drops, or (`clean`) it just ends early."""

    text: str
    clean: bool = False


@dataclass(frozen=True, slots=True)
class Stall:
    """A stream that sends `text` and then nothing more until the double closes."""

    text: str


@dataclass(frozen=True, slots=True)
class ErrorInStream:
    """A stream that sends `text` and then an error object, after status 200."""

    text: str
    status: int = 503


Scripted = str | Fail | Raw | Hang | Cut | Stall | ErrorInStream


class Refused(Exception):
    """The double refuses a request, as the service would."""

    def __init__(self, status: int, message: str, code: str = "") -> None:
        self.status = status
        self.message = message
        self.code = code
        super().__init__(message)


class HttpDouble:
    """`async with Double() as double: double.url`.

    `script(...)` queues answers, one a request; `always(...)` takes a function of the request for
    all the others. Without either the double answers sensibly by itself. `requests` holds what
    came, `refusals` what was turned down and why.
    """

    #: What the service's clients expect behind the host, such as "/v1".
    base_path = ""

    def __init__(self) -> None:
        self.requests: list[Received] = []
        self.refusals: list[str] = []
        self._script: list[object] = []
        self._always: Callable[[Received], object] | None = None
        self._news = asyncio.Condition()
        self._closing = asyncio.Event()
        self._runner: web.ServerRunner | None = None
        self._url = ""

    @property
    def url(self) -> str:
        return self._url + self.base_path

    def script(self, *answers: object) -> None:
        """Queue answers, one a request."""
        self._script.extend(answers)

    def always(self, answer: Callable[[Received], object]) -> None:
        """What answers every request that no queued answer is left for."""
        self._always = answer

    async def came(self, count: int) -> None:
        """Wait until `count` requests have come."""
        async with self._news:
            await self._news.wait_for(lambda: len(self.requests) >= count)

    async def __aenter__(self) -> Self:
        self._runner = web.ServerRunner(web.Server(self._serve), shutdown_timeout=0.1)
        await self._runner.setup()
        site = web.TCPSite(self._runner, "127.0.0.1", 0)
        await site.start()
        self._url = f"http://127.0.0.1:{self._runner.addresses[0][1]}"
        return self

    async def __aexit__(self, *_: object) -> None:
        self._closing.set()
        assert self._runner is not None
        await self._runner.cleanup()

    # -- for the services --------------------------------------------------------------------
    async def handle(self, request: web.BaseRequest, received: Received) -> web.StreamResponse:
        """Answer a request; raise `Refused` for what the service would not accept."""
        raise NotImplementedError

    def error_body(self, status: int, message: str, code: str = "") -> Any:
        """The service's own error JSON."""
        raise NotImplementedError

    def validated(self, shape: type[M], received: Received) -> M:
        """The body as `shape`, or the refusal of a service that knows its own fields."""
        try:
            return shape.model_validate(received.json)
        except ValidationError as error:
            raise Refused(400, f"Invalid request: {error}") from error

    def next_answer(self, received: Received, default: object = None) -> Any:
        if self._script:
            return self._script.pop(0)
        return self._always(received) if self._always else default

    async def plain(self, answer: object) -> web.StreamResponse | None:
        """The response to an answer that is the same for every service; None for others."""
        match answer:
            case Fail(status, message, headers, body):
                content = self.error_body(status, message) if body is None else body
                return web.json_response(content, status=status, headers=dict(headers))
            case Raw(body, content_type):
                return web.Response(text=body, content_type=content_type)
            case Hang():
                await self._closing.wait()
                return web.Response(status=503)
            case _:
                return None

    async def send_events(
        self,
        request: web.BaseRequest,
        events: Iterable[Any],
        *,
        then: Scripted | None = None,
        done: str | None = None,
    ) -> web.StreamResponse:
        """Server-sent events. `then` says how the stream ends early; `done` is sent at a good end."""
        response = web.StreamResponse(headers={"Content-Type": "text/event-stream"})
        await response.prepare(request)
        for event in events:
            await response.write(f"data: {json.dumps(event, ensure_ascii=False)}\r\n\r\n".encode())
        match then:
            case Cut(clean=False):
                assert request.transport is not None
                request.transport.close()
            case Stall():
                await self._closing.wait()
            case ErrorInStream(status=status):
                body = json.dumps(self.error_body(status, "scripted failure"))
                await response.write(f"data: {body}\r\n\r\n".encode())
            case Cut(clean=True):
                pass
            case _:
                if done is not None:
                    await response.write(f"data: {done}\r\n\r\n".encode())
        return response

    async def _serve(self, request: web.BaseRequest) -> web.StreamResponse:
        raw = await request.read()
        try:
            body = json.loads(raw) if raw else None
            broken = False
        except ValueError:
            body, broken = None, True
        received = Received(request.method, request.path, dict(request.query), dict(request.headers), body)
        async with self._news:
            self.requests.append(received)
            self._news.notify_all()
        try:
            if broken:
                raise Refused(400, "the body is not JSON")
            return await self.handle(request, received)
        except Refused as refusal:
            self.refusals.append(refusal.message)
            content = self.error_body(refusal.status, refusal.message, refusal.code)
            return web.json_response(content, status=refusal.status)


def pieces(text: str, size: int = 5) -> list[str]:
    """A text as a model would stream it."""
    return [text[start : start + size] for start in range(0, len(text), size)]
