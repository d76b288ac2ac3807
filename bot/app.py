"""Puts the bot together: the one place that knows every part."""

from __future__ import annotations

import asyncio
import shutil
from collections.abc import AsyncGenerator
from contextlib import AsyncExitStack, asynccontextmanager
from dataclasses import dataclass
from pathlib import Path

import structlog

from adapters.durable import Inbox, Notes
from adapters.ports import (
    Answers,
    Documents,
    FeedbackBook,
    Sources,
    Transcript,
    Workspaces,
    WorkspaceSettings,
)
from bot.admin import Admin
from bot.assistant import Assistant
from bot.attachments import Attachments
from bot.config import Config
from bot.documents import DocumentDesk
from bot.engine import Engine, open_engine
from bot.eval_desk import EvaluationDesk, Evaluations
from bot.feedback import FeedbackStore
from bot.files import Files
from bot.inbox import InboxStore
from bot.ingest_queue import IngestQueue
from bot.library import Library
from bot.links import Links, shared_secret
from bot.notes import NoteStore
from bot.reconcile import reconcile
from bot.sources import SourceDesk
from bot.state import State, open_state
from bot.superintendent import Superintendent
from bot.tasks import end
from bot.tickets import Tickets
from bot.transcript import TranscriptStore
from bot.turns import TurnStore
from bot.unanswered import UnansweredBook
from bot.workspaces import WorkspaceBook
from retrieval.ingest import language
from retrieval.ingest.limits import ParseLimits
from retrieval.ingest.sandbox import ParserPool

log = structlog.get_logger()


@dataclass
class App:
    """The running bot: what adapters are given (`adapters.ports.Bot`), and what the command line asks."""

    answers: Answers
    documents: Documents
    sources: Sources
    settings: WorkspaceSettings
    feedback: FeedbackBook
    transcript: Transcript
    workspaces: Workspaces
    inbox: Inbox
    notes: Notes
    admin: Admin
    evaluations: Evaluations
    #: For uploads on their way.
    spool: Path
    state: State
    engine: Engine
    links: Links

    async def problems(self) -> list[str]:
        """What keeps people from getting answers right now, in sentences."""
        found: list[str] = []
        try:
            await asyncio.wait_for(self.state.redis.ping(), 2)
        except Exception as error:
            found.append(f"The state store does not answer ({type(error).__name__}).")
        try:
            await asyncio.wait_for(self.engine.index.stats(), 5)
        except Exception as error:
            found.append(f"The index does not answer ({type(error).__name__}).")
        return found


@asynccontextmanager
async def open_app(config: Config, *, rebuilding: bool = False) -> AsyncGenerator[App]:
    """Open every part in order, and close them in reverse.

    Args:
        rebuilding: an index of another embedding model may be opened, to be replaced.
    """
    async with AsyncExitStack() as stack:
        # About a second of work, which would otherwise hold up the first question.
        languages = asyncio.create_task(asyncio.to_thread(language.load))
        stack.push_async_callback(asyncio.wait, [languages])
        state = await stack.enter_async_context(open_state(config))
        files = Files.open(config)
        engine = await stack.enter_async_context(open_engine(config, rebuilding=rebuilding))
        limits = ParseLimits(
            seconds=config.parse_timeout,
            memory_mb=config.parse_memory_mb,
            max_file_bytes=config.max_file_mb * 1024 * 1024,
            max_pages=config.max_pages,
        )
        parsers = ParserPool(limits, workers=config.ingest_concurrency)
        stack.push_async_callback(parsers.aclose)
        # Of its own, so that opening a source never waits for a long document to be read.
        pages = ParserPool(limits, workers=1)
        stack.push_async_callback(pages.aclose)
        tickets = Tickets(state.url, concurrency=config.ingest_concurrency)
        await stack.enter_async_context(tickets.opened())
        library = Library(
            state.redis, files, engine.index, wake=tickets.send, max_bytes=limits.max_file_bytes
        )
        queue = IngestQueue(state.redis)
        workspaces = WorkspaceBook(
            state.redis, reranker=engine.roles.reranker is not None, rephrase=config.feature_flag_rephrase
        )
        superintendent = Superintendent(
            config, state, engine, library=library, queue=queue, parsers=parsers, tickets=tickets,
            workspaces=workspaces,
        )  # fmt: skip
        if not engine.stale:
            await reconcile(library, queue, alone=state.private)
            await superintendent.start()
        stack.push_async_callback(superintendent.stop)
        secret = config.link_secret.get_secret_value() if config.link_secret else None
        links = Links(await shared_secret(state.redis, secret), config.public_url)
        turns = TurnStore(state.redis)
        attachments = Attachments(state.redis, library)
        if not engine.stale:
            sweeping = asyncio.create_task(attachments.sweeping(), name="attachments")
            stack.push_async_callback(end, sweeping)
        inbox = InboxStore(state.redis)
        if state.private:
            await inbox.adopt()
        assistant = Assistant(
            pipeline=lambda: engine.pipeline,
            library=library,
            turns=turns,
            unanswered=UnansweredBook(state.redis),
            workspaces=workspaces,
            links=links,
            attachments=attachments,
            reranker=engine.roles.reranker is not None,
            rephrase=config.feature_flag_rephrase,
        )
        feedback = FeedbackStore(state.redis)
        yield App(
            answers=assistant,
            documents=DocumentDesk(library, workspaces, engine, parsers, links),
            sources=SourceDesk(library, links, pages),
            settings=workspaces,
            feedback=feedback,
            transcript=TranscriptStore(state.redis),
            workspaces=workspaces,
            inbox=inbox,
            notes=NoteStore(state.redis),
            admin=superintendent,
            evaluations=EvaluationDesk(library, lambda: engine.index, turns, feedback, assistant),
            spool=await asyncio.to_thread(_fresh_spool, config.data_dir),
            state=state,
            engine=engine,
            links=links,
        )


def _fresh_spool(data_dir: Path) -> Path:
    """Without what an earlier process left; several processes of one machine have one each."""
    spool = data_dir / "spool"
    shutil.rmtree(spool, ignore_errors=True)
    spool.mkdir(parents=True, mode=0o700)
    return spool
