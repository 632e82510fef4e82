"""Which races a bot enters, one after the other."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass
from functools import partial
from random import Random

from cellrace.errors import CellraceError, ErrorCode, Refused
from cellrace.messages import EntrantStatus, RaceState, SettingsRequest
from cellrace_client.bot import SolverBot
from cellrace_client.connection import Connection
from cellrace_client.matches import LOOK, Matches, race_match
from cellrace_client.pace import Pace
from cellrace_client.race_view import RaceView, newest_going_on, seated
from cellrace_client.racer import race_to_the_end
from cellrace_client.terminal.sentences import tell_race
from cellrace_client.terminal.speech import printable
from cellrace_client.thinker import Thinker

_NOT_FOR_US = (
    ErrorCode.BOTS_NOT_ALLOWED,
    ErrorCode.RACE_FULL,
    ErrorCode.ALREADY_STARTED,
    ErrorCode.NOT_RUNNING,
    ErrorCode.NO_SUCH_RACE,
    ErrorCode.NOT_ALLOWED,
)
"""Refusals of a seat that has gone since the races were listed, or is none for a bot: another one is looked for."""

HURRIED = 0.1
"""Seconds for a move when nobody plays any more but bots: people wait for the standings, and for a rematch."""


async def keep_company(connection: Connection, race: str, pace: Pace, chance: Random) -> None:
    """Race as the rival of whoever is in a race, and in each rematch, until that player or the server has gone."""
    thinker = Thinker()
    try:
        while True:
            bot = SolverBot(thinker, pace, chance, sleep=partial(_wait_for_people, connection, race))
            await race_to_the_end(connection, race, bot)
            await thinker.close()  # No solver is kept for a rematch that may not come; it starts again when asked.
            await connection.view_where(race, lambda view: view.successor is not None)
            race = (await connection.rematch(race)).race
    except CellraceError:
        # There is nobody to race any more, or no server.
        return
    finally:
        await thinker.close()


async def _wait_for_people(connection: Connection, race: str, seconds: float) -> None:
    """Take one's time, for as long as people play."""
    await asyncio.sleep(min(seconds, HURRIED))  # Its pace is what makes it a rival, not a machine.
    if seconds > HURRIED:
        with suppress(TimeoutError):
            async with asyncio.timeout(seconds - HURRIED):
                await connection.view_where(race, lambda view: not _people_play(view))


def _people_play(view: RaceView) -> bool:
    return any(entrant.status is EntrantStatus.PLAYING and not entrant.player.bot for entrant in view.entrants)


@dataclass(frozen=True, slots=True)
class Wanted:
    """Where a bot wants to race: in a race by its id or code, in one of its own, or wherever there is a seat.

    With `queues` in quick matches of these games, of several in turn, `turn` seconds each; with `people_only` not
    against bots.
    """

    race: str | None = None
    code: str | None = None
    open: SettingsRequest | None = None
    queues: tuple[str, ...] = ()
    people_only: bool = False
    turn: float = LOOK


class BotRaces:
    """A bot that races again and again on one connection."""

    def __init__(
        self,
        connection: Connection,
        wanted: Wanted,
        pace: Pace,
        chance: Random,
        say: Callable[[str], None],
    ) -> None:
        self._connection = connection
        self._wanted = wanted
        self._pace = pace
        self._chance = chance
        self._say = say
        self._last: RaceView | None = None
        self._matches = Matches(connection, wanted.queues, bots=not wanted.people_only, turn=wanted.turn)

    async def run(self, races: int | None) -> list[RaceView]:
        """Races so many times, or for ever, and returns the last races as they ended."""
        thinker = Thinker()
        ended: list[RaceView] = []
        try:
            while races is None or len(ended) < races:
                view = await self._enter()
                for sentence in tell_race(view):
                    self._say(printable(sentence))
                bot = SolverBot(thinker, self._pace, self._chance)
                race = race_match if self._wanted.queues else race_to_the_end
                self._last = await race(self._connection, view.race, bot)
                if races is not None:
                    ended.append(self._last)
        finally:
            await thinker.close()
        return ended

    async def _enter(self) -> RaceView:
        connection, wanted = self._connection, self._wanted
        if (going_on := newest_going_on(connection.races.values())) is not None:
            return going_on
        if wanted.queues:
            return await self._matches.next()
        if wanted.race is not None or wanted.code is not None:
            if self._last is None:
                return await connection.join(wanted.race, code=wanted.code)
            return await connection.rematch(self._last.race)
        if wanted.open is not None:
            return await connection.create(wanted.open)
        return await self._find_a_seat() or await connection.create()

    async def _find_a_seat(self) -> RaceView | None:
        for summary in await self._connection.list_races(state=RaceState.OPEN):
            if seated(summary.entrants) >= summary.seats:
                continue
            try:
                return await self._connection.join(summary.race)
            except Refused as refused:
                if refused.code not in _NOT_FOR_US:
                    raise
        return None
