"""`cellrace serve --workers N`: one address, N processes, each a whole node; this one only keeps them alive."""

from __future__ import annotations

import asyncio
import os
import platform
import signal
import sys

from cellrace.errors import CellraceError
from cellrace_server.config import Config
from cellrace_server.keeping import GRACE, Guests, Keeper, Program, guests_of, kept
from cellrace_server.net.listening import held_port

WORKER = "CELLRACE_WORKER_PORT"
"""The environment variable by which a process knows that it is one of several, and on which port."""

AGAIN = 1.0
"""Seconds after which a signal is another one."""


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


async def told_again(stop: asyncio.Event) -> None:
    """Wait for another signal than the one that has just come, which may come twice: to a group, and passed on."""
    await asyncio.sleep(AGAIN)
    stop.clear()
    await stop.wait()


ALL_ADDRESSES = {"0.0.0.0": "127.0.0.1", "": "127.0.0.1", "::": "::1"}  # noqa: S104 - names for all, not to listen on
"""What stands for every address of a machine, and the one by which it finds itself."""


def first_line(config: Config, port: int, kept_by: str) -> str:
    """What a server says first: where it listens, as an address that can be opened, and what keeps its data."""
    url = local_url(config, port)
    if config.certificate is not None and config.host in ALL_ADDRESSES:
        # No certificate is for 127.0.0.1.
        url = f"wss://{platform.node()}:{port}/ws"
    return f"cellrace listens on {url}, its data is kept by {kept_by}"


def note_line(config: Config) -> str | None:
    """What a server says next where it listens on all addresses."""
    if config.host not in ALL_ADDRESSES:
        return None
    return (
        "It listens on all addresses of this machine; from another machine, put this one's name or address in the place"
        " of the one above."
    )


def say_first(*lines: str | None) -> None:
    """Print the first lines."""
    print(*filter(None, lines), sep="\n", flush=True)


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
    host = ALL_ADDRESSES.get(config.host, config.host)
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
        say_first(lines[0], note_line(config))
        async with kept([*workers, *guests_of(guests, local_url(config, port))]):
            await stop.wait()
