"""Calls a port of another process over a unix socket, with the port's own types on both ends.

The owner of a data folder serves its ports; every other `kb` command gets proxies that look the
same. A call is a POST of JSON; a stream comes back as JSON lines. Types are read from the
annotations of the Protocol, so that a port is described once.
"""

from __future__ import annotations

import collections.abc
import inspect
import json
from collections.abc import AsyncGenerator, AsyncIterator, Callable, Mapping
from contextlib import aclosing
from dataclasses import dataclass
from typing import Any, TypeVar, cast, get_args, get_origin, get_type_hints

import structlog
from aiohttp import ClientError, ClientSession, ClientTimeout, UnixConnector, web
from pydantic import TypeAdapter

from adapters.ports import Refused

log = structlog.get_logger()
P = TypeVar("P")
#: An answer's line may hold a trace with many passages.
MAX_LINE = 64 * 1024 * 1024


class RemoteError(Exception):
    """The other process failed at a call; its log knows why."""


class OwnerGone(Exception):
    """The process that owns the data folder can't be reached or ended during a call."""


@dataclass(frozen=True, slots=True)
class Method:
    """One method of a Protocol: its parameters' types, and what comes back."""

    name: str
    parameters: dict[str, TypeAdapter[Any]]
    result: TypeAdapter[Any]
    stream: bool

    def pack(self, args: tuple[Any, ...], kwargs: dict[str, Any]) -> dict[str, Any]:
        given = dict(zip(self.parameters, args, strict=False)) | kwargs
        return {
            name: self.parameters[name].dump_python(value, mode="json") for name, value in given.items()
        }

    def unpack(self, body: Mapping[str, Any]) -> dict[str, Any]:
        return {name: self.parameters[name].validate_python(value) for name, value in body.items()}


def describe(protocol: type) -> dict[str, Method]:
    """The public methods of a Protocol."""
    methods: dict[str, Method] = {}
    for name, function in inspect.getmembers(protocol, inspect.isfunction):
        if name.startswith("_"):
            continue
        hints = get_type_hints(function)
        returned = hints.pop("return", type(None))
        stream = get_origin(returned) is collections.abc.AsyncIterator
        methods[name] = Method(
            name,
            {parameter: TypeAdapter(hint) for parameter, hint in hints.items()},
            TypeAdapter(get_args(returned)[0] if stream else returned),
            stream,
        )
    return methods


def _line(kind: str, value: Any) -> bytes:
    return json.dumps([kind, value]).encode() + b"\n"


class Served:
    """Ports by name, as routes of an aiohttp application."""

    def __init__(self, ports: Mapping[str, tuple[type, object]]) -> None:
        self._ports = {name: (describe(protocol), port) for name, (protocol, port) in ports.items()}

    def application(self) -> web.Application:
        app = web.Application(client_max_size=MAX_LINE)
        app.router.add_post("/{port}/{method}", self._call)
        return app

    async def _call(self, request: web.Request) -> web.StreamResponse:
        methods, port = self._ports[request.match_info["port"]]
        method = methods[request.match_info["method"]]
        arguments = method.unpack(await request.json())
        response = web.StreamResponse()
        await response.prepare(request)
        try:
            if method.stream:
                events = cast("AsyncGenerator[Any]", getattr(port, method.name)(**arguments))
                async with aclosing(events):  # a caller that goes away cancels the work
                    async for event in events:
                        await response.write(_line("item", method.result.dump_python(event, mode="json")))
                await response.write(_line("end", None))
            else:
                result = await getattr(port, method.name)(**arguments)
                await response.write(_line("result", method.result.dump_python(result, mode="json")))
        except Refused as error:
            await response.write(_line("refused", str(error)))
        except ConnectionError:
            raise  # the caller went away: nobody is left to tell
        except Exception as error:
            log.exception("rpc.failed", port=request.match_info["port"], method=method.name)
            await response.write(_line("failed", f"{type(error).__name__}: {error}"[:500]))
        await response.write_eof()
        return response


class Remote:
    """Makes proxies of the ports that another process serves on a unix socket."""

    def __init__(self, socket_path: str) -> None:
        timeout = ClientTimeout(total=None, connect=5)
        self._session = ClientSession(
            connector=UnixConnector(path=socket_path), timeout=timeout, read_bufsize=MAX_LINE
        )

    async def close(self) -> None:
        await self._session.close()

    def port(self, name: str, protocol: type[P]) -> P:
        return cast("P", _Proxy(self, name, describe(protocol)))

    async def lines(self, port: str, method: Method, body: dict[str, Any]) -> AsyncIterator[Any]:
        """The items of a stream, or the one result of a call."""
        ended = False
        try:
            async with self._session.post(f"http://owner/{port}/{method.name}", json=body) as response:
                if response.status != 200:
                    raise RemoteError(f"{port}.{method.name} answered {response.status}")
                async for line in response.content:
                    kind, value = json.loads(line)
                    match kind:
                        case "refused":
                            raise Refused(value)
                        case "failed":
                            raise RemoteError(value)
                        case "end":
                            ended = True
                        case _:
                            ended = kind == "result"
                            yield method.result.validate_python(value)
        except (ClientError, ConnectionError) as error:
            raise OwnerGone(f"The running Footnote can't be reached: {error}") from error
        if not ended:
            raise OwnerGone("The running Footnote ended before it answered.")


class _Proxy:
    def __init__(self, remote: Remote, port: str, methods: dict[str, Method]) -> None:
        self._remote, self._port, self._methods = remote, port, methods

    def __getattr__(self, name: str) -> Callable[..., Any]:
        method = self._methods.get(name)
        if method is None:
            raise AttributeError(name)

        def stream(*args: Any, **kwargs: Any) -> AsyncIterator[Any]:
            return self._remote.lines(self._port, method, method.pack(args, kwargs))

        async def call(*args: Any, **kwargs: Any) -> Any:
            async for result in stream(*args, **kwargs):
                return result
            return None

        return stream if method.stream else call
