"""A WebSocket connection that hands over each message in the pass that read it, so that its arrival is exact.

Overriding `process_event` is not documented by websockets: its minor version is pinned, and a test compares this way
with the documented one.
"""

from __future__ import annotations

import time
from collections.abc import Callable
from typing import Any

from websockets.asyncio.server import ServerConnection
from websockets.frames import Frame, Opcode

Receive = Callable[[bytes, bool, float], None]
"""Takes a message, whether it is text, and the monotonic time at which it was read."""


class Connection(ServerConnection):
    """A server's connection whose messages go to `receive` instead of a queue."""

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        self.receive: Receive | None = None
        self.address = ""
        """Whose it is, once its request is read."""
        self._lost = False
        self._when_lost: Callable[[], None] | None = None
        self._early: list[tuple[bytes, bool, float]] = []
        self._fragments: list[bytes] = []
        self._text = False

    def hand_over(self, receive: Receive) -> None:
        """From now on messages go to `receive`, those that came already first."""
        self.receive = receive
        early, self._early = self._early, []
        for message in early:
            receive(*message)

    def when_lost(self, then: Callable[[], None]) -> None:
        """Call this once the connection is lost; at once if it is already."""
        if self._lost:
            then()
        else:
            self._when_lost = then

    def connection_lost(self, exc: Exception | None) -> None:
        """The connection is lost."""
        super().connection_lost(exc)
        self._lost = True
        if self._when_lost is not None:
            self._when_lost()

    def process_event(self, event: Any) -> None:
        """Take a data frame; everything else goes the usual way."""
        if type(event) is not Frame or event.opcode not in (Opcode.TEXT, Opcode.BINARY, Opcode.CONT):
            super().process_event(event)
            return
        if event.opcode is not Opcode.CONT:
            self._text = event.opcode is Opcode.TEXT
        data = bytes(event.data)
        if not event.fin or self._fragments:
            # The protocol below holds the whole message to `max_size`.
            self._fragments.append(data)
            if not event.fin:
                return
            data = b"".join(self._fragments)
            self._fragments = []
        if self.receive is None:
            self._early.append((data, self._text, time.monotonic()))
        else:
            self.receive(data, self._text, time.monotonic())
