"""Notices that something which was asked is left unanswered for long, though nothing is cut, and when that ends.

A server that is held up, or one whose store is away, closes no connection: only its answers are missing.
"""

from __future__ import annotations

import asyncio

from cellrace_client.connection.clock import RaceClock
from cellrace_client.connection.flight import Flight
from cellrace_client.connection.inbox import Inbox
from cellrace_client.events import Heard, Silent

SILENT_AFTER = 5.0
"""Seconds beyond the round trip: longer than a server is busy or a link stalls, and soon enough for who waits."""
_HELD_UP = 1.0
"""A look that is so many seconds late was held up on this side: what has come meanwhile is read first."""
_LEAST = 0.001
"""Seconds until a look at least: what has come meanwhile is taken in before."""


class Silence:
    """Tells `Silent` and `Heard` of one connection after the other; it wakes up only while something is unanswered."""

    def __init__(self, clock: RaceClock, flight: Flight, inbox: Inbox) -> None:
        self._clock = clock
        self._flight = flight
        self._inbox = inbox
        self._silent = False
        self._due = 0.0
        self._look: asyncio.TimerHandle | None = None

    @property
    def _longest(self) -> float:
        return SILENT_AFTER + (self._clock.round_trip or 0.0)

    def sent(self) -> None:
        """Something has been sent: its answer is waited for."""
        if self._look is None and not self._silent:
            self._look_in(self._longest)

    def answered(self) -> None:
        """Something has been answered: the silence is over when nothing old waits any more."""
        if self._silent and self._left() > 0:
            self._silent = False
            self._inbox.put(Heard())
            self._look_in(self._left())

    def over(self) -> None:
        """The connection is gone: what is said of that says it all."""
        self._silent = False
        if self._look is not None:
            self._look.cancel()
            self._look = None

    def _left(self) -> float:
        """The seconds until what has waited longest has waited too long."""
        since = self._flight.unanswered_since()
        return self._longest if since is None else since + self._longest - self._clock.local()

    def _look_in(self, seconds: float) -> None:
        self._due = self._clock.local() + seconds
        self._look = asyncio.get_running_loop().call_later(max(_LEAST, seconds), self._look_now)

    def _look_now(self) -> None:
        self._look = None
        if self._flight.unanswered_since() is None:
            return
        if self._clock.local() - self._due > _HELD_UP:
            self._look_in(_HELD_UP)
        elif (left := self._left()) > 0:
            self._look_in(left)
        else:
            self._silent = True
            self._inbox.put(Silent())
