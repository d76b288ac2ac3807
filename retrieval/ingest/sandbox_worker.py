"""The process that parses: reads requests from stdin, answers in frames on what was its stdout.

A request is a line of JSON: `path`, `name` and `parser`; or `path`, `page` and what is wanted of a page,
which RESULT answers; or `warm`, which HELLO answers. A frame is a tag (one byte), a length (four bytes,
big-endian) and a payload: any number of SECTIONS, then one DOCUMENT or one REFUSAL.
"""

from __future__ import annotations

import ctypes
import json
import os
import queue
import signal
import struct
import sys
import threading
from collections.abc import Iterator
from dataclasses import astuple
from typing import Any, BinaryIO, NoReturn

from pydantic import TypeAdapter

from retrieval.documents import ParsedDocument, Section
from retrieval.ingest.limits import MIB, ParseLimits
from retrieval.ingest.protocol import Unreadable

HELLO, SECTIONS, DOCUMENT, RESULT, REFUSAL = b"H", b"S", b"D", b"P", b"R"
HEADER = struct.Struct(">cI")
SECTION_LIST = TypeAdapter(tuple[Section, ...])

#: Characters of text a frame holds at least, so that reading one blocks nobody for long.
_FRAME_CHARS = 200_000
#: Bytes a file that the process writes may have: enough for bytecode, too few to fill a disk.
_MAX_WRITTEN = 4 * MIB
_PR_SET_PDEATHSIG, _PR_SET_NO_NEW_PRIVS = 1, 38
_CLONE_NEWUSER, _CLONE_NEWNET = 0x10000000, 0x40000000


def main() -> NoReturn:
    """`sys.argv`: the parent's process id, the limits as JSON."""
    confine(int(sys.argv[1]), limits := ParseLimits.model_validate_json(sys.argv[2]))
    answers = os.fdopen(os.dup(1), "wb", buffering=0)
    os.dup2(2, 1)  # What libraries print is no answer.
    requests: queue.SimpleQueue[dict[str, Any]] = queue.SimpleQueue()
    threading.Thread(target=_listen, args=(sys.stdin.buffer, requests), daemon=True).start()
    _send(answers, HELLO, b"")
    while True:
        for tag, payload in answer(requests.get(), limits):
            _send(answers, tag, payload)


def answer(request: dict[str, Any], limits: ParseLimits) -> Iterator[tuple[bytes, bytes]]:
    """The frames that answer one request."""
    from retrieval.ingest.parse import parse
    from retrieval.ingest.parse.registry import import_usual

    if request.get("warm"):
        import_usual()
        yield HELLO, b""
        return
    try:
        with open(request["path"], "rb") as file:
            data = file.read(limits.max_file_bytes + 1)
        if "page" in request:
            yield RESULT, look(data, request)
            return
        document = parse(request["name"], data, parser=request["parser"], limits=limits)
    except Unreadable as refusal:
        yield _refusal(refusal)
    except (MemoryError, RecursionError) as error:
        yield _refusal(Unreadable("too_large", type(error).__name__))
    except Exception as error:
        # A fault of a parser is met like a damaged file: it fails that file alone.
        yield _refusal(Unreadable("corrupt", _told(error)))
    else:
        yield from _frames(document)


def look(data: bytes, request: dict[str, Any]) -> bytes:
    """A page of a PDF as PNG, `width` pixels wide; or the boxes of `quote` on it, as JSON."""
    from retrieval.pages import pdf

    try:
        if "quote" in request:
            boxes = pdf.locate(data, request["page"], request["quote"])
            return json.dumps([astuple(box) for box in boxes]).encode()
        return pdf.render(data, request["page"], width=request["width"])
    except pdf.NoSuchPage as error:
        raise Unreadable("unsupported", str(error)) from error


def confine(parent: int, limits: ParseLimits) -> None:
    """Gives up what a parser does not need: priority, network, more memory, a life after its parent's."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    if hasattr(os, "nice"):
        os.nice(10)
    if sys.platform == "linux":
        libc = ctypes.CDLL(None, use_errno=True)
        # Without privileges it takes a user namespace too; where neither is allowed, dead proxies must do.
        _ = libc.unshare(_CLONE_NEWNET) == 0 or libc.unshare(_CLONE_NEWUSER | _CLONE_NEWNET)
        libc.prctl(_PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0)
        libc.prctl(_PR_SET_PDEATHSIG, signal.SIGKILL, 0, 0, 0)
        if os.getppid() != parent:
            os._exit(0)
    if sys.platform != "win32":
        import resource

        resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
        resource.setrlimit(resource.RLIMIT_FSIZE, (_MAX_WRITTEN, _MAX_WRITTEN))
        memory = limits.memory_mb * MIB
        # The data segment counts what is written, not address space that is only set aside.
        resource.setrlimit(resource.RLIMIT_DATA, (memory, memory))


def _listen(requests: BinaryIO, into: queue.SimpleQueue[dict[str, Any]]) -> None:
    for line in requests:
        into.put(json.loads(line))
    os._exit(0)  # The parent is gone or wants no more; native libraries may abort in a tidy exit.


def _frames(document: ParsedDocument) -> Iterator[tuple[bytes, bytes]]:
    batch: list[Section] = []
    chars = 0
    for section in document.sections:
        batch.append(section)
        chars += len(section.markdown)
        if chars >= _FRAME_CHARS:
            yield SECTIONS, SECTION_LIST.dump_json(tuple(batch))
            batch, chars = [], 0
    yield SECTIONS, SECTION_LIST.dump_json(tuple(batch))
    yield DOCUMENT, document.model_copy(update={"sections": ()}).model_dump_json().encode()


def _refusal(refusal: Unreadable) -> tuple[bytes, bytes]:
    return REFUSAL, json.dumps([refusal.reason, refusal.detail]).encode()


def _told(error: BaseException) -> str:
    """Where a fault happened, without what the document says."""
    trace = error.__traceback__
    while trace is not None and trace.tb_next is not None:
        trace = trace.tb_next
    where = f" at {os.path.basename(trace.tb_frame.f_code.co_filename)}:{trace.tb_lineno}" if trace else ""
    return type(error).__name__ + where


def _send(answers: BinaryIO, tag: bytes, payload: bytes) -> None:
    data = memoryview(HEADER.pack(tag, len(payload)) + payload)
    while data:
        data = data[answers.write(data) :]


if __name__ == "__main__":
    main()
