"""`cellrace serve --workers N`: one address, N processes, each a whole node; this one only keeps them alive."""

from __future__ import annotations

import asyncio
import os
import signal
import socket
import sys

import structlog

from cellrace.errors import CellraceError
from cellrace_server.config import Config

WORKER = "CELLRACE_WORKER_PORT"
"""The environment variable by which a process knows that it is one of several, and on which port."""
GRACE = 5.0
"""Seconds for the processes to end by themselves."""
FIRST_PAUSE = 0.5
LONGEST_PAUSE = 10.0
QUICK_DEATH = 5.0
"""A process that dies within so many seconds makes the next pause twice as long."""

log = structlog.get_logger()


class WorkersFailed(CellraceError):
    """The processes of a server could not be started; each has said why."""


def is_worker() -> bool:
    """Whether this process is one of several that share an address."""
    return WORKER in os.environ


def worker_port(port: int) -> int:
    """The port to listen on: the one that the processes share, else the one that was asked for."""
    return int(os.environ.get(WORKER, port))


def stop_signals() -> asyncio.Event:
    """An event that SIGTERM and SIGINT set."""
    stop = asyncio.Event()
    loop = asyncio.get_running_loop()
    for number in (signal.SIGTERM, signal.SIGINT):
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


async def serve_workers(config: Config, count: int) -> None:
    """Run `count` processes on one address until SIGTERM or SIGINT; one that dies is started again.

    Raises WorkersFailed when they do not start, OSError when the port is taken.
    """
    stop = stop_signals()
    family = socket.AF_INET6 if ":" in config.host else socket.AF_INET
    with socket.socket(family, socket.SOCK_STREAM) as place:
        # Bound and never listening: it holds the port, and picks one where none was named.
        place.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEPORT, 1)
        place.bind((config.host, config.port))
        port = int(place.getsockname()[1])
        keepers = [_Keeper(port) for _ in range(count)]
        lines = await asyncio.gather(*(keeper.start() for keeper in keepers))
        if not all(lines):
            await asyncio.gather(*(keeper.close() for keeper in keepers))
            raise WorkersFailed("The server's processes did not start; each has said why above.")
        print(lines[0], flush=True)
        async with asyncio.TaskGroup() as tasks:
            keeping = [tasks.create_task(keeper.keep()) for keeper in keepers]
            await stop.wait()
            for task in keeping:
                task.cancel()
        await asyncio.gather(*(keeper.close() for keeper in keepers))


class _Keeper:
    """Keeps one process alive."""

    def __init__(self, port: int) -> None:
        self._port = port
        self._process: asyncio.subprocess.Process | None = None

    async def start(self) -> str:
        """Start the process and return its first line, empty if it ended without one."""
        # The same command again: its options and environment tell everything but a port that was picked.
        self._process = await asyncio.create_subprocess_exec(
            *(sys.executable, *sys.orig_argv[1:]),
            env={**os.environ, WORKER: str(self._port)},
            stdin=asyncio.subprocess.PIPE,
            stdout=asyncio.subprocess.PIPE,
        )
        assert self._process.stdout is not None
        return (await self._process.stdout.readline()).decode().strip()

    async def keep(self) -> None:
        """Start the process again whenever it has died."""
        pause = FIRST_PAUSE
        loop = asyncio.get_running_loop()
        while True:
            assert self._process is not None
            began = loop.time()
            status = await self._process.wait()
            log.error("a process of the server has died and is started again", status=status)
            pause = min(pause * 2, LONGEST_PAUSE) if loop.time() - began < QUICK_DEATH else FIRST_PAUSE
            await asyncio.sleep(pause)
            await self.start()

    async def close(self) -> None:
        """End the process: told first, then made to."""
        process = self._process
        if process is None or process.returncode is not None:
            return
        process.terminate()
        try:
            async with asyncio.timeout(GRACE):
                await process.wait()
        except TimeoutError:
            process.kill()
            await process.wait()
