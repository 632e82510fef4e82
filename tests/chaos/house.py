"""The processes of a run: one store, and nodes at addresses that they keep."""

from __future__ import annotations

import asyncio
import os
import shutil
import signal
import subprocess
import sys
import time
from asyncio.subprocess import DEVNULL, Process
from collections.abc import Mapping, Sequence
from pathlib import Path

from cellrace_server.store.binary import find_binary
from cellrace_server.store.embedded import DURABLE
from tests.faults import FaultProxy
from tests.ports import free_port
from tests.story.servers import COMMAND, Server, start
from tests.waiting import eventually

GENEROUS = ("--burst", "1000000", "--http-burst", "1000000", "--new-players-here", "1000000", "--pool", "0")
PLANTED = (sys.executable, "-m", "tests.chaos.plants", "serve")
"""The same command with a bug planted into its process."""


def _strace() -> str | None:
    found = shutil.which("strace")
    if found is None:
        return None
    # In some containers nobody may trace anything.
    tried = subprocess.run([found, "-o", os.devnull, "-e", "trace=fsync", "true"], capture_output=True, check=False)
    return found if tried.returncode == 0 else None


STRACE = _strace()
"""What makes a disk slow, where there is one."""


class StoreProcess:
    """A store that is killed and started again on its own data.

    `disk` is how many seconds its disk takes to write down what it was given. A kill leaves what the store has handed
    to the system; what it has answered and not handed over yet, as it does when it does not wait for a slow disk, is
    lost as it would be with any disk.
    """

    def __init__(self, folder: Path, settings: Mapping[str, str], disk: float = 0.0) -> None:
        self._folder = folder
        self._settings = {**DURABLE, **settings}
        self._disk = disk
        self._process: Process | None = None
        self.paused = False
        self.back_at = time.monotonic()
        """When it last began to answer again, by the monotonic clock; infinite while it does not."""

    @property
    def path(self) -> Path:
        """Its socket."""
        return self._folder / "s"

    @property
    def url(self) -> str:
        """Where nodes find it."""
        return f"unix://{self.path}"

    async def start(self) -> None:
        """Start it and wait until it answers."""
        self._folder.mkdir(exist_ok=True)
        settings = {"port": "0", "unixsocket": str(self.path), "dir": str(self._folder), "logfile": "store.log"}
        options = [part for name, value in {**self._settings, **settings}.items() for part in (f"--{name}", value)]
        command = [*self._slowly(), str(find_binary()), *options]
        self._process = await asyncio.create_subprocess_exec(*command, cwd=self._folder, stdout=DEVNULL, stderr=DEVNULL)
        try:
            _: bool = await eventually(self._answers)
        except BaseException:
            await self.kill()
            raise
        self.back_at = time.monotonic()

    def _slowly(self) -> list[str]:
        if not self._disk:
            return []
        assert STRACE is not None, "a slow disk takes strace"
        slow = f"inject=fdatasync,fsync:delay_enter={round(self._disk * 1_000_000)}"
        # -D: the process started here is the store itself, and it is that which is killed.
        return [STRACE, "-D", "-f", "-qq", "-o", os.devnull, "-e", "trace=fdatasync,fsync", "-e", slow]

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
        self.dying = asyncio.Lock()
        """Held from a kill to the start that follows."""

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
    """All processes of one run; where they are to be cut off, each node reaches the store over a line of its own."""

    def __init__(
        self,
        folder: Path,
        nodes: int = 3,
        bug: str = "",
        store: Mapping[str, str] | None = None,
        disk: float = 0.0,
        lines: bool = False,
    ) -> None:
        self.store = StoreProcess(folder / "store", store or {}, disk)
        self.lines = [FaultProxy(folder / f"line{n}", self.store.path) for n in range(nodes if lines else 0)]
        urls = [line.url for line in self.lines] or [self.store.url] * nodes
        self.nodes = [NodeProcess(folder, number, url, bug) for number, url in enumerate(urls)]

    async def start(self) -> None:
        """Start all of them."""
        await self.store.start()
        for line in self.lines:
            await line.mend()
        await asyncio.gather(*(node.start() for node in self.nodes))

    async def end(self) -> None:
        """Kill what still runs."""
        await asyncio.gather(*(node.kill() for node in self.nodes))
        for line in self.lines:
            await line.close()
        await self.store.kill()

    def logged(self) -> str:
        """What the nodes have logged."""
        return "".join(node.log.read_text(errors="replace") for node in self.nodes if node.log.exists())
