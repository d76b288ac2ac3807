"""`kb`: the command line."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from pathlib import Path
from typing import Annotated, Any

import typer
from rich.markup import escape

from adapters.conversation import Reply
from adapters.forms import Progress
from adapters.ports import Actor, AudienceChoice, Refused, SearchMode, UploadOptions
from bot import __version__, demo, eval_commands, slack_commands, teams_commands, terminal
from bot.config import Config
from bot.connect import PORTS, Knowledge, choose_workspace, connect, local_actor
from bot.console import AsJson, Workspace, dump, err, must_exist, out, run, with_actor
from bot.naming import named
from bot.talk import converse, turn_of

app = typer.Typer(no_args_is_help=True, add_completion=False, pretty_exceptions_enable=False)


async def final_reply(events: AsyncIterator[Any]) -> Reply:
    return [event async for event in events if isinstance(event, Reply)][-1]


@app.command()
def ask(
    question: Annotated[str, typer.Argument(help="May hold in:NAME, label:NAME, from:NAME, after:DATE.")],
    workspace: Workspace = None,
    with_demo: Annotated[bool, typer.Option("--demo", help="Load the example handbook first.")] = False,
    as_json: AsJson = False,
) -> None:
    """Answer one question from the documents, with its sources."""

    async def work(knowledge: Knowledge, actor: Actor) -> None:
        if with_demo:
            await finish_uploads(
                knowledge, actor, await demo.load_handbook(knowledge.documents, actor), quiet=as_json
            )
        events = knowledge.answers.answer(turn_of(actor, question))
        if as_json:
            reply: Reply | None = await final_reply(events)
            dump(reply.model_dump(mode="json"))
        else:
            reply = await terminal.show_answer(out, events)
        if reply is None or reply.refused or reply.kind == "apology":
            raise typer.Exit(1)

    with_actor(work, demo.WORKSPACE if with_demo and workspace is None else workspace)


async def finish_uploads(
    knowledge: Knowledge, actor: Actor, accepted: Progress, *, quiet: bool = False
) -> Progress:
    """Wait for accepted documents, with progress bars unless `quiet`."""
    updates = knowledge.documents.watch(actor, [item.version_id for item in accepted.items])
    if quiet:
        return [accepted, *[update async for update in updates]][-1]
    return await terminal.show_uploads(err, accepted, updates)


@app.command()
def upload(
    paths: Annotated[list[Path], typer.Argument(help="Files and folders.")],
    workspace: Workspace = None,
    knowledge_base: Annotated[str | None, typer.Option("--to", help="Knowledge base.")] = None,
    label: Annotated[list[str] | None, typer.Option(help="May be given several times.")] = None,
    audience: Annotated[
        AudienceChoice,
        typer.Option(help="Who may read it: everyone, person (you), shareable (guests too)."),
    ] = "everyone",
    keep_both: Annotated[
        bool, typer.Option("--keep-both", help="A file of the same name stays beside the old one.")
    ] = False,
    as_json: AsJson = False,
) -> None:
    """Add documents. A file of the same name becomes the new version of the old one."""
    must_exist(paths)

    async def work(knowledge: Knowledge, actor: Actor) -> None:
        files = demo.files_in(paths)
        if not files:
            raise Refused("There are no files in what you gave.")
        options = UploadOptions(
            knowledge_base=knowledge_base,
            labels=tuple(label or ()),
            audience=audience,
            same_name="keep_both" if keep_both else "replace",
        )
        accepted = await knowledge.documents.upload(actor, files, options)
        items = (await finish_uploads(knowledge, actor, accepted, quiet=as_json)).items
        if as_json:
            dump([item.model_dump(mode="json") for item in items])
        failed = sum(item.stage == "failed" for item in items)
        if not as_json:
            err.print(f"{len(items) - failed} of {len(items)} documents are searchable.")
        if failed:
            raise typer.Exit(1)

    with_actor(work, workspace)


@app.command()
def documents(workspace: Workspace = None, as_json: AsJson = False) -> None:
    """List the documents and their status."""

    async def work(knowledge: Knowledge, actor: Actor) -> None:
        found = await knowledge.documents.list(actor)
        if as_json:
            dump([document.model_dump(mode="json") for document in found])
        else:
            terminal.show_documents(out, found)

    with_actor(work, workspace)


@app.command()
def delete(
    names: Annotated[list[str], typer.Argument(help="File names, or ids or their beginnings.")],
    workspace: Workspace = None,
) -> None:
    """Delete documents with all their traces."""

    async def work(knowledge: Knowledge, actor: Actor) -> None:
        found = await knowledge.documents.list(actor)
        for name in names:
            document = named(found, name)
            await knowledge.documents.delete(actor, document.document_id)
            out.print(f"Deleted {escape(document.name)}.")

    with_actor(work, workspace)


@app.command()
def search(
    query: str,
    mode: Annotated[SearchMode, typer.Option(help="Which lists are searched.")] = "hybrid",
    limit: Annotated[int, typer.Option(min=1, max=50)] = 10,
    workspace: Workspace = None,
    as_json: AsJson = False,
) -> None:
    """Show what is found, with rank and score in each list, to see why."""

    async def work(knowledge: Knowledge, actor: Actor) -> None:
        hits = await knowledge.documents.search(actor, query, mode=mode, limit=limit)
        if as_json:
            dump([hit.model_dump(mode="json") for hit in hits])
        else:
            terminal.show_hits(out, hits)

    with_actor(work, workspace)


@app.command()
def reindex() -> None:
    """Rebuild the index from the stored text, e.g. for another embedding model."""

    async def work(config: Config) -> None:
        async with connect(config, rebuilding=True) as knowledge:
            await terminal.show_reindex(err, knowledge.admin.reindex())

    run(work)


@app.command()
def doctor(workspace: Workspace = None, as_json: AsJson = False) -> None:
    """Tell what is set and what is missing, and try each model and store."""

    async def work(config: Config) -> None:
        from bot.doctor import examine

        checks = await examine(config, workspace)
        if as_json:
            dump([check.model_dump(mode="json") for check in checks])
        else:
            terminal.show_checks(out, checks)
        if any(check.state == "problem" for check in checks):
            raise typer.Exit(1)

    run(work)


@app.command(name="demo")
def demo_command() -> None:
    """Load the example handbook, serve the page, answer a question, then wait for yours."""

    async def work(config: Config) -> None:
        from bot.serve import alone, serving, stopped

        stop = stopped()
        async with alone(config) as bot, serving(bot, config, workspace=demo.WORKSPACE) as address:
            knowledge = Knowledge(**{name: getattr(bot, name) for name in PORTS})
            actor = local_actor(await choose_workspace(knowledge, demo.WORKSPACE))
            err.print("Loading the example handbook …")
            await finish_uploads(knowledge, actor, await demo.load_handbook(knowledge.documents, actor))
            out.print(f"\nThe page: [bold]{address}[/]")
            talking = asyncio.create_task(converse(out, knowledge.answers, actor))
            ended = asyncio.create_task(stop.wait())
            await asyncio.wait([talking, ended], return_when=asyncio.FIRST_COMPLETED)
            if talking.done() and not await talking:  # nobody types here: the page may still be used
                await ended
            for task in (talking, ended):
                task.cancel()

    run(work)


@app.command()
def serve() -> None:
    """Serve the page for your documents until it is stopped, with health, metrics and the ingest."""
    from bot.serve import serve as serve_forever

    run(serve_forever, serving=True)


@app.command()
def worker() -> None:
    """Only work on documents, beside one or more `kb serve` (needs REDIS_URL, QDRANT_URL, FILES_URL)."""
    from bot.serve import work as work_forever

    run(work_forever, serving=True)


eval_commands.register(app)
slack_commands.register(app)
teams_commands.register(app)


@app.command()
def version() -> None:
    """Print the version."""
    out.print(__version__)


def main() -> None:
    app(prog_name="kb")


if __name__ == "__main__":
    main()
