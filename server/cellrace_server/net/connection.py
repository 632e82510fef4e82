"""A WebSocket connection that hands over each message in the pass that read it, so that its arrival is exact.

Overriding `process_event` is not documented by websockets: its minor version is pinned, and a test compares this way
with the documented one.
"""

from __future__ import annotations

import time
from collections.abc import Callable
from typing import Any

from websockets.asyncio.server import ServerConnection
from websockets.datastructures import Headers
from websockets.frames import Frame, Opcode
from websockets.http11 import Request
from websockets.protocol import State

Receive = Callable[[bytes, bool, float], None]
"""Takes a message, whether it is text, and the monotonic time at which it was read."""

_FORGOTTEN = Request("", Headers())
"""What stands for the request of a connection that is open: a client's headers take more space than all the rest."""


class Connection(ServerConnection):
    """A server's connection whose messages go to `receive` instead of a queue."""

    # Beside the many attributes of the library: together in one dictionary they would take twice the space.
    __slots__ = ("_early", "_fragments", "_lost", "_ponged", "_text", "_when_lost", "address", "receive")

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        self.receive: Receive | None = None
        self.address = ""
        """Whose it is, once its request is read."""
        self._lost = False
        self._when_lost: tuple[Callable[[], None], ...] = ()
        self._ponged: Callable[[bytes], None] | None = None
        self._early: list[tuple[bytes, bool, float]] = []
        self._fragments: list[bytes] = []
        self._text = False

    def hand_over(self, receive: Receive) -> None:
        """From now on messages go to `receive`, those that came already first."""
        self.request, self.response = _FORGOTTEN, None
        self.receive = receive
        early, self._early = self._early, []
        for message in early:
            receive(*message)

    def when_lost(self, then: Callable[[], None]) -> None:
        """Call this once the connection is lost; at once if it is already."""
        if self._lost:
            then()
        else:
            self._when_lost += (then,)

    def when_pong(self, then: Callable[[bytes], None]) -> None:
        """Call this with what each pong brings back."""
        self._ponged = then

    def send_ping(self, payload: bytes) -> bool:
        """Ping, without waiting for what is still to be sent; False once the connection is about to end."""
        if self.state is not State.OPEN or self.transport.is_closing():
            return False
        self.protocol.send_ping(payload)
        self.send_data()
        return True

    def connection_lost(self, exc: Exception | None) -> None:
        """The connection is lost."""
        super().connection_lost(exc)
        self._lost = True
        told, self._when_lost = self._when_lost, ()
        for then in told:
            then()
        self.receive = self._ponged = None

    def process_event(self, event: Any) -> None:
        """Take a data frame; everything else goes the usual way."""
        if type(event) is not Frame or event.opcode not in (Opcode.TEXT, Opcode.BINARY, Opcode.CONT):
            super().process_event(event)
            if type(event) is Frame and event.opcode is Opcode.PONG and self._ponged is not None:
                self._ponged(bytes(event.data))
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
