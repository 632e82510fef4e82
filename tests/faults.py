"""A proxy on the wire between a node and its store, which a test lets pass, slow down, hold, cut, or lose replies.

What a subscription hears can be swallowed as well: single messages, or all from now on, while nothing is closed.
"""

from __future__ import annotations

import asyncio
import contextlib
from asyncio import StreamReader, StreamWriter
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any
from urllib.parse import quote, unquote, urlsplit

from hiredis import Reader


class _Line:
    """One connection through the proxy."""

    def __init__(self, node: StreamWriter, store: StreamWriter) -> None:
        self.ends = (node, store)
        self.hears: Reader | None = None
        """Takes apart what is published, once this is a subscription."""
        self.deaf = False

    def close(self) -> None:
        """End it on both sides."""
        for end in self.ends:
            end.transport.abort()


class FaultProxy:
    """Relays bytes between clients of its own socket and a store's; every connection goes through it."""

    def __init__(self, listens: Path, store: Path) -> None:
        self._listens = listens
        self._store = store
        self._server: asyncio.Server | None = None
        self._lines: set[_Line] = set()
        self._tasks: set[asyncio.Task[None]] = set()
        self._requests, self._replies = asyncio.Event(), asyncio.Event()
        self._requests.set()
        self._replies.set()
        self._losing = 0
        self._swallowing = 0
        self.delay = 0.0
        """How many seconds each reply is late."""
        self.lost = 0
        """How many replies were lost, with their connections."""
        self.swallowed = 0
        """How many messages to a subscription were lost, and nothing with them."""
        self.subscribed = 0
        """How many subscriptions were confirmed."""

    @property
    def url(self) -> str:
        """The store as seen through it."""
        return f"unix://{quote(str(self._listens))}"

    async def mend(self) -> None:
        """Let everything pass from now on."""
        self._requests.set()
        self._replies.set()
        self.delay, self._losing, self._swallowing = 0.0, 0, 0
        if self._server is None:
            self._listens.unlink(missing_ok=True)
            self._server = await asyncio.start_unix_server(self._relay, self._listens)

    def hold(self, *, requests: bool = True, replies: bool = True) -> None:
        """Nothing passes, in both directions or in one, and nothing is closed: a store that is paused, a dead line.

        What is held passes late, when this is mended.
        """
        if requests:
            self._requests.clear()
        if replies:
            self._replies.clear()

    async def cut(self) -> None:
        """Close all connections, and refuse new ones: a store that is gone."""
        if self._server is not None:
            self._server.close()
            self._server = None
        self._listens.unlink(missing_ok=True)
        for line in tuple(self._lines):
            line.close()
        await asyncio.sleep(0)

    def lose_replies(self, count: int) -> None:
        """The store carries the next requests out; instead of its reply the connection ends, so many times."""
        self._losing = count

    def swallow(self, count: int) -> None:
        """The next so many published messages, other than a node's to itself, never come; all else does."""
        self._swallowing = count

    def deafen(self) -> None:
        """The subscriptions that there are hear nothing from now on, and are not closed: half open."""
        for line in self._lines:
            line.deaf = line.hears is not None

    def cut_subscriptions(self) -> None:
        """Close the subscriptions that there are; what is published until there is a new one is lost."""
        for line in tuple(self._lines):
            if line.hears is not None:
                line.close()

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
        line = _Line(writer, back)
        self._lines.add(line)
        pumps = [
            asyncio.create_task(self._pump(self._requests, reader, back)),
            asyncio.create_task(self._pump(self._replies, there, writer, line)),
        ]
        self._tasks.update(pumps)
        try:
            await asyncio.wait(pumps, return_when=asyncio.FIRST_COMPLETED)
        finally:
            for pump in pumps:
                pump.cancel()
            self._tasks.difference_update(pumps)
            self._lines.discard(line)
            line.close()

    async def _pump(
        self, passes: asyncio.Event, reader: StreamReader, writer: StreamWriter, replies: _Line | None = None
    ) -> None:
        with contextlib.suppress(OSError):
            while data := await reader.read(65_536):
                await passes.wait()
                if replies is not None:
                    if self.delay:
                        await asyncio.sleep(self.delay)
                    if replies.hears is None and data.startswith(b"*3\r\n$9\r\nsubscribe"):
                        replies.hears = Reader()
                        self.subscribed += 1
                    if replies.hears is not None:
                        data = self._heard(replies, replies.hears, data)
                    elif self._losing:
                        self._losing -= 1
                        self.lost += 1
                        return
                writer.write(data)
                await writer.drain()

    def _heard(self, line: _Line, reader: Reader, data: bytes) -> bytes:
        """What is left of what a subscription was told."""
        reader.feed(data)
        left = b""
        while (message := reader.gets()) is not False:
            if line.deaf:
                continue
            if self._swallowing and message[0] == b"message" and message[2]:
                self._swallowing -= 1
                self.swallowed += 1
                continue
            left += _written(message)
        return left


def _written(message: list[Any]) -> bytes:
    """A message as it came: texts and numbers."""
    parts = (b":%d\r\n" % part if isinstance(part, int) else b"$%d\r\n%b\r\n" % (len(part), part) for part in message)
    return b"*%d\r\n%b" % (len(message), b"".join(parts))


@asynccontextmanager
async def faulty(store_url: str, folder: Path) -> AsyncIterator[FaultProxy]:
    """A proxy in front of the store at a unix URL."""
    proxy = FaultProxy(folder / "p", Path(unquote(urlsplit(store_url).path)))
    await proxy.mend()
    try:
        yield proxy
    finally:
        await proxy.close()
