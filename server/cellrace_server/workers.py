"""`cellrace serve --workers N`: one address, N processes, each a whole node; this one only keeps them alive."""

from __future__ import annotations

import asyncio
import os
import sys

from cellrace.errors import CellraceError
from cellrace_server.config import Config
from cellrace_server.ending import stop_signals
from cellrace_server.first_lines import local_url, note_line, say_first
from cellrace_server.keeping import GRACE, Guests, Keeper, Program, guests_of, kept
from cellrace_server.net.listening import held_port

WORKER = "CELLRACE_WORKER_PORT"
"""The environment variable by which a process knows that it is one of several, and on which port."""


class WorkersFailed(CellraceError):
    """The processes of a server could not be started; each has said why."""


def is_worker() -> bool:
    """Whether this process is one of several that share an address."""
    return WORKER in os.environ


def worker_port(port: int) -> int:
    """The port to listen on: the one that the processes share, else the one that was asked for."""
    return int(os.environ.get(WORKER, port))


async def serve_workers(config: Config, count: int, guests: Guests | None = None) -> None:
    """Run `count` processes on one address until SIGTERM or SIGINT; one that dies is started again.

    Raises WorkersFailed when they do not start, OSError when the port is taken.
    """
    stop = stop_signals()
    with held_port(config.host, config.port) as port:
        # The same command again: its options and environment tell everything but a port that was picked.
        program = Program((sys.executable, *sys.orig_argv[1:]), {WORKER: str(port)}, "worker")
        workers = [Keeper(program, GRACE + config.drain) for _ in range(count)]
        lines = await asyncio.gather(*(worker.start() for worker in workers))
        if not all(lines):
            await asyncio.gather(*(worker.close() for worker in workers))
            raise WorkersFailed("The server's processes did not start; each has said why above.")
        say_first(lines[0], note_line(config))
        async with kept([*workers, *guests_of(guests, local_url(config, port))]):
            await stop.wait()
