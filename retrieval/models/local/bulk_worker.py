"""The process that embeds passages in bulk, below everything else that the machine does.

Run as a module with the number of an inherited socket, the cache folder and the number of threads. A
request is a JSON list of texts; for answers see bulk.py. It ends when its parent does, and when nothing is
asked for a while.
"""

from __future__ import annotations

import contextlib
import json
import os
import signal
import sys
from multiprocessing.connection import Connection
from pathlib import Path
from typing import Final

from retrieval.models.local.bulk import FAILURE, VECTORS
from retrieval.models.local.encoder import Encoder
from retrieval.models.protocol import ModelError

#: A quarter of a processor when a question wants it too, all of it otherwise. With 10, as parsers have it,
#: an upload stood still on a machine that was busy with something else, and questions gained nothing.
NICENESS: Final = 5
#: After that long without a request the memory is worth more than the second that starting takes.
IDLE_SECONDS: Final = 30.0


def serve(connection: Connection, encoder: Encoder, idle_seconds: float = IDLE_SECONDS) -> None:
    """Answer until the other end closes or is silent for `idle_seconds`."""
    with contextlib.suppress(EOFError, ConnectionError):
        while connection.poll(idle_seconds):
            texts: list[str] = json.loads(connection.recv_bytes())
            rows = [encoder.encode(text, "passage").tobytes() for text in texts]
            connection.send_bytes(VECTORS + b"".join(rows))


def main(descriptor: int, cache: Path, threads: int) -> None:
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # Ctrl-C is for the parent, which then ends this one.
    os.nice(NICENESS)
    with Connection(descriptor) as connection:
        try:
            encoder = Encoder(cache, threads)
        except ModelError as error:
            with contextlib.suppress(ConnectionError):
                connection.send_bytes(FAILURE + json.dumps([error.kind, str(error)]).encode())
        else:
            serve(connection, encoder)


if __name__ == "__main__":
    main(int(sys.argv[1]), Path(sys.argv[2]), int(sys.argv[3]))
