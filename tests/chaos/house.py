"""The processes of a run: one store, and nodes at addresses that they keep."""

from __future__ import annotations

import asyncio
import os
import signal
import sys
import time
from asyncio.subprocess import DEVNULL, Process
from collections.abc import Mapping, Sequence
from pathlib import Path

from cellrace_server.store.binary import find_binary
from cellrace_server.store.embedded import DURABLE
from tests.story.cluster import free_port
from tests.story.servers import COMMAND, Server, start
from tests.waiting import eventually

GENEROUS = ("--burst", "1000000", "--http-burst", "1000000", "--new-players-here", "1000000", "--pool", "0")
PLANTED = (sys.executable, "-m", "tests.chaos.plants", "serve")
"""The same command with a bug planted into its process."""


class StoreProcess:
    """A store that is killed and started again on its own data."""

    def __init__(self, folder: Path, settings: Mapping[str, str]) -> None:
        self._folder = folder
        self._settings = {**DURABLE, **settings}
        self._process: Process | None = None
        self.paused = False
        self.back_at = time.monotonic()
        """When it last began to answer again, by the monotonic clock; infinite while it does not."""

    @property
    def path(self) -> Path:
        """Its socket."""
        return self._folder / "s"

    async def start(self) -> None:
        """Start it and wait until it answers."""
        self._folder.mkdir(exist_ok=True)
        settings = {"port": "0", "unixsocket": str(self.path), "dir": str(self._folder), "logfile": "store.log"}
        options = [part for name, value in {**self._settings, **settings}.items() for part in (f"--{name}", value)]
        self._process = await asyncio.create_subprocess_exec(
            str(find_binary()), *options, cwd=self._folder, stdout=DEVNULL, stderr=DEVNULL
        )
        try:
            _: bool = await eventually(self._answers)
        except BaseException:
            await self.kill()
            raise
        self.back_at = time.monotonic()

    async def _answers(self) -> bool:
        try:
            reader, writer = await asyncio.open_unix_connection(self.path)
            writer.write(b"PING\r\n")
            try:
                return (await reader.readline()).startswith((b"+PONG", b"-NOAUTH"))
            finally:
                writer.close()
        except OSError:
            return False

    async def kill(self) -> None:
        """`kill -9`, also of one that is paused."""
        assert self._process is not None
        self.back_at = float("inf")
        self._process.kill()
        await self._process.wait()

    def pause(self) -> None:
        """SIGSTOP."""
        assert self._process is not None
        self.back_at = float("inf")
        self._process.send_signal(signal.SIGSTOP)

    def go_on(self) -> None:
        """SIGCONT."""
        assert self._process is not None
        self._process.send_signal(signal.SIGCONT)
        self.back_at = time.monotonic()


class NodeProcess:
    """A node at one address, killed and started again."""

    def __init__(self, folder: Path, number: int, store: str, bug: str) -> None:
        self.port = free_port()
        self.log = folder / f"node{number}.log"
        self._options = ("--port", str(self.port), "--data-dir", str(folder / "data"), "--redis", store, *GENEROUS)
        self._command: Sequence[str] = PLANTED if bug else (*COMMAND, "serve")
        self._env = {"CELLRACE_PLANTED": bug, "CELLRACE_LOG_LEVEL": "warning"}
        self._server: Server | None = None
        self.died_at = float("-inf")
        self.paused = False

    @property
    def url(self) -> str:
        """Where it listens."""
        return f"ws://127.0.0.1:{self.port}/ws"

    @property
    def lives(self) -> bool:
        """Whether it runs, and is not paused."""
        return self._server is not None and not self.paused

    async def start(self) -> None:
        """Start it and wait until it listens."""
        self._server = await start(self.log, *self._options, command=self._command, env=self._env)

    async def kill(self) -> None:
        """`kill -9`."""
        server, self._server = self._server, None
        if server is not None:
            self.died_at = time.monotonic()
            await server.kill()

    def pause(self) -> None:
        """SIGSTOP."""
        if self._server is not None:
            self.paused = True
            os.kill(self._server.process.pid, signal.SIGSTOP)

    def go_on(self) -> None:
        """SIGCONT."""
        if self._server is not None:
            os.kill(self._server.process.pid, signal.SIGCONT)
        self.paused = False


class House:
    """All processes of one run."""

    def __init__(self, folder: Path, nodes: int = 3, bug: str = "", store: Mapping[str, str] | None = None) -> None:
        self.store = StoreProcess(folder / "store", store or {})
        self.nodes = [NodeProcess(folder, n, f"unix://{self.store.path}", bug) for n in range(nodes)]

    async def start(self) -> None:
        """Start all of them."""
        await self.store.start()
        await asyncio.gather(*(node.start() for node in self.nodes))

    async def end(self) -> None:
        """Kill what still runs."""
        await asyncio.gather(*(node.kill() for node in self.nodes))
        await self.store.kill()

    def logged(self) -> str:
        """What the nodes have logged."""
        return "".join(node.log.read_text(errors="replace") for node in self.nodes if node.log.exists())
