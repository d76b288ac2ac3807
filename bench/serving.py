"""`kb serve` as a process of its own, to be measured and killed."""

from __future__ import annotations

import asyncio
import signal
import socket
import subprocess
import sys
import time
from dataclasses import dataclass, field
from pathlib import Path

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
