"""`cellrace serve --workers N`: one address, N processes, each a whole node; this one only keeps them alive."""

from __future__ import annotations

import asyncio
import os
import signal
import sys

from cellrace.errors import CellraceError
from cellrace_server.config import Config
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


def stop_signals() -> asyncio.Event:
    """An event that SIGTERM and SIGINT set, and SIGHUP: the terminal that it was started from is gone."""
    stop = asyncio.Event()
    loop = asyncio.get_running_loop()
    for number in (signal.SIGTERM, signal.SIGINT, signal.SIGHUP):
        loop.add_signal_handler(number, stop.set)
    return stop


def first_line(config: Config, port: int, kept_by: str) -> str:
    """What a server says first: where it listens and what keeps its data."""
    scheme = "ws" if config.certificate is None else "wss"
    host = f"[{config.host}]" if ":" in config.host else config.host
    return f"cellrace listens on {scheme}://{host}:{port}/ws, its data is kept by {kept_by}"


class _ParentWatch(asyncio.Protocol):
    """Hears the end of standard input, which the parent holds open for as long as it lives."""

    def __init__(self, stop: asyncio.Event) -> None:
        self._stop = stop

    def connection_lost(self, exc: Exception | None) -> None:  # noqa: ARG002 - asyncio's signature
        self._stop.set()


async def end_with_parent(stop: asyncio.Event) -> None:
    """Stop when the parent is gone, however it ended."""
    await asyncio.get_running_loop().connect_read_pipe(lambda: _ParentWatch(stop), sys.stdin)


def local_url(config: Config, port: int) -> str:
    """Where a server is found from this machine."""
    scheme = "ws" if config.certificate is None else "wss"
    host = {"0.0.0.0": "127.0.0.1", "": "127.0.0.1", "::": "::1"}.get(config.host, config.host)  # noqa: S104 - a name for all addresses, not one to listen on
    return f"{scheme}://{f'[{host}]' if ':' in host else host}:{port}/ws"


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
        print(lines[0], flush=True)
        async with kept([*workers, *guests_of(guests, local_url(config, port))]):
            await stop.wait()
