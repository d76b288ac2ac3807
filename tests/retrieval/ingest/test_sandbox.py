"""Whatever a worker process does, its own file alone fails, and for the right reason."""

from __future__ import annotations

import asyncio
import os
import signal
import subprocess
import sys
import textwrap
from collections.abc import Awaitable
from pathlib import Path

import psutil
import pytest

from retrieval.documents import ParsedDocument
from retrieval.ingest import sandbox_process
from retrieval.ingest.limits import ParseLimits
from retrieval.ingest.protocol import Reason, Unreadable
from retrieval.ingest.sandbox import PoolClosed
from tests.data import DATA, ROOT
from tests.retrieval.ingest.parse.office_files import docx, paragraph
from tests.retrieval.ingest.parse.pdf_files import PdfPage, pdf
from tests.retrieval.ingest.pools import Make, do, until, workers

linux = pytest.mark.skipif(sys.platform != "linux", reason="Linux sees to it")


def _much(_: object) -> float:
    return 5000.0


async def test_files_are_parsed_in_a_process_that_is_used_again(make: Make, tmp_path: Path) -> None:
    pool, path = make(), tmp_path / "upload"
    for name, data in {
        "a.txt": b"Plain words",
        "a.docx": docx(paragraph("Leave", "Heading1"), paragraph("Thirty days")),
        "a.pdf": pdf(PdfPage().text("On a page")),
        "a.html": b"<h1>Leave</h1><p>Thirty days",
    }.items():
        path.write_bytes(data)
        document = await pool.parse(path, name)
        assert isinstance(document, ParsedDocument)
        assert document.sections
    assert len(workers()) == 1
    assert (await pool.parse(path, "a.html", parser="html-full")).parser == "html-full/1"
    assert (await pool.parse(path, "a.html", parser="pdf-text")).parser == "html/1"


@pytest.mark.parametrize(
    ("deed", "reason"),
    [
        ("abort", "corrupt"),
        ("leave", "corrupt"),
        ("crash", "corrupt"),
        ("fault", "corrupt"),
        ("recurse", "too_large"),
        ("abort_for_memory", "too_large"),
        ("send_too_much", "too_large"),
        ("send_nonsense", "corrupt"),
        pytest.param("take_memory", "too_large", marks=linux),
    ],
)
async def test_what_a_worker_does_fails_its_own_file_only(
    bad: Make, file: Path, deed: str, reason: Reason
) -> None:
    pool = bad()
    with pytest.raises(Unreadable) as refusal:
        await do(pool, deed, file)
    assert refusal.value.reason == reason
    assert "secret" not in refusal.value.detail
    assert await do(pool, "print_much", file) == "printed"


@pytest.mark.parametrize("deed", ["hang", "hang_in_native_code"])
async def test_a_worker_that_hangs_is_ended_in_time(bad: Make, file: Path, deed: str) -> None:
    pool = bad()
    await pool.warm()
    pool.limits = ParseLimits(seconds=0.2)
    (hanging,) = workers()
    with pytest.raises(Unreadable, match="timeout"):
        await do(pool, deed, file)
    await until(lambda: hanging not in workers())


async def test_a_worker_that_holds_too_much_is_ended(
    bad: Make, file: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(sandbox_process.WorkerProcess, "memory_mb", _much)
    monkeypatch.setattr(sandbox_process, "_WATCH_SECONDS", 0.01)
    with pytest.raises(Unreadable, match="too_large"):
        await do(bad(), "hang", file)


async def test_cancelling_ends_the_worker_and_frees_its_place(bad: Make, file: Path) -> None:
    pool = bad()
    await pool.warm()
    (hanging,) = workers()
    task = asyncio.create_task(do(pool, "hang", file))
    await asyncio.sleep(0.05)
    task.cancel()
    with pytest.raises(asyncio.CancelledError):
        await task
    await until(lambda: hanging not in workers())
    assert await do(pool, "print_much", file) == "printed"


async def test_waiting_for_a_place_can_be_cancelled(bad: Make, file: Path) -> None:
    pool = bad()
    hanging = asyncio.create_task(do(pool, "hang", file))
    waiting = asyncio.create_task(do(pool, "where", file))
    await until(lambda: bool(workers()))
    waiting.cancel()
    hanging.cancel()
    await asyncio.gather(hanging, waiting, return_exceptions=True)
    assert await do(pool, "print_much", file) == "printed"


async def test_no_more_processes_than_asked_for(bad: Make, file: Path) -> None:
    pool = bad(workers=2)
    said = await asyncio.gather(*(do(pool, "where", file) for _ in range(12)))
    assert len({line.split()[0] for line in said}) <= 2


async def test_workers_are_renewed_after_so_many_files_and_when_they_have_grown(
    bad: Make, file: Path
) -> None:
    pool = bad(files_per_worker=2)
    first, second, third = [await do(pool, "where", file) for _ in range(3)]
    assert first == second != third
    pool = bad(recycle_mb=150)
    before = await do(pool, "where", file)
    assert await do(pool, "grow", file) == "grown"
    assert await do(pool, "where", file) != before


async def test_an_idle_pool_has_no_process(bad: Make, file: Path) -> None:
    pool = bad(idle_seconds=0)
    await do(pool, "where", file)
    await until(lambda: not workers())
    assert await do(pool, "print_much", file) == "printed"


async def test_an_idle_worker_that_was_killed_is_replaced(bad: Make, file: Path) -> None:
    pool = bad()
    pid = int((await do(pool, "where", file)).split()[0])
    os.kill(pid, signal.SIGKILL)
    await until(lambda: pid not in workers())
    await asyncio.sleep(0.05)
    assert await do(pool, "print_much", file) == "printed"


async def test_closing_ends_what_is_in_work(bad: Make, file: Path) -> None:
    pool = bad(workers=2)
    await do(pool, "where", file)
    task = asyncio.create_task(do(pool, "hang", file))
    await asyncio.sleep(0.05)
    await pool.aclose()
    with pytest.raises(PoolClosed):
        await task
    with pytest.raises(PoolClosed):
        await do(pool, "where", file)
    assert not workers()


async def test_a_worker_knows_no_secrets_and_yields_to_others(
    bad: Make, file: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("GEMINI_API_KEY", "very-secret")
    monkeypatch.setenv("HTTPS_PROXY", "http://user:password@proxy")
    pool = bad()
    said = await do(pool, "environment", file)
    assert "very-secret" not in said
    assert "password" not in said
    niceness = int((await do(pool, "where", file)).split()[1])
    assert niceness == min(19, os.getpriority(os.PRIO_PROCESS, 0) + 10)


@linux
async def test_a_worker_has_no_network(bad: Make, tmp_path: Path) -> None:
    server = await asyncio.start_server(lambda _, writer: writer.close(), "127.0.0.1", 0)
    path = tmp_path / "port"
    path.write_text(str(server.sockets[0].getsockname()[1]))
    async with server:
        said = await do(bad(), "network", path)
    if said != "no network" and await asyncio.to_thread(subprocess.call, ["unshare", "-rn", "true"]):
        pytest.skip("this system does not let processes give up the network")
    assert said == "no network"


@linux
async def test_a_worker_dies_with_its_parent(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("words")
    script = textwrap.dedent(f"""
        import asyncio, pathlib, psutil
        from retrieval.ingest import sandbox_process
        from retrieval.ingest.sandbox import ParserPool
        sandbox_process.WORKER = "tests.retrieval.ingest.bad_worker"
        async def main():
            pool = ParserPool()
            await pool.warm()
            path = pathlib.Path({str(tmp_path / "file")!r})
            task = asyncio.create_task(pool.parse(path, "hang_in_native_code"))
            await asyncio.sleep(0.1)
            print(psutil.Process().children()[0].pid, flush=True)
            await task
        asyncio.run(main())
    """)
    parent = await asyncio.create_subprocess_exec(
        sys.executable, "-c", script, stdout=asyncio.subprocess.PIPE, cwd=ROOT
    )
    assert parent.stdout
    worker = psutil.Process(int(await parent.stdout.readline()))
    parent.kill()
    await parent.wait()
    await until(lambda: not worker.is_running() or worker.status() == psutil.STATUS_ZOMBIE)


async def test_a_worker_that_does_not_start_is_no_fault_of_the_file(
    make: Make, file: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(sandbox_process, "WORKER", "retrieval.no_such_module")
    with pytest.raises(RuntimeError, match="no_such_module"):
        await make().parse(file, "a.txt")


async def test_files_that_are_missing_or_too_large_need_no_worker(
    make: Make, file: Path, tmp_path: Path
) -> None:
    pool = make(limits=ParseLimits(max_file_bytes=4))
    with pytest.raises(FileNotFoundError):
        await pool.parse(tmp_path / "missing", "a.txt")
    with pytest.raises(Unreadable, match="too_large"):
        await pool.parse(file, "a.txt")
    assert not workers()


async def test_long_documents_arrive_whole(make: Make, tmp_path: Path) -> None:
    path = tmp_path / "long.md"
    path.write_text("\n\n".join(f"# Heading {at}\n\n{'word ' * 200}" for at in range(1500)))
    document = await make().parse(path, "long.md")
    assert [section.heading_path[0] for section in document.sections] == [
        f"Heading {at}" for at in range(1500)
    ]


async def test_the_choice_of_parsers(make: Make) -> None:
    pool = make()
    assert pool.parsers_for("a.pdf") == ["pdf", "pdf-text", "xberg"]
    assert pool.parsers_for("a.docx")[0] == "office"
    assert len(pool.parsers_for("a.docx")) > 1
    assert pool.parsers_for("a.mp4") == []


@pytest.mark.data
@pytest.mark.slow
async def test_files_made_to_do_harm_are_read_or_refused_in_time(make: Make) -> None:
    folder = DATA / "documents" / "adversarial" if DATA else None
    if folder is None:
        pytest.skip("no data")
    pool = make(limits=ParseLimits(seconds=30, memory_mb=1024), workers=2)

    async def attempt(path: Path) -> str:
        try:
            return (await pool.parse(path, path.name)).parser
        except Unreadable as refusal:
            return refusal.reason

    paths = sorted(folder.iterdir())
    outcomes: list[Awaitable[str]] = [attempt(path) for path in paths]
    found = dict(zip([path.name for path in paths], await asyncio.gather(*outcomes), strict=True))
    assert "timeout" not in found.values()
    assert found["bomb_1gb.docx"] == "too_large"
    assert found["handbook-872p.docx"] == found["rows_20k_x10.xlsx"] == "office/1"
    assert found["deep_div_100k.html"] == "html/1"
    wiki = folder.parent / "files" / "wiki.md"
    assert (await pool.parse(wiki, "wiki.md")).sections
