"""Quick matches for a bot: it waits in the queue of a game, or in those of several in turn."""

from __future__ import annotations

import asyncio
import itertools
from collections.abc import Sequence

from cellrace.errors import ErrorCode, Refused
from cellrace.messages import RaceState
from cellrace_client.connection import Connection
from cellrace_client.race_view import RaceView, goes_on
from cellrace_client.racer import Chooser, race_to_the_end

LOOK = 15.0
"""Seconds after which one who waits asks again to wait: a connection that dropped has left the queue."""
COMPANY = 3.0
"""Seconds to stay at least in one of several queues where somebody else waits: a server matches once a second."""
ALONE = 10.0
"""Seconds to wait for another rival when the one of a match was removed, for having no connection."""
_LATE = 0.5
"""Seconds in which a match may still come that was made before the queue was left."""


class Matches:
    """Finds one quick match after the other; `bots` says whether bots will do as rivals."""

    def __init__(self, connection: Connection, variants: Sequence[str], *, bots: bool, turn: float = LOOK) -> None:
        self._connection = connection
        self._variants = itertools.cycle(variants)
        self._several = len(variants) > 1
        self._bots = bots
        self._turn = turn

    async def next(self) -> RaceView:
        """The next race that one is in. Raises CellraceError where the connection ends."""
        variant = next(self._variants)
        while True:
            turn = self._turn
            try:
                if await self._connection.queue(variant, bots=self._bots) > 1:
                    turn = max(turn, COMPANY)
            except Refused as refused:
                if refused.code != ErrorCode.ALREADY_QUEUED:
                    raise
            view = await self._matched(turn)
            if view is None and self._several:
                view, variant = await self.leave(), next(self._variants)
            if view is not None:
                return view

    async def leave(self) -> RaceView | None:
        """Wait no more; the race that was found just before, if there was one."""
        await self._connection.leave_queue()
        return await self._matched(_LATE)

    async def _matched(self, within: float) -> RaceView | None:
        try:
            async with asyncio.timeout(within):
                return await self._connection.race_where(goes_on)
        except TimeoutError:
            return None


async def race_match(connection: Connection, race: str, chooser: Chooser) -> RaceView:
    """Races a quick match to its end; one in which the rival has not come is left. Raises as `race_to_the_end`."""
    view = connection.view(race)
    alone = asyncio.Event()
    watching = asyncio.create_task(_leave_if_alone(connection, race, alone))
    try:
        return await race_to_the_end(connection, race, chooser)
    except Refused as refused:
        # What was left is known no more.
        if refused.code != ErrorCode.NO_SUCH_RACE or not alone.is_set():
            raise
        return view
    finally:
        watching.cancel()
        await asyncio.gather(watching, return_exceptions=True)


async def _leave_if_alone(connection: Connection, race: str, alone: asyncio.Event) -> None:
    """Leave a race that nobody else has been in for a while, before it has begun."""
    while True:
        await connection.view_where(race, _is_alone)
        try:
            async with asyncio.timeout(ALONE):
                await connection.view_where(race, lambda view: not _is_alone(view))
        except TimeoutError:
            alone.set()
            await connection.leave(race)
            return


def _is_alone(view: RaceView) -> bool:
    return view.state is RaceState.OPEN and view.me is not None and len(view.entrants) == 1
