"""The announced end of a node: it takes no new races, and waits a while for those that are run here."""

from __future__ import annotations

import asyncio
import contextlib
from collections.abc import Iterable

from cellrace.errors import ErrorCode, Refused
from cellrace.messages import (
    ClientMessage,
    DailyPractice,
    DailyStart,
    QueueJoin,
    RaceCreate,
    RaceRematch,
    RaceStart,
    RaceState,
)
from cellrace_server.referee import Referee
from cellrace_server.store.clock import RaceClock

ELSEWHERE = 5_000
"""When whoever wants a new race is to ask again, ms: by then most are connected elsewhere."""
LOOK = 0.1
"""Seconds between two looks whether somebody here still races."""


class Draining:
    """Whether a node is to end soon."""

    def __init__(self) -> None:
        self.begun = False

    def check(self, request: ClientMessage) -> None:
        """Let a request pass unless it makes a new race. Raises Refused."""
        if self.begun and isinstance(
            request, RaceCreate | RaceStart | RaceRematch | QueueJoin | DailyStart | DailyPractice
        ):
            raise Refused(ErrorCode.RETRY_LATER, "This server is about to end.", retry_after=ELSEWHERE)

    async def drain(self, referees: Iterable[Referee], clock: RaceClock, patience: float) -> None:
        """Take no new races, and wait for those that somebody here is in, so many seconds at most."""
        self.begun = True
        with contextlib.suppress(TimeoutError):
            async with asyncio.timeout(patience):
                while _anybody_races(referees, clock.now()):  # noqa: ASYNC110 - looked at, so that play is not slower.
                    await asyncio.sleep(LOOK)


def _anybody_races(referees: Iterable[Referee], now: int) -> bool:
    return any(
        referee.room.entrants_here and referee.room.race.state(now) in (RaceState.COUNTDOWN, RaceState.RUNNING)
        for referee in referees
    )
