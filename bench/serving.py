"""`kb serve` as a process of its own, to be measured and killed."""

from __future__ import annotations

import asyncio
import os
import signal
import socket
import subprocess
import sys
import time
from collections.abc import Iterable
from dataclasses import dataclass, field
from pathlib import Path
from typing import Protocol

import aiohttp


@dataclass
class Served:
    """`kb serve` in a process of its own."""

    environment: dict[str, str]
    log: Path
    port: int
    process: subprocess.Popen[bytes] | None = None
    starts: list[float] = field(default_factory=list[float])

    async def start(self) -> None:
        began = time.monotonic()
        with self.log.open("ab") as log:
            self.process = await asyncio.to_thread(
                subprocess.Popen,
                [sys.executable, "-m", "bot.cli", "serve"],
                env=self.environment,
                stdout=log,
                stderr=log,
            )
        async with aiohttp.ClientSession() as session:
            for _ in range(1200):
                if self.process.poll() is not None:
                    raise RuntimeError(self.log.read_text()[-3000:])
                try:
                    async with session.get(f"http://127.0.0.1:{self.port}/health") as response:
                        if response.status == 200:
                            self.starts.append(time.monotonic() - began)
                            return
                except aiohttp.ClientError:
                    pass
                await asyncio.sleep(0.1)
        raise RuntimeError("kb serve did not start")

    async def kill(self, number: signal.Signals = signal.SIGKILL) -> None:
        assert self.process is not None
        self.process.send_signal(number)
        await asyncio.to_thread(self.process.wait)


def free_port() -> int:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return int(probe.getsockname()[1])


def with_slow_model(folder: Path, port: int, model: str) -> dict[str, str]:
    """The environment of a server in `folder` whose answers come from `bench.slow_model`, at `model`."""
    return os.environ | {
        "DATA_DIR": str(folder / "data"), "PORT": str(port), "LOG_LEVEL": "info", "LOG_FORMAT": "json",
        "ANSWER_MODEL": "openai:slow", "OPENAI_BASE_URL": model, "OPENAI_API_KEY": "none",
        "FEATURE_FLAG_REPHRASE": "false", "FEATURE_FLAG_DOC_SUMMARIES": "false",
    }  # fmt: skip


class Try(Protocol):
    """One attempt of a platform to tell the bot something."""

    @property
    def seconds(self) -> float: ...

    @property
    def failed(self) -> str | None: ...


def acknowledged(tries: Iterable[Try]) -> str:
    """How soon, in a line."""
    seconds = sorted(one.seconds for one in tries if one.failed is None)
    p50, p95 = (seconds[int(len(seconds) * part)] * 1000 for part in (0.5, 0.95))
    return f"acknowledged: p50 {p50:.0f} ms, p95 {p95:.0f} ms"
