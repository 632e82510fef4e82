"""The round trips of one connection: measured now and then, and at once where a race needs to know."""

from __future__ import annotations

import asyncio
import os
import time
from collections.abc import Callable

from cellrace_server.net.connection import Connection

LEAVE = 2.0
"""How many seconds a client has that has said goodbye and does not go."""


class Pinger:
    """Pings a client, notes each round trip in ms, and ends the connection when no pong comes.

    One timer and no task: a node has thousands of connections that do nothing else.
    """

    __slots__ = ("_connection", "_note", "_pause", "_payload", "_sent_at", "_timer", "_wanted")

    def __init__(self, connection: Connection, pause: float, note: Callable[[int], None]) -> None:
        self._connection = connection
        self._pause = pause
        self._note = note
        self._payload = b""
        """What the pong must bring back; empty once it has."""
        self._sent_at = 0.0
        self._wanted = False
        self._timer: asyncio.TimerHandle | None = None

    def start(self) -> None:
        """Ping from now on, until `stop` or the connection's end."""
        self._connection.when_pong(self._ponged)
        self._ping()

    def stop(self) -> None:
        """Ping no more."""
        if self._timer is not None:
            self._timer.cancel()
            self._timer = None

    def measure(self) -> None:
        """Measure now; a ping that is on its way was sent too early to count."""
        if self._payload:
            self._wanted = True
        elif self._timer is not None:
            self._timer.cancel()
            self._ping()

    def _ping(self) -> None:
        self._timer = None
        self._wanted = False
        self._payload = os.urandom(4)  # Guessed, it would make a round trip shorter than it is.
        self._sent_at = time.monotonic()
        pause = self._pause if self._connection.send_ping(self._payload) else LEAVE
        self._timer = asyncio.get_running_loop().call_later(pause, self._look)

    def _look(self) -> None:
        if self._payload:
            self._timer = None
            self._connection.transport.abort()  # Half open: nobody is there to read a close frame.
        else:
            self._ping()

    def _ponged(self, payload: bytes) -> None:
        if not self._payload or payload != self._payload:
            return
        self._payload = b""
        self._note(round((time.monotonic() - self._sent_at) * 1000))
        if self._wanted and self._timer is not None:
            self._timer.cancel()
            self._ping()
