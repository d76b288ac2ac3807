"""What people see of an answer, a list or a search in a terminal."""

from __future__ import annotations

import asyncio
import re
import sys
import threading
import unicodedata
from collections.abc import AsyncIterator, Sequence

from rich.console import Console
from rich.markup import escape
from rich.padding import Padding
from rich.progress import BarColumn, MofNCompleteColumn, Progress, SpinnerColumn, TaskID, TextColumn
from rich.status import Status
from rich.table import Table
from rich.text import Text

from adapters.conversation import Delta, Reply, ReplyEvent, Working, place_in
from adapters.forms import Progress as UploadProgress
from adapters.forms import ProgressItem
from adapters.ports import DocumentView, SearchHit
from bot.admin import Check, ReindexProgress
from bot.naming import short_ids

_STAGES = {
    "queued": "waiting", "parsing": "reading", "chunking": "splitting", "embedding": "embedding",
    "indexing": "storing", "done": "done", "failed": "failed", "cancelled": "cancelled",
}  # fmt: skip
_COLOURS = {"done": "green", "failed": "red", "cancelled": "yellow"}
_MARKS = {"fine": ("✓", "green"), "note": ("•", "yellow"), "problem": ("✗", "red")}


def clean(text: str) -> str:
    """Text of documents and models is data: it can't move the cursor or hide what follows."""
    return "".join(c for c in text if c in "\n\t" or unicodedata.category(c) not in ("Cc", "Cf", "Cs"))


def plain(text: str) -> str:
    """Markdown as a terminal shows it best: without the marks of bold text and without escapes."""
    return re.sub(r"\\([\[\]*_`\\])", r"\1", clean(text).replace("**", ""))


def shorten(text: str, width: int) -> str:
    text = " ".join(clean(text).split())
    return text if len(text) <= width else text[: width - 1].rsplit(" ", 1)[0] + "…"


async def show_answer(console: Console, events: AsyncIterator[ReplyEvent]) -> Reply | None:
    """Stream an answer and then its sources. Returns the reply."""
    shown: list[str] = []
    reply: Reply | None = None
    status: Status | None = console.status("Working …") if console.is_terminal else None
    if status:
        status.start()
    try:
        async for event in events:
            match event:
                case Working():
                    if status:
                        status.update(f"{event.text} …")
                case Delta():
                    if status:
                        status.stop()
                        status = None
                    shown.append(event.text)
                    console.print(Text(plain(event.text)), end="", soft_wrap=True)
                case Reply():
                    reply = event
    finally:
        if status:
            status.stop()
    if reply is None:
        return None
    if "".join(shown).strip() != reply.text.strip():
        console.print("\n" if shown else "", end="")
        console.print(Text(plain(reply.text)), soft_wrap=True)
    else:
        console.print()
    _show_sources(console, reply)
    return reply


def _show_sources(console: Console, reply: Reply) -> None:
    if reply.citations:
        console.print("\nSources", style="bold")
    for citation in reply.citations:
        place = citation.place()
        line = Text(f"{citation.number}. ", style="bold")
        line.append(clean(citation.title), style=f"link {citation.url}" if citation.url else "")
        line.append(clean(f" ({citation.name})" if citation.name != citation.title else ""), style="dim")
        line.append(clean(f", {place}") if place else "")
        console.print(line)
        console.print(Padding(Text(f"“{shorten(plain(citation.quote), 300)}”", style="dim"), (0, 0, 0, 3)))
    for note in reply.notes:
        console.print(Text(clean(note), style="dim italic"))
    if reply.reference:
        console.print(Text(f"Reference: {reply.reference}", style="dim"))


def _describe(item: ProgressItem) -> str:
    colour = _COLOURS.get(item.stage, "cyan")
    message = f" [dim]{escape(shorten(item.message, 90))}[/]" if item.message else ""
    return f"{escape(shorten(item.name, 44))} [{colour}]{_STAGES[item.stage]}[/]{message}"


async def show_uploads(
    console: Console, accepted: UploadProgress, updates: AsyncIterator[UploadProgress]
) -> UploadProgress:
    """Progress bars of documents on their way; finished ones are printed once and make room."""
    last = accepted
    printed: set[str] = set()
    columns = (SpinnerColumn(), TextColumn("{task.description}"), BarColumn(24), MofNCompleteColumn())
    with Progress(*columns, console=console, transient=True) as bars:
        overall = bars.add_task("documents", total=None)
        tasks: dict[str, TaskID] = {}
        async for last in _after(accepted, updates):
            finished = [item for item in last.items if item.finished]
            bars.update(overall, completed=len(finished), total=len(last.items))
            for item in last.items:
                if item.finished and item.version_id not in printed:
                    printed.add(item.version_id)
                    mark = {"done": "[green]✓[/]", "failed": "[red]✗[/]"}.get(item.stage, "[yellow]-[/]")
                    bars.console.print(f"{mark} {_describe(item)}")
                    if item.version_id in tasks:
                        bars.remove_task(tasks.pop(item.version_id))
                elif not item.finished and item.stage != "queued":
                    if item.version_id not in tasks:
                        tasks[item.version_id] = bars.add_task("", total=None)
                    total = item.total or None
                    bars.update(
                        tasks[item.version_id],
                        description=_describe(item),
                        completed=item.done,
                        total=total,
                    )
    return last


async def _after(
    first: UploadProgress, updates: AsyncIterator[UploadProgress]
) -> AsyncIterator[UploadProgress]:
    yield first
    async for update in updates:
        yield update


def show_documents(console: Console, documents: Sequence[DocumentView]) -> None:
    if not documents:
        console.print("No documents yet. Add some with: kb upload PATH")
        return
    labelled = any(document.labels for document in documents)
    ids = short_ids([document.document_id for document in documents])
    table = Table(box=None, header_style="bold", pad_edge=False)
    table.add_column("Document", overflow="fold")
    table.add_column("In", overflow="fold")
    if labelled:
        table.add_column("Labels", overflow="fold")
    table.add_column("Status", no_wrap=True)
    for name in ("Version", "Chunks"):
        table.add_column(name, justify="right", no_wrap=True)
    table.add_column("Id", style="dim", no_wrap=True)
    for document in documents:
        labels = [Text(clean(", ".join(document.labels)))] if labelled else []
        table.add_row(
            Text(shorten(document.name, 60)),
            Text(clean(document.knowledge_base)),
            *labels,
            Text(_STAGES[document.state.stage], style=_COLOURS.get(document.state.stage, "cyan")),
            str(document.version),
            str(document.chunks),
            ids[document.document_id],
        )
    console.print(table)


def show_hits(console: Console, hits: Sequence[SearchHit]) -> None:
    if not hits:
        console.print("Nothing found.")
        return
    names = sorted({name for hit in hits for name in hit.lists})
    table = Table(box=None, header_style="bold", pad_edge=False)
    table.add_column("#", justify="right")
    table.add_column("Score", justify="right")
    for name in names:
        table.add_column(re.sub(r":0$", "", name), justify="right")
    table.add_column("Passage")
    for hit in hits:
        page = f", {place_in(hit.name, hit.page, None, ())}" if hit.page else ""
        summary = ", summary of the document" if hit.summary else ""
        where = " > ".join([hit.title, *hit.heading_path][:3]) + page + summary
        ranks = [f"{hit.lists[n][0]} ({hit.lists[n][1]:.3f})" if n in hit.lists else "–" for n in names]
        passage = Text(shorten(where, 90), style="bold").append(
            f"\n{shorten(hit.text, 160)}", style="not bold"
        )
        table.add_row(str(hit.rank), f"{hit.score:.4f}", *ranks, passage)
    console.print(table)


def show_checks(console: Console, checks: Sequence[Check]) -> None:
    topic = ""
    for check in checks:
        if check.topic != topic:
            topic = check.topic
            console.print(f"\n{topic}", style="bold")
        mark, colour = _MARKS[check.state]
        line = Text(f"{mark} ", style=colour).append(f"{check.name}: ", style="bold default")
        console.print(line.append(clean(check.detail), style="not bold default"))
        if check.advice:
            console.print(Padding(Text(clean(check.advice), style="dim"), (0, 0, 0, 4)))


async def show_reindex(console: Console, updates: AsyncIterator[ReindexProgress]) -> None:
    """One bar over all documents."""
    columns = (TextColumn("{task.description}"), BarColumn(24), MofNCompleteColumn())
    last = ReindexProgress(done=0, total=0)
    with Progress(*columns, console=console, transient=True) as bars:
        task = bars.add_task("Rebuilding", total=None)
        async for last in updates:
            bars.update(
                task, completed=last.done, total=last.total, description=escape(shorten(last.name, 40))
            )
    console.print(f"Rebuilt {last.done - last.failed} of {last.total} documents.")


async def questions(console: Console) -> AsyncIterator[str]:
    """What is typed, until the end of the input or "exit".

    Read in a daemon thread, so that a signal ends the process although the read can't be interrupted.
    """
    loop = asyncio.get_running_loop()
    typed: asyncio.Queue[str | None] = asyncio.Queue()

    def read() -> None:
        try:
            for line in sys.stdin:
                loop.call_soon_threadsafe(typed.put_nowait, line.strip())
            loop.call_soon_threadsafe(typed.put_nowait, None)
        except (RuntimeError, ValueError):
            return  # the loop or the input is closed

    threading.Thread(target=read, daemon=True, name="questions").start()
    while True:
        console.print("\n[bold]>[/] ", end="")
        question = await typed.get()
        while question == "":
            question = await typed.get()
        if question is None or question.lower() in ("exit", "quit", ":q"):
            console.print()
            return
        if not console.is_terminal:
            console.print(Text(question))
        yield question
