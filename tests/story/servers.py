"""`cellrace serve` as a process of its own, which a test may kill."""

from __future__ import annotations

import asyncio
import os
import re
import signal
import subprocess
import sys
from collections.abc import AsyncIterator, Mapping, Sequence
from contextlib import asynccontextmanager
from pathlib import Path

from tests.waiting import eventually

COMMAND = (sys.executable, "-c", "from cellrace_client.cli import main; main()")
"""What the command `cellrace` runs."""
SERVE = (*COMMAND, "serve")
FIRST_LINE = re.compile(r"cellrace listens on (wss?://\S+/ws), its data is kept by (.+)\n")
STARTING = 60.0
"""Seconds after which a server was awaited in vain; on a machine with nothing else to do it is there within one."""

ENDING = 60.0
"""Seconds after which its end was awaited in vain."""


class Server:
    """A running server process."""

    def __init__(self, process: asyncio.subprocess.Process, url: str, kept_by: str, log: Path) -> None:
        self.process = process
        self.url = url
        self.kept_by = kept_by
        self._log = log

    @property
    def port(self) -> int:
        """The port it listens on."""
        return int(self.url.rpartition(":")[2].removesuffix("/ws"))

    @property
    def log(self) -> str:
        """What it has logged."""
        return self._log.read_text()

    async def kill(self) -> None:
        """`kill -9`."""
        self.process.kill()
        await self.process.wait()

    async def terminate(self, patience: float = ENDING) -> int:
        """SIGTERM; the exit status, which must come within `patience` seconds."""
        self.process.terminate()
        async with asyncio.timeout(patience):
            return await self.process.wait()


async def start(
    log: Path, *options: str, command: Sequence[str] = SERVE, env: Mapping[str, str] | None = None
) -> Server:
    """Start a server and wait until it listens."""
    environment = {**os.environ, "CELLRACE_LOG_LEVEL": "info", "CELLRACE_POOL": "0", **(env or {})}
    with log.open("ab") as file:
        process = await asyncio.create_subprocess_exec(
            *command, *options, stdout=subprocess.PIPE, stderr=file, env=environment
        )
    assert process.stdout is not None
    async with asyncio.timeout(STARTING):
        line = (await process.stdout.readline()).decode()
    told = FIRST_LINE.fullmatch(line)
    url, kept_by = (told[1], told[2]) if told else ("", "")
    server = Server(process, url, kept_by, log)
    assert told, f"the first line is {line!r}; logged: {server.log[-2000:]}"
    return server


class Servers:
    """Starts servers on one data directory and ends those that the test has left."""

    def __init__(self, folder: Path) -> None:
        self.data_dir = folder / "data"
        self._log = folder / "log"
        self._started: list[Server] = []

    async def start(self, *options: str, port: int = 0, command: Sequence[str] = SERVE) -> Server:
        """Start one."""
        place = ("--port", str(port), "--data-dir", str(self.data_dir))
        server = await start(self._log, *place, *options, command=command)
        self._started.append(server)
        return server

    async def end(self) -> None:
        """Kill what still runs."""
        for server in self._started:
            if server.process.returncode is None:
                await server.kill()


@asynccontextmanager
async def servers(folder: Path) -> AsyncIterator[Servers]:
    """Servers of one test; when it ends, nothing of them is left running."""
    made = Servers(folder)
    try:
        yield made
    finally:
        await made.end()
        await eventually(lambda: not processes_of(folder))


def processes_of(folder: Path) -> list[int]:
    """The processes that name a folder on their command line or work in it."""
    found = []
    for entry in Path("/proc").iterdir() if sys.platform == "linux" else ():
        if not entry.name.isdigit() or int(entry.name) == os.getpid():
            continue
        try:
            words = (entry / "cmdline").read_bytes().decode(errors="replace")
            place = os.readlink(entry / "cwd")
        except OSError:
            continue
        if str(folder) in words or place.startswith(str(folder)):
            found.append(int(entry.name))
    return found


def end_process(pid: int) -> None:
    """`kill -9` by id."""
    os.kill(pid, signal.SIGKILL)
