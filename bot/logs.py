"""Structured logs: one event a line, with the turn id, and with no secret and no document text."""

from __future__ import annotations

import logging
import sys
from typing import Any, Literal

import structlog

from bot.config import Config


def configure_logging(
    config: Config, *, least: Literal["info", "warning"] = "info", stream: Any = None
) -> None:
    """JSON lines, or readable ones on a terminal. Other libraries' warnings come the same way.

    `least`: the level of a command whose user has set none.
    """
    stream = stream or sys.stderr
    level = getattr(logging, (config.log_level or least).upper())
    console = config.log_format == "console" or (config.log_format == "auto" and stream.isatty())
    shared: list[Any] = [
        structlog.contextvars.merge_contextvars,
        structlog.stdlib.add_log_level,
        structlog.processors.TimeStamper(fmt="iso", utc=True),
    ]
    final: list[Any] = (
        [
            # Without local variables, which may hold text of documents.
            structlog.dev.ConsoleRenderer(
                colors=stream.isatty(), exception_formatter=structlog.dev.plain_traceback
            )
        ]
        if console
        else [structlog.processors.format_exc_info, structlog.processors.JSONRenderer(ensure_ascii=False)]
    )
    structlog.configure(
        processors=[*shared, *final],
        wrapper_class=structlog.make_filtering_bound_logger(level),
        logger_factory=structlog.WriteLoggerFactory(stream),
        cache_logger_on_first_use=True,
    )
    handler = logging.StreamHandler(stream)
    handler.setFormatter(
        structlog.stdlib.ProcessorFormatter(
            foreign_pre_chain=shared,
            processors=[structlog.stdlib.ProcessorFormatter.remove_processors_meta, *final],
        )
    )
    logging.basicConfig(handlers=[handler], level=max(level, logging.WARNING), force=True)
