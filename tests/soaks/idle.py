"""Idle connections: what ten thousand that have said hello and nothing else cost one server process.

The clients, in a process of their own, answer the server's pings; the server must ping each of them every ten seconds.
"""

from __future__ import annotations

import asyncio
import time
from pathlib import Path

from tests.soaks.figures import Figure, Tell
from tests.soaks.light import LightConnection
from tests.soaks.processes import core_seconds, need_descriptors, resident
from tests.story.servers import servers

SIZE = 10_000
COUNTS = "connections"

AT_ONCE = 100
SETTLING = 22.0
"""After the last hello: until each has been pinged twice, in seconds."""
MEASURED = 40.0
"""Four rounds of pings, in seconds."""
PAUSE = 10.0
"""Seconds between two pings of a connection, the server's default."""
MOST_MEMORY = 300.0
MOST_CORE = 10.0


async def run(
    folder: Path, size: int, tell: Tell, settling: float = SETTLING, measured: float = MEASURED
) -> list[Figure]:
    """Connect them, let them be, and look at the server."""
    need_descriptors(size + 200)
    async with servers(folder) as house:
        server = await house.start("--ping-seconds", str(min(PAUSE, measured / 2)))
        pid = server.process.pid
        alone = resident(pid)
        tell(f"a server without connections has {alone:.0f} MiB")
        lost: list[int | None] = []
        began = time.monotonic()
        connections = await connect_all(server.port, size, lost)
        tell(f"{size:,} connections in {time.monotonic() - began:.1f} s")
        try:
            await asyncio.sleep(settling)  # What is measured is a server that has nothing else to do.
            tell(f"for {measured:.0f} s nothing is asked of it")
            before, pings = core_seconds(pid), sum(connection.pings for connection in connections)
            began = time.monotonic()
            await asyncio.sleep(measured)  # This is what is measured.
            seconds = time.monotonic() - began
            core = (core_seconds(pid) - before) / seconds * 100
            memory = resident(pid)
            pings = sum(connection.pings for connection in connections) - pings
        finally:
            for connection in connections:
                connection.abort()
    return [
        Figure(f"{size:,} idle connections: memory of the server (RSS)", memory, "MiB", most=MOST_MEMORY),
        Figure(f"{size:,} idle connections: share of one core", core, "%", most=MOST_CORE),
        Figure("the same, for each connection", (memory - alone) * 1024 / size, "KiB"),
        Figure("connections lost meanwhile", len(lost), most=0),
        Figure("pings for each connection in ten seconds", pings / size / seconds * 10, least=0.9),
    ]


async def connect_all(port: int, size: int, lost: list[int | None]) -> list[LightConnection]:
    """So many connections that have been welcomed."""
    doors = asyncio.Semaphore(AT_ONCE)

    async def one(number: int) -> LightConnection:
        async with doors:
            connection = await LightConnection.open(port, number, lost=lost.append)
            await connection.ask("hello")
            return connection

    return await asyncio.gather(*(one(number) for number in range(size)))
