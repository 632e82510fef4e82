"""What waits to be read by one client: frames go straight to the transport, whose write buffer is watched.

A client that reads slowly gets news merged, each replacing the one before about the same thing; facts and answers are
never merged. One that does not read at all is let go, so that nobody waits for it.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable

from websockets.protocol import State

from cellrace_server.config import Bounds
from cellrace_server.net.connection import Connection

_LOOK = 0.1
"""Seconds between two looks at a client that reads slowly."""

NewsKey = tuple[str, str, str]
"""What a piece of news is about: its type, the race, the player."""


def frame_bytes(payload: bytes, text: bool) -> bytes:
    """A whole WebSocket frame of a server, unmasked (RFC 6455, section 5.2)."""
    first = b"\x81" if text else b"\x82"
    size = len(payload)
    if size < 126:
        return first + bytes((size,)) + payload
    if size < 65536:
        return first + b"\x7e" + size.to_bytes(2, "big") + payload
    return first + b"\x7f" + size.to_bytes(8, "big") + payload


class Outbox:
    """Writes frames for one client and lets it go when it does not read them."""

    def __init__(self, connection: Connection, bounds: Bounds, evict: Callable[[], None]) -> None:
        self._connection = connection
        self._transport: asyncio.WriteTransport = connection.transport
        self._bounds = bounds
        self._evict = evict
        # Merged news wait here, one for each thing that news can be about: as many as there are entrants in the races.
        self._merged: dict[NewsKey, bytes] = {}
        # Alone it says nothing of how a client reads: a large answer would let go whoever asked for it.
        self._largest = 0
        self._slow_since: float | None = None
        self._look: asyncio.TimerHandle | None = None
        self._closed = False

    @property
    def unread(self) -> int:
        """How many bytes wait to be taken by the system, which holds some itself until the client reads."""
        return self._transport.get_write_buffer_size()

    @property
    def slow(self) -> bool:
        """Whether the client has not read for a while what was written."""
        return self._slow_since is not None

    def send(self, frame: bytes) -> None:
        """Write an answer or a fact, after whatever news wait."""
        if self._closed:
            return
        if self._merged:
            self._flush()
        self._write(frame)

    def send_news(self, key: NewsKey, frame: bytes) -> None:
        """Write news, or keep them until the client has read more."""
        if self._closed:
            return
        if self._merged or self.unread > self._bounds.merge_bytes:
            self._merged.pop(key, None)
            self._merged[key] = frame
            self._watch()
        else:
            self._write(frame)

    def close(self) -> None:
        """Write nothing more."""
        self._closed = True
        self._merged.clear()
        if self._look is not None:
            self._look.cancel()
            self._look = None

    def _write(self, frame: bytes) -> None:
        if self._connection.state is not State.OPEN:
            return  # The close frame is out; nothing may follow it.
        if not self.unread:
            self._largest = 0
        self._transport.write(frame)
        self._largest = max(self._largest, len(frame))
        size = self.unread
        if size - self._largest > self._bounds.evict_bytes:
            self._let_go()
        elif size > self._bounds.merge_bytes:
            self._watch()

    def _watch(self) -> None:
        if self._look is None and not self._closed:
            loop = asyncio.get_running_loop()
            if self._slow_since is None:
                self._slow_since = loop.time()
            self._look = loop.call_later(_LOOK, self._look_again)

    def _look_again(self) -> None:
        self._look = None
        if self._closed:
            return
        if self.unread <= self._bounds.merge_bytes:
            self._slow_since = None
            self._flush()
        elif asyncio.get_running_loop().time() - (self._slow_since or 0) >= self._bounds.evict_seconds:
            self._let_go()
        else:
            self._watch()

    def _flush(self) -> None:
        merged, self._merged = self._merged, {}
        for frame in merged.values():
            if not self._closed:
                self._write(frame)

    def _let_go(self) -> None:
        if not self._closed:
            self.close()
            self._evict()
