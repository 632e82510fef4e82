"""The rooms of one node: which races are held here, and when each of them is woken."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Iterator
from contextlib import asynccontextmanager
from typing import assert_never

import structlog

from cellrace.errors import ErrorCode, Refused
from cellrace.messages import CloseCode
from cellrace_server.core.race import NEVER_ENTERED, Race
from cellrace_server.referee import Referee
from cellrace_server.room import Announcer, Room
from cellrace_server.store import Store
from cellrace_server.store.errors import StoreUnavailable
from cellrace_server.store.hearing import FactTold, MovesTold, PresenceTold
from cellrace_server.store.races import LostTrack
from cellrace_server.tasks import Tasks

RETRY = 1.0
"""Seconds until a race is woken again when the store has failed or there was nothing to do yet."""
SHORTEST_PAUSE = 0.02
"""The same before the start, which is told as soon as it may be."""

log = structlog.get_logger()


class _Holding:
    """One race's place here, kept while somebody uses it or hears the room.

    `lock` makes loading and letting go serial; `missed` says that something was told while the record was being read.
    """

    __slots__ = ("finished", "lock", "missed", "referee", "timer", "users", "waking")

    def __init__(self) -> None:
        self.lock = asyncio.Lock()
        self.referee: Referee | None = None
        self.users = 0
        self.timer: asyncio.TimerHandle | None = None
        self.waking: Referee | None = None
        self.finished = False
        self.missed = False


class Rooms:
    """Holds the rooms that have members here, and wakes each when it must be."""

    def __init__(self, store: Store, announcer: Announcer, tasks: Tasks) -> None:
        self._store = store
        self._announcer = announcer
        self._tasks = tasks
        self._holdings: dict[str, _Holding] = {}

    def __len__(self) -> int:
        return len(self._holdings)

    def __iter__(self) -> Iterator[Referee]:
        """The referees of the races held here."""
        return iter([holding.referee for holding in self._holdings.values() if holding.referee is not None])

    @asynccontextmanager
    async def hold(self, race_id: str) -> AsyncIterator[Referee]:
        """The referee of a race, kept at least until the block ends, and for as long as it has members.

        Raises Refused with `no_such_race`, StoreUnavailable; what makes the race lose track closes its members.
        """
        holding = self._holdings.setdefault(race_id, _Holding())
        holding.users += 1
        try:
            referee = await self._load(race_id, holding)
            try:
                yield referee
            except LostTrack:
                self.lose(referee)
                raise
            finally:
                self.attend(referee)
        finally:
            holding.users -= 1
            self._let_go_soon(race_id, holding)

    async def create(self, race: Race) -> None:
        """Put a new race on record; it is due before it has a fact (NODES, 7)."""
        await self._store.due.expect(race.id, race.created_at + NEVER_ENTERED)
        await self._store.races.create(race)

    async def _load(self, race_id: str, holding: _Holding) -> Referee:
        async with holding.lock:
            if holding.referee is not None:
                return holding.referee
            holding.missed = False
            record = await self._store.races.load(race_id, host=True)
            if record is None:
                raise Refused(ErrorCode.NO_SUCH_RACE)
            secret = None if record.race.start_at is None else await self._store.races.secret(race_id)
            referee = Referee(Room(record, secret, self._announcer), self._store)
            referee.release_in_time()
            if holding.missed:
                referee.room.doubt()
            holding.referee = referee
            holding.finished = False
            return referee

    def left(self, referee: Referee) -> None:
        """A member has left a room; a room that nobody here hears is let go."""
        holding = self._holdings.get(referee.room.id)
        if holding is not None:
            self._let_go_soon(referee.room.id, holding)

    def _let_go_soon(self, race_id: str, holding: _Holding) -> None:
        if _is_idle(holding):
            self._tasks.spawn(self._let_go(race_id, holding), "let a room go")

    async def _let_go(self, race_id: str, holding: _Holding) -> None:
        # Under the lock, so that whoever wants the race meanwhile registers as its host after this (NODES, 13).
        async with holding.lock:
            if not _is_idle(holding) or self._holdings.get(race_id) is not holding:
                return
            if holding.referee is not None:
                self._forget(holding)
                try:
                    await self._store.races.unhost(race_id)
                except StoreUnavailable:
                    log.debug("could not unhost", race=race_id)  # Told of a race not held here, a node passes it over.
            if not holding.users:
                del self._holdings[race_id]

    def _forget(self, holding: _Holding) -> None:
        holding.referee = None
        if holding.timer is not None:
            holding.timer.cancel()
            holding.timer = None

    def lose(self, referee: Referee) -> None:
        """What is known here is not what the store knows: those who are here come back and resume (NODES, 2)."""
        if referee.room.lost:
            return
        log.warning("lost track", race=referee.room.id)
        referee.room.lost = True
        for member in list(referee.room.members()):
            member.close(CloseCode.LOST_TRACK)
        holding = self._holdings.get(referee.room.id)
        if holding is not None and holding.referee is referee:
            self._forget(holding)

    def attend(self, referee: Referee, pause: float = 0.0) -> None:
        """See to it that a race held here is woken when it must be, after a pause at the earliest."""
        holding = self._holdings.get(referee.room.id)
        if holding is None or holding.referee is not referee or holding.waking is referee:
            return
        if holding.timer is not None:
            holding.timer.cancel()
            holding.timer = None
        following = referee.next_look(self._store.clock.now())
        if following is None:
            if not holding.finished:
                holding.finished = True
                self._tasks.spawn(self._finish(referee), "finish a race")
            return
        delay = max(pause, self._store.clock.seconds_until(following))
        if delay:
            holding.timer = asyncio.get_running_loop().call_later(delay, self._wake_soon, holding, referee)
        else:
            self._wake_soon(holding, referee)

    def _wake_soon(self, holding: _Holding, referee: Referee) -> None:
        if holding.waking is not referee:
            holding.waking = referee
            self._tasks.spawn(self._wake(holding, referee), "wake a race")

    async def _wake(self, holding: _Holding, referee: Referee) -> None:
        pause = 0.0
        try:
            if not await referee.wake():
                pause = RETRY if referee.room.released else SHORTEST_PAUSE
        except StoreUnavailable as error:
            log.debug("a race could not be woken", race=referee.room.id, reason=str(error))
            pause = RETRY
        except LostTrack:
            self.lose(referee)
        finally:
            if holding.waking is referee:
                holding.waking = None
        self.attend(referee, pause)

    async def _finish(self, referee: Referee) -> None:
        race = referee.room.race
        try:
            await referee.finish()
        except StoreUnavailable as error:
            # The race is still due: the next sweep of any node does it.
            log.debug("the effects of an end are left to the sweep", race=race.id, reason=str(error))

    def hear(self, telling: FactTold | MovesTold | PresenceTold) -> None:
        """Take in what another node has written; on a gap the record is read."""
        holding = self._holdings.get(telling.race)
        if holding is None:
            return
        if holding.referee is None:
            # The record that is on its way here may have left the store before this was written (NODES, 15).
            holding.missed = True
            return
        room = holding.referee.room
        match telling:
            case FactTold():
                whole = room.apply_facts((telling.stamped,))
                self.attend(holding.referee)
            case MovesTold():
                whole = room.extend_log(telling.player, telling.seq, telling.entries)
            case PresenceTold():
                room.set_presence(telling.player, telling.presence)
                whole = True
                self.attend(holding.referee)
            case _:
                assert_never(telling)
        if not whole:
            self.doubt(holding.referee)

    def doubt(self, referee: Referee) -> None:
        """Read the record of a race held here: something is missing."""
        referee.room.doubt()
        holding = self._holdings.get(referee.room.id)
        if holding is not None and holding.referee is referee:
            self._wake_soon(holding, referee)

    def catch_up(self) -> None:
        """Read the record of every race held here: something may have been told while nobody listened (NODES, 15)."""
        for holding in list(self._holdings.values()):
            if holding.referee is None:
                holding.missed = True
            else:
                self.doubt(holding.referee)


def _is_idle(holding: _Holding) -> bool:
    return not holding.users and (holding.referee is None or holding.referee.room.deserted)
