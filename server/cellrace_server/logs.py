"""How the log looks: lines for people on a terminal, one JSON object a line elsewhere; always on stderr.

What other libraries say through `logging` is written in the same way, warnings and worse.
"""

from __future__ import annotations

import logging
import os
import sys
from typing import TextIO

import structlog
from structlog.typing import Processor

LEVELS = ("debug", "info", "warning", "error")

_SHARED: tuple[Processor, ...] = (
    structlog.contextvars.merge_contextvars,
    structlog.stdlib.add_log_level,
    structlog.processors.TimeStamper(fmt="iso", utc=True),
)


def configure_logs(level: str, stream: TextIO | None = None) -> None:
    """Write everything from a level on, one of LEVELS, to a stream: stderr, where none is given."""
    stream = stream or sys.stderr
    numeric = logging.getLevelNamesMapping()[level.upper()]
    rendering = _for_people() if stream.isatty() else _for_programs()
    structlog.configure(
        processors=[*_SHARED, *rendering],
        wrapper_class=structlog.make_filtering_bound_logger(numeric),
        # One write a line, so that the lines of several processes on one pipe do not mix.
        logger_factory=structlog.WriteLoggerFactory(stream),
    )
    handler = logging.StreamHandler(stream)
    handler.setFormatter(structlog.stdlib.ProcessorFormatter(foreign_pre_chain=_SHARED, processors=_foreign(rendering)))
    logging.basicConfig(level=max(numeric, logging.WARNING), handlers=[handler], force=True)
    # Whatever a stranger sends to the port is an error to it, and its debug lines quote frames: tokens stand in them.
    logging.getLogger("websockets").setLevel(logging.CRITICAL)


def _for_people() -> list[Processor]:
    # Plain, for the other kinds of traceback show local variables: a deal or a token may be among them.
    colors = not os.environ.get("NO_COLOR") and os.environ.get("TERM") != "dumb"
    return [structlog.dev.ConsoleRenderer(colors=colors, exception_formatter=structlog.dev.plain_traceback)]


def _for_programs() -> list[Processor]:
    return [structlog.processors.format_exc_info, structlog.processors.JSONRenderer()]


def _foreign(rendering: list[Processor]) -> list[Processor]:
    return [structlog.stdlib.ProcessorFormatter.remove_processors_meta, *rendering]
