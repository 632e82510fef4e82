"""A WebSocket connection that hands over each message in the pass that read it, so that its arrival is exact.

Overriding `process_event` is not documented by websockets: its minor version is pinned, and a test compares this way
with the documented one.
"""

from __future__ import annotations

import time
from asyncio import BaseTransport, Transport
from collections.abc import Callable
from functools import partial
from typing import Any, Protocol, cast

from websockets.asyncio.server import ServerConnection
from websockets.datastructures import Headers
from websockets.frames import Frame, Opcode
from websockets.http11 import Request
from websockets.protocol import State

from cellrace_server.core.bucket import Bucket, full_bucket
from cellrace_server.net.responses import unreadable

Receive = Callable[[bytes, bool, float], None]
"""Takes a message, whether it is text, and the monotonic time at which it was read."""

IDLE_FRAMES = 256
"""Frames at once that are no message: pings, pongs, pieces of a message, what comes after the end was told."""
IDLE_FRAMES_PER_SECOND = 128.0
"""So many of them in the long run; after more the client is not read any more."""
DEAF = 0.5
"""Seconds that the farewell of such a client is waited for: that is not read either."""
AT_A_TIME = 4096
"""Bytes that are taken apart at a time: of a flood that is read in one go, the rest is dropped once it is known."""

_LONGEST_METHOD = 16
"""Bytes at the beginning of a request that are kept until it is read: its method, and the space after it."""

_FORGOTTEN = Request("", Headers())
"""What stands for the request of a connection that is open: a client's headers take more space than all the rest."""


class Gate(Protocol):
    """Counts connections that have asked for nothing yet, by address."""

    def begin(self, peer: str) -> bool:
        """Whether another one may be waited for."""

    def end(self, peer: str) -> None:
        """It has asked, or is gone."""


class Connection(ServerConnection):
    """A server's connection whose messages go to `receive` instead of a queue."""

    # Beside the many attributes of the library: together in one dictionary they would take twice the space.
    __slots__ = (
        "_asked",
        "_begun",
        "_deaf",
        "_early",
        "_flooded",
        "_gate",
        "_idle",
        "_lost",
        "_pieces",
        "_ponged",
        "_text",
        "_when_lost",
        "address",
        "receive",
    )

    def __init__(self, *args: Any, gate: Gate | None = None, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        self._gate = gate
        self._asked: Callable[[], None] | None = None
        self.receive: Receive | None = None
        self.address = ""
        """Whose it is, once its request is read."""
        self._lost = False
        self._when_lost: tuple[Callable[[], None], ...] = ()
        self._ponged: Callable[[bytes], None] | None = None
        # Messages that come before somebody takes them count as idle, and are as few.
        self._early: list[tuple[bytes, bool, float]] = []
        # Held to `max_size` by the protocol below.
        self._pieces: bytearray | None = None
        self._text = False
        self._idle: Bucket | None = None
        self._begun = b""
        """How the request begins, until it is read."""
        self._deaf = False
        self._flooded: Callable[[], None] | None = None

    def connection_made(self, transport: BaseTransport) -> None:
        """The connection is there, and is let go again where its address has too many that have asked for nothing."""
        super().connection_made(cast("Transport", transport))
        if self._gate is not None:
            peer = self.peer
            if self._gate.begin(peer):
                self._asked = partial(self._gate.end, peer)
            else:
                self.transport.abort()

    @property
    def peer(self) -> str:
        """The address that the connection comes from, which may be a proxy's."""
        remote = self.remote_address
        # IPv4 told as IPv6, by an address that listens for both, is IPv4.
        return str(remote[0]).removeprefix("::ffff:") if remote else ""

    def leave_gate(self) -> None:
        """The connection has asked for something, or is lost: it is no longer waited for."""
        asked, self._asked = self._asked, None
        if asked is not None:
            asked()

    def hand_over(self, receive: Receive, flooded: Callable[[], None] | None = None) -> None:
        """From now on messages go to `receive`, those that came already first; `flooded` hears of too much else."""
        self.request, self.response, self._begun = _FORGOTTEN, None, b""
        self.receive, self._flooded = receive, flooded
        early, self._early = self._early, []
        for message in early:
            receive(*message)
        if self._deaf and flooded is not None:
            flooded()

    def data_received(self, data: bytes) -> None:
        """Take apart what was read, until it turns out to be a flood."""
        if self.request is None:
            self._begun = (self._begun + data[:_LONGEST_METHOD])[:_LONGEST_METHOD]
        if len(data) <= AT_A_TIME and not self._deaf:
            super().data_received(data)
            return
        for first in range(0, len(data), AT_A_TIME):
            if self._deaf:
                return
            super().data_received(data[first : first + AT_A_TIME])

    def send_data(self) -> None:
        """Send what is to be sent; first why, where a request cannot be read and would only be closed."""
        unread = self.request is None and self.protocol.handshake_exc is not None
        if unread and self.protocol.writes == [b""] and not self.protocol.reader.eof:
            self.transport.write(unreadable(self._begun).serialize())
        super().send_data()

    def count_idle(self) -> None:
        """Count a frame that costs its sender no message; after too many of them nothing more is read."""
        now = time.monotonic()
        if self._idle is None:
            self._idle = full_bucket(IDLE_FRAMES, IDLE_FRAMES_PER_SECOND, now)
        if self._idle.take(1, now) and not self._deaf:
            # Read on, it would keep everybody else of this node waiting.
            self._deaf, self.close_timeout = True, DEAF
            if not self.transport.is_closing():
                self.transport.pause_reading()
            if self._flooded is not None:
                self._flooded()

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
        self.leave_gate()
        self._lost = True
        told, self._when_lost = self._when_lost, ()
        for then in told:
            then()
        self.receive = self._ponged = self._flooded = None

    def process_event(self, event: Any) -> None:
        """Take a data frame; everything else goes the usual way."""
        if type(event) is not Frame or event.opcode not in (Opcode.TEXT, Opcode.BINARY, Opcode.CONT):
            super().process_event(event)
            if type(event) is Frame:
                self.count_idle()
                if event.opcode is Opcode.PONG and self._ponged is not None:
                    self._ponged(bytes(event.data))
            return
        if event.opcode is not Opcode.CONT:
            self._text = event.opcode is Opcode.TEXT
        data = bytes(event.data)
        if not event.fin or self._pieces is not None:
            self._pieces = self._pieces or bytearray()
            self._pieces += data
            if not event.fin:
                self.count_idle()
                return
            data, self._pieces = bytes(self._pieces), None
        if self.receive is None:
            self._early.append((data, self._text, time.monotonic()))
            self.count_idle()
        else:
            self.receive(data, self._text, time.monotonic())
