"""The parent's end of the process that embeds in bulk (see bulk_worker.py)."""

from __future__ import annotations

import contextlib
import json
import socket
import subprocess
import threading
from collections.abc import Sequence
from multiprocessing.connection import Connection
from pathlib import Path
from typing import Final

import numpy as np

from retrieval.models.local.child import python_module
from retrieval.models.local.store import graph_file
from retrieval.models.local.weights import NAME, locate
from retrieval.models.protocol import ErrorKind, ModelError, Vectors

#: The first byte of an answer: float32 rows follow, or JSON of a `ModelError`'s kind and message.
VECTORS: Final = b"V"
FAILURE: Final = b"F"
#: Seconds for one request at most, the start of the process included: minutes on a machine that is busy
#: with something else all the time, since the process steps back from everything.
_PATIENCE: Final = 300.0
_END_SECONDS: Final = 5.0


class BulkProcess:
    """Starts the process when there is something to embed. For one thread at a time; waits without
    the GIL.

    The process shares the parent's session, because Linux weighs niceness only within one when it groups
    processes by session (`sched_autogroup`).
    """

    def __init__(self, cache: Path, threads: int) -> None:
        self._cache = cache
        self._threads = threads
        self._process: subprocess.Popen[bytes] | None = None
        self._connection: Connection | None = None

    @property
    def pid(self) -> int | None:
        """None while there is no process."""
        return None if self._process is None else self._process.pid

    def encode(self, texts: Sequence[str]) -> Vectors:
        """Unit vectors of passages, shape (len(texts), dimension).

        Raises `ModelError`: "timeout"; "unavailable" when the process dies twice, or can't be started;
        and what loading the model raises.
        """
        request = json.dumps(list(texts)).encode()
        try:
            answer = self._ask(request)
        except (EOFError, OSError):
            # It was idle and has just ended, or it was killed. What ends the next one too is no accident.
            self.close()
            try:
                answer = self._ask(request)
            except (EOFError, OSError) as error:
                self.close()
                raise self._error("unavailable", "The process that embeds documents ended.") from error
        if answer[:1] == FAILURE:
            self.close()
            kind, message = json.loads(answer[1:])
            raise self._error(kind, message)
        return np.frombuffer(answer, np.float32, offset=1).reshape(len(texts), -1)

    def close(self) -> None:
        """Ends the process, at once or after the text in hand."""
        process, connection = self._process, self._connection
        self._process = self._connection = None
        if connection is not None:
            connection.close()
        if process is not None:
            with contextlib.suppress(subprocess.TimeoutExpired):
                process.wait(_END_SECONDS)
            process.kill()
            process.wait()

    def forget(self) -> None:
        """In a forked child: leaves the process to the parent, whose end of the connection stays open."""
        if self._connection is not None:
            self._connection.close()
        self._connection = None

    def _ask(self, request: bytes) -> bytes:
        connection = self._connection or self._start()
        connection.send_bytes(request)
        if not connection.poll(_PATIENCE):
            if self._process is not None:
                self._process.kill()
            self.close()
            raise self._error("timeout", f"A passage was not embedded within {_PATIENCE:g} s.")
        return connection.recv_bytes()

    def _start(self) -> Connection:
        graph_file(self._cache, *locate())  # Building it at a low priority could take minutes.
        ours, theirs = socket.socketpair()
        with theirs:
            command, environment = python_module(
                "retrieval.models.local.bulk_worker", theirs.fileno(), self._cache, self._threads
            )
            try:
                self._process = subprocess.Popen(
                    command,
                    env=environment,
                    pass_fds=(theirs.fileno(),),
                    stdin=subprocess.DEVNULL,
                    stdout=subprocess.DEVNULL,
                )
            except OSError:
                ours.close()
                raise
        # So that none is left over as a zombie when it ends by itself.
        threading.Thread(target=self._process.wait, name="e5-reaper", daemon=True).start()
        self._connection = Connection(ours.detach())
        return self._connection

    def _error(self, kind: ErrorKind, message: str) -> ModelError:
        return ModelError(kind, message, model=f"local:{NAME}")
