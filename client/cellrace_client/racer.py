"""Takes one race from the first `ready` to its end, for whoever chooses the moves."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Sequence
from typing import Protocol

from cellrace.errors import ErrorCode, Refused
from cellrace.messages import EntrantStatus, RaceState
from cellrace_client.connection import Connection
from cellrace_client.race_view import RaceView

_ILLEGAL_MOVES = 3
"""So many illegal moves in a row are a mistake of the player that time does not mend."""
_LONGEST_PAUSE = 30.0
"""Seconds between two attempts to be ready, where the server has no deal."""

_OVER_MEANWHILE = (ErrorCode.ALREADY_DONE, ErrorCode.NOT_RUNNING, ErrorCode.NOT_ENTRANT)


class Chooser(Protocol):
    """Who chooses the moves of a game."""

    async def choose(self, view: RaceView) -> Sequence[str]:
        """The next moves, up to 64; none of them: concede. Cancelled when the race ends meanwhile."""
        ...


async def race_to_the_end(
    connection: Connection,
    race: str,
    chooser: Chooser,
    sleep: Callable[[float], Awaitable[None]] = asyncio.sleep,
) -> RaceView:
    """Gets ready, plays, and returns the race when it is over or cancelled, or when one is no entrant any more.

    Drops are the connection's business: it comes back and repeats. Raises Refused where the chooser keeps to
    illegal moves (after conceding) or the server says something unexpected, Closed where the connection ends.
    """
    view = await _get_ready(connection, race, sleep)
    illegal = 0
    while view.playing:
        moves = await _choose(connection, view, chooser)
        try:
            if moves is None:
                pass
            elif moves:
                await connection.move(race, *moves)
                illegal = 0
            else:
                await connection.concede(race)
        except Refused as refused:
            if refused.code == ErrorCode.ILLEGAL_MOVE:
                illegal += 1
                if illegal == _ILLEGAL_MOVES:
                    await connection.concede(race)
                    raise
                await connection.sync(race)
            elif refused.code in _OVER_MEANWHILE:
                await connection.sync(race)
            elif refused.code != ErrorCode.STALE:
                raise
        view = connection.view(race)
    return await connection.view_where(race, lambda view: view.ended or view.me is None)


async def _get_ready(connection: Connection, race: str, sleep: Callable[[float], Awaitable[None]]) -> RaceView:
    times = 0
    while True:
        view = connection.view(race)
        me = view.me
        if me is None or view.state not in (RaceState.OPEN, RaceState.COUNTDOWN):
            return view
        if view.state is RaceState.COUNTDOWN or me.status is not EntrantStatus.JOINED:
            await connection.view_after(view)
            continue
        if times:
            # Ready before, and open again: the server has no deal. It may have one later.
            await sleep(min(_LONGEST_PAUSE, 2.0**times))
        times += 1
        try:
            await connection.ready(race)
        except Refused as refused:
            if refused.code not in (ErrorCode.ALREADY_STARTED, *_OVER_MEANWHILE):
                raise
            await connection.sync(race)


async def _choose(connection: Connection, view: RaceView, chooser: Chooser) -> Sequence[str] | None:
    """What is chosen, None when the game ended before."""
    choosing = asyncio.ensure_future(chooser.choose(view))
    ending = asyncio.ensure_future(connection.view_where(view.race, lambda now: not now.playing))
    try:
        await asyncio.wait((choosing, ending), return_when=asyncio.FIRST_COMPLETED)
        if choosing.done():
            return choosing.result()
        ending.result()
        return None
    finally:
        for task in (choosing, ending):
            task.cancel()
        await asyncio.gather(choosing, ending, return_exceptions=True)
