"""A wire between a client and a server that a test can cut and mend."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager, suppress


class Relay:
    """Passes bytes on, while it is whole."""

    def __init__(self, port: int) -> None:
        self._to = port
        self._whole = True
        self._passes = asyncio.Event()
        self._passes.set()
        self._writers: set[asyncio.StreamWriter] = set()
        self._tasks: set[asyncio.Task[None]] = set()
        self.port = 0

    def cut(self) -> None:
        """Cuts every connection, and lets none through."""
        self._whole = False
        for writer in self._writers:
            writer.transport.abort()

    def mend(self) -> None:
        """Lets connections through again, and what was held."""
        self._whole = True
        self._passes.set()

    def hold(self) -> None:
        """Lets nothing pass, and cuts nothing."""
        self._passes.clear()

    async def serve(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        """One connection."""
        if not self._whole:
            writer.transport.abort()
            return
        there, back = await asyncio.open_connection("127.0.0.1", self._to)
        self._writers |= {writer, back}
        try:
            async with asyncio.TaskGroup() as both:
                both.create_task(self._pass(reader, back))
                both.create_task(self._pass(there, writer))
        finally:
            self._writers -= {writer, back}

    async def _pass(self, source: asyncio.StreamReader, target: asyncio.StreamWriter) -> None:
        with suppress(OSError):
            while data := await source.read(65536):
                await self._passes.wait()
                target.write(data)
                await target.drain()
        target.close()


@asynccontextmanager
async def relay(port: int) -> AsyncIterator[Relay]:
    """A relay to a port of this machine."""
    made = Relay(port)
    server = await asyncio.start_server(made.serve, "127.0.0.1", 0)
    made.port = server.sockets[0].getsockname()[1]
    try:
        yield made
    finally:
        made.cut()
        server.close()
        await server.wait_closed()
