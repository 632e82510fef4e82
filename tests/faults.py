"""A proxy on the wire between a node and its store, which a test lets pass, slow down, hold, cut, or lose replies."""

from __future__ import annotations

import asyncio
import contextlib
from asyncio import StreamReader, StreamWriter
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path
from urllib.parse import quote, unquote, urlsplit


class FaultProxy:
    """Relays bytes between clients of its own socket and a store's; every connection goes through it."""

    def __init__(self, listens: Path, store: Path) -> None:
        self._listens = listens
        self._store = store
        self._server: asyncio.Server | None = None
        self._writers: set[StreamWriter] = set()
        self._tasks: set[asyncio.Task[None]] = set()
        self._passes = asyncio.Event()
        self._passes.set()
        self._losing = 0
        self.delay = 0.0
        """How many seconds each reply is late."""
        self.lost = 0
        """How many replies were lost, with their connections."""

    @property
    def url(self) -> str:
        """The store as seen through it."""
        return f"unix://{quote(str(self._listens))}"

    async def mend(self) -> None:
        """Let everything pass from now on."""
        self._passes.set()
        self.delay, self._losing = 0.0, 0
        if self._server is None:
            self._listens.unlink(missing_ok=True)
            self._server = await asyncio.start_unix_server(self._relay, self._listens)

    def hold(self) -> None:
        """Nothing passes in either direction, and nothing is closed: a store that is paused, a line that is dead."""
        self._passes.clear()

    async def cut(self) -> None:
        """Close all connections, and refuse new ones: a store that is gone."""
        if self._server is not None:
            self._server.close()
            self._server = None
        self._listens.unlink(missing_ok=True)
        for writer in tuple(self._writers):
            writer.transport.abort()
        await asyncio.sleep(0)

    def lose_replies(self, count: int) -> None:
        """The store carries the next requests out; instead of its reply the connection ends, so many times."""
        self._losing = count

    async def close(self) -> None:
        """End it."""
        await self.cut()
        for task in self._tasks:
            task.cancel()
        await asyncio.gather(*self._tasks, return_exceptions=True)

    async def _relay(self, reader: StreamReader, writer: StreamWriter) -> None:
        try:
            there, back = await asyncio.open_unix_connection(self._store)
        except OSError:
            writer.transport.abort()
            return
        both = {writer, back}
        self._writers |= both
        pumps = [
            asyncio.create_task(self._pump(reader, back)),
            asyncio.create_task(self._pump(there, writer, replies=True)),
        ]
        self._tasks.update(pumps)
        try:
            await asyncio.wait(pumps, return_when=asyncio.FIRST_COMPLETED)
        finally:
            for pump in pumps:
                pump.cancel()
            self._tasks.difference_update(pumps)
            self._writers -= both
            for end in both:
                end.transport.abort()

    async def _pump(self, reader: StreamReader, writer: StreamWriter, *, replies: bool = False) -> None:
        with contextlib.suppress(OSError):
            while data := await reader.read(65_536):
                await self._passes.wait()
                if replies and self.delay:
                    await asyncio.sleep(self.delay)
                if replies and self._losing and not data.startswith((b"*3\r\n$7\r\nmessage", b"*3\r\n$9\r\nsubscribe")):
                    self._losing -= 1
                    self.lost += 1
                    return
                writer.write(data)
                await writer.drain()


@asynccontextmanager
async def faulty(store_url: str, folder: Path) -> AsyncIterator[FaultProxy]:
    """A proxy in front of the store at a unix URL."""
    proxy = FaultProxy(folder / "p", Path(unquote(urlsplit(store_url).path)))
    await proxy.mend()
    try:
        yield proxy
    finally:
        await proxy.close()
