"""One worker process, seen from its parent: start it, have it parse a file, end it."""

from __future__ import annotations

import asyncio
import json
import os
import re
import sys
from collections.abc import Coroutine
from contextlib import suppress
from pathlib import Path
from typing import Any, TypeVar

import psutil

import retrieval
from retrieval.documents import ParsedDocument, Section
from retrieval.ingest.limits import MIB, ParseLimits
from retrieval.ingest.protocol import Unreadable
from retrieval.ingest.sandbox_worker import DOCUMENT, HEADER, HELLO, REFUSAL, RESULT, SECTION_LIST, SECTIONS

#: The module that runs in the process.
WORKER = "retrieval.ingest.sandbox_worker"
_START_SECONDS = 60.0
_END_SECONDS = 2.0
#: How often a worker's memory is looked at while it parses.
_WATCH_SECONDS = 0.2
_TAIL_BYTES = 4096
#: A sign in what a dying worker prints that it asked for more memory than it may have.
_OUT_OF_MEMORY = re.compile(
    rb"memory allocation of|out of memory|bad_alloc|MemoryError|cannot allocate", re.I
)
#: Share of the memory limit at which a death without a word is put down to it.
_NEAR_LIMIT = 0.8
#: JSON takes at most this many bytes for a character of text, headings and the rest aside.
_BYTES_A_CHAR = 6
#: What a worker is told of the environment. Keys and tokens are no business of a parser.
_ENVIRONMENT = re.compile(
    r"PATH|LANG|LC_\w+|TZ|TMPDIR|TEMP|TMP|SYSTEMROOT|HOME|USERPROFILE|LD_LIBRARY_PATH"
)
_NOWHERE = "http://127.0.0.1:9"
#: Bytes that a picture of a page may have.
_MAX_RESULT = 64 * MIB

T = TypeVar("T")


class WorkerDied(Exception):
    """The process ended without an answer. `out_of_memory` tells whether that is why."""

    def __init__(self, *, out_of_memory: bool, detail: str) -> None:
        self.out_of_memory = out_of_memory
        super().__init__(detail)


class WorkerProcess:
    """Made by `start`. It parses one file at a time."""

    def __init__(self, process: asyncio.subprocess.Process, limits: ParseLimits) -> None:
        assert process.stdin
        assert process.stdout
        assert process.stderr
        self._process = process
        self._limits = limits
        self._requests, self._answers = process.stdin, process.stdout
        self._tail = b""
        self._drain = asyncio.create_task(self._keep_tail(process.stderr))
        self._peak = 0
        self.files = 0
        #: Part of an answer is still to come that nobody waits for.
        self.spoiled = False

    @classmethod
    async def start(cls, limits: ParseLimits) -> WorkerProcess:
        """Raises `RuntimeError` when it does not come up."""
        process = await asyncio.create_subprocess_exec(
            sys.executable, "-P", "-m", WORKER, str(os.getpid()), limits.model_dump_json(),
            stdin=asyncio.subprocess.PIPE, stdout=asyncio.subprocess.PIPE, stderr=asyncio.subprocess.PIPE,
            env=_environment(), start_new_session=True,
        )  # fmt: skip
        worker = cls(process, limits)
        try:
            async with asyncio.timeout(_START_SECONDS):
                tag, _ = await worker._frame(0)
            if tag != HELLO:
                raise RuntimeError(f"unexpected {tag!r}")
        except BaseException as error:
            await worker.kill()
            if isinstance(error, Exception):
                raise RuntimeError(f"the parser process did not start: {worker.said}") from error
            raise
        return worker

    @property
    def pid(self) -> int:
        return self._process.pid

    @property
    def usable(self) -> bool:
        return self._process.returncode is None and not self.spoiled

    @property
    def said(self) -> str:
        """The end of what it printed."""
        return self._tail.decode("utf-8", "replace").strip()[-500:]

    def memory_mb(self) -> float:
        """What it holds in memory now; 0 when it is gone."""
        try:
            return psutil.Process(self.pid).memory_info().rss / MIB
        except psutil.Error:
            return 0.0

    async def warm(self) -> None:
        """Has it import the usual parsers. Raises `WorkerDied`, and `TimeoutError`."""
        async with asyncio.timeout(_START_SECONDS):
            await self._watched({"warm": True}, self._frame(0))

    async def parse(self, path: Path, name: str, parser: str | None) -> ParsedDocument:
        """Raises `Unreadable`; and `WorkerDied`, after which it is of no more use."""
        return await self._watched(_request(path, name, parser), self._answer())

    async def look(self, path: Path, request: dict[str, object]) -> bytes:
        """A picture of a page, or where words stand on it. Raises as `parse`."""
        return await self._watched(_at(path) | request, self._result())

    async def _watched(self, request: dict[str, object], answer: Coroutine[Any, Any, T]) -> T:
        self.files += 1
        self._peak = 0
        watch = asyncio.create_task(self._watch())
        try:
            await self._ask(request)
            return await answer
        except (asyncio.IncompleteReadError, ConnectionError) as error:
            raise await self._died() from error
        finally:
            watch.cancel()
            answer.close()

    async def close(self) -> None:
        """Lets it end by itself, for a moment."""
        self._requests.close()
        with suppress(TimeoutError):
            async with asyncio.timeout(_END_SECONDS):
                await self._process.wait()
        await self.kill()

    async def kill(self) -> None:
        if self._process.returncode is None:
            with suppress(ProcessLookupError):
                self._process.kill()
        await self._process.wait()
        await self._drain

    async def _ask(self, request: dict[str, object]) -> None:
        self._requests.write(json.dumps(request).encode() + b"\n")
        await self._requests.drain()

    async def _answer(self) -> ParsedDocument:
        sections: list[Section] = []
        left = _BYTES_A_CHAR * self._limits.max_text_chars + 16 * MIB
        while True:
            tag, payload = await self._frame(left)
            left -= len(payload)
            if tag == SECTIONS:
                sections.extend(SECTION_LIST.validate_json(payload))
            elif tag == DOCUMENT:
                document = ParsedDocument.model_validate_json(payload)
                return document.model_copy(update={"sections": tuple(sections)})
            else:
                raise _unwanted(tag, payload)

    async def _result(self) -> bytes:
        tag, payload = await self._frame(_MAX_RESULT)
        if tag != RESULT:
            raise _unwanted(tag, payload)
        return payload

    async def _frame(self, most: int) -> tuple[bytes, bytes]:
        tag, length = HEADER.unpack(await self._answers.readexactly(HEADER.size))
        if length > most:
            self.spoiled = True
            raise Unreadable("too_large", "more output than is allowed")
        return tag, await self._answers.readexactly(length)

    async def _watch(self) -> None:
        """Ends the process when it holds more than its limit, where the system does not see to it."""
        while True:
            await asyncio.sleep(_WATCH_SECONDS)
            held = self.memory_mb()
            self._peak = max(self._peak, held)
            if held > self._limits.memory_mb and self._process.returncode is None:
                self._process.kill()

    async def _died(self) -> WorkerDied:
        await self.kill()
        out_of_memory = (
            self._peak > _NEAR_LIMIT * self._limits.memory_mb
            or _OUT_OF_MEMORY.search(self._tail) is not None
        )
        return WorkerDied(
            out_of_memory=out_of_memory, detail=f"exit {self._process.returncode}: {self.said}"
        )

    async def _keep_tail(self, stream: asyncio.StreamReader) -> None:
        while chunk := await stream.read(_TAIL_BYTES):
            self._tail = (self._tail + chunk)[-_TAIL_BYTES:]


def _unwanted(tag: bytes, payload: bytes) -> Exception:
    """What to raise for a frame that ends an answer without giving it."""
    if tag == REFUSAL:
        reason, detail = json.loads(payload)
        return Unreadable(reason, detail)
    return WorkerDied(out_of_memory=False, detail=f"unexpected {tag!r}")


def _request(path: Path, name: str, parser: str | None) -> dict[str, object]:
    return _at(path) | {"name": name, "parser": parser}


def _at(path: Path) -> dict[str, object]:
    return {"path": os.path.abspath(path)}


def _environment() -> dict[str, str]:
    kept = {key: value for key, value in os.environ.items() if _ENVIRONMENT.fullmatch(key.upper())}
    home = str(Path(retrieval.__file__).parent.parent)
    return kept | {
        "PYTHONPATH": os.pathsep.join(dict.fromkeys([home, *filter(None, sys.path)])),
        "PYTHONUTF8": "1",
        "MALLOC_ARENA_MAX": "2",
        "OMP_NUM_THREADS": "1",
        "RAYON_NUM_THREADS": "1",
        "TOKIO_WORKER_THREADS": "1",
        "HF_HUB_OFFLINE": "1",
        "NO_PROXY": "",
        **{name: _NOWHERE for scheme in ("HTTP", "HTTPS", "ALL") for name in _proxy_names(scheme)},
    }


def _proxy_names(scheme: str) -> tuple[str, str]:
    return f"{scheme}_PROXY", f"{scheme}_proxy".lower()
