"""The round trips of one connection: measured now and then, and at once where a race needs to know."""

from __future__ import annotations

import asyncio
from collections.abc import Callable

from websockets.exceptions import ConnectionClosed

from cellrace_server.net.connection import Connection


class Pinger:
    """Pings a client, notes each round trip in ms, and ends the connection when no pong comes."""

    def __init__(self, connection: Connection, pause: float, note: Callable[[int], None]) -> None:
        self._connection = connection
        self._pause = pause
        self._note = note
        self._wanted = asyncio.Event()

    def measure(self) -> None:
        """Measure now; a ping that is on its way was sent too early to count."""
        self._wanted.set()

    async def run(self) -> None:
        """Ping until the connection ends."""
        while True:
            self._wanted.clear()
            try:
                # Also over the sending, which waits while what was sent before is not read.
                async with asyncio.timeout(self._pause):
                    seconds = await (await self._connection.ping())
            except TimeoutError:
                self._connection.transport.abort()  # Half open: nobody is there to read a close frame.
                return
            except ConnectionClosed:
                return
            self._note(round(seconds * 1000))
            try:
                await asyncio.wait_for(self._wanted.wait(), self._pause)
            except TimeoutError:
                continue
