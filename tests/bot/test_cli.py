"""`kb` as people type it, in processes of their own."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
from collections.abc import Generator
from pathlib import Path
from typing import Any

import pytest

from tests.data import ROOT

pytestmark = pytest.mark.xdist_group("app")
KB = [sys.executable, "-m", "bot.cli"]


class Terminal:
    """Runs `kb` with a data folder of its own."""

    def __init__(self, folder: Path, models: Path) -> None:
        self.folder, self.models = folder, models
        own = {
            "DATA_DIR": str(folder / "data"),
            "MODEL_CACHE_DIR": str(models),
            "PORT": "0",
            "COLUMNS": "100",
        }
        self.environment = os.environ | own

    def kb(self, *words: str, code: int = 0) -> str:
        done = subprocess.run(
            [*KB, *words], env=self.environment, cwd=ROOT, capture_output=True, text=True, timeout=120
        )
        assert done.returncode == code, done.stdout + done.stderr
        assert "Traceback" not in done.stderr
        return done.stdout + (done.stderr if code else "")

    def json(self, *words: str) -> Any:
        return json.loads(self.kb(*words, "--json"))


@pytest.fixture(scope="module")
def terminal(tmp_path_factory: pytest.TempPathFactory, models: Path) -> Terminal:
    return Terminal(tmp_path_factory.mktemp("cli"), models)


@pytest.fixture(scope="module")
def demo(terminal: Terminal) -> Generator[str]:
    """What `kb demo` prints up to its first answer; it goes on running."""
    process = subprocess.Popen(
        [*KB, "demo"],
        env=terminal.environment,
        cwd=ROOT,
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.DEVNULL,
        text=True,
    )
    assert process.stdout
    printed = ""
    for line in process.stdout:
        printed += line
        if "Sources" in line:
            break
    yield printed
    process.send_signal(signal.SIGTERM)
    assert process.wait(30) == 0


def test_the_demo_answers_its_question(demo: str) -> None:
    assert "http://127.0.0.1:" in demo
    assert "every 90 days" in demo


def test_other_commands_work_while_the_demo_runs(demo: str, terminal: Terminal) -> None:
    assert demo
    note = terminal.folder / "gate.txt"
    note.write_text("The code of the garden gate is 4711.")
    (item,) = terminal.json("upload", str(note), "--label", "Home")
    assert item["stage"] == "done"
    reply = terminal.json("ask", "What is the code of the garden gate? label:home")
    assert "4711" in reply["text"]
    assert [c["name"] for c in reply["citations"]] == ["gate.txt"]
    hits = terminal.json("search", "garden gate", "--mode", "keyword", "--limit", "2")
    assert hits[0]["lists"]
    (row,) = [line for line in terminal.kb("documents").splitlines() if "gate.txt" in line]
    assert "Deleted gate.txt." in terminal.kb("delete", row.split()[-1])
    for command in ("ask", "search"):
        assert "no knowledge base “attic”" in terminal.kb(command, "gate in:attic", code=1)
    assert "no document" in terminal.kb("delete", "gate.txt", code=1)
    states = {(check["topic"], check["state"]) for check in terminal.json("doctor")}
    assert "problem" not in {state for _, state in states}
    assert "already" in terminal.kb("serve", code=1)


def test_what_goes_wrong_is_one_sentence(tmp_path: Path, models: Path) -> None:
    terminal = Terminal(tmp_path, models)
    scan = tmp_path / "empty.txt"
    scan.touch()
    assert "This file is empty." in terminal.kb("upload", str(scan), code=1)
    missing = terminal.kb("upload", str(tmp_path / "gone.txt"), code=1)
    assert missing.split() == f"✗ There is no file or folder “{tmp_path}/gone.txt”.".split()
    assert "EMBEDDING_MODEL" in run_with(terminal, "ask", "x", EMBEDDING_MODEL="nobody:x")
    assert "GEMINI_API_KEY" in run_with(terminal, "ask", "x", ANSWER_MODEL="gemini:gemini-2.5-flash")
    assert "Redis" in run_with(terminal, "ask", "x", REDIS_URL="redis://127.0.0.1:1/0")
    assert "PUBLIC_URL" in run_with(terminal, "ask", "x", PUBLIC_URL="kb.example")


def run_with(terminal: Terminal, *words: str, **variables: str) -> str:
    changed = Terminal(terminal.folder, terminal.models)
    changed.environment = terminal.environment | variables
    code = 2 if "PUBLIC_URL" in variables else 1
    return changed.kb(*words, code=code)
