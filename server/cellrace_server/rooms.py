"""The rooms of one node: which races are held here, when each is woken, and those that nobody holds (NODES, 7)."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import assert_never

import structlog

from cellrace.errors import ErrorCode, Refused
from cellrace.messages import CloseCode
from cellrace_server.core.race import Race
from cellrace_server.referee import Referee
from cellrace_server.room import Announcer, Room
from cellrace_server.store import Store
from cellrace_server.store.errors import StoreUnavailable
from cellrace_server.store.hearing import FactTold, MovesTold, PresenceTold
from cellrace_server.store.nodes import BEAT
from cellrace_server.store.races import LostTrack
from cellrace_server.tasks import Tasks

SWEEP = 1.0
"""Seconds between two looks at the races that are due."""
RETRY = 1.0
"""Seconds until a race is woken again when the store has failed or there was nothing to do yet."""
SHORTEST_PAUSE = 0.02
CREATION = 60_000
"""After how many ms a race that is due but not on record will not come any more."""

log = structlog.get_logger()


class Rooms:
    """Holds the rooms that have members here, and looks after every race that is due."""

    def __init__(self, store: Store, announcer: Announcer, tasks: Tasks) -> None:
        self._store = store
        self._announcer = announcer
        self._tasks = tasks
        self._held: dict[str, Referee] = {}
        self._loading: dict[str, asyncio.Lock] = {}
        self._timers: dict[str, asyncio.TimerHandle] = {}
        self._waking: set[str] = set()
        self._users: dict[str, int] = {}
        self._finished: set[str] = set()

    def __len__(self) -> int:
        return len(self._held)

    @property
    def running(self) -> int:
        """How many of the races held here are running."""
        now = self._store.clock.now()
        return sum(r.room.race.state(now) == "running" for r in self._held.values())

    @asynccontextmanager
    async def hold(self, race_id: str) -> AsyncIterator[Referee]:
        """The referee of a race, kept at least until the block ends, and for as long as it has members.

        Raises Refused with `no_such_race`, StoreUnavailable; what makes the race lose track closes its members.
        """
        self._users[race_id] = self._users.get(race_id, 0) + 1
        try:
            referee = await self._load(race_id)
            try:
                yield referee
            except LostTrack:
                self._lose(referee)
                raise
            self.attend(referee)
        finally:
            self._users[race_id] -= 1
            if not self._users[race_id]:
                del self._users[race_id]
            await self._let_go(race_id)

    async def create(self, race: Race) -> None:
        """Put a new race on record; it is due before it has a fact (NODES, 7)."""
        await self._store.due.expect(race.id, race.created_at + CREATION)
        await self._store.races.create(race)

    async def _load(self, race_id: str) -> Referee:
        lock = self._loading.setdefault(race_id, asyncio.Lock())
        try:
            async with lock:
                if (held := self._held.get(race_id)) is not None:
                    return held
                record = await self._store.races.load(race_id, host=True)
                if record is None:
                    raise Refused(ErrorCode.NO_SUCH_RACE)
                secret = None if record.race.start_at is None else await self._store.races.secret(race_id)
                referee = Referee(Room(record, secret, self._announcer), self._store)
                now = self._store.clock.now()
                if record.race.start_at is not None and now >= record.race.start_at + self._store.clock.margin:
                    referee.room.released = referee.room.start is not None
                self._held[race_id] = referee
                return referee
        finally:
            if not lock.locked():
                self._loading.pop(race_id, None)

    def left(self, referee: Referee) -> None:
        """A member has left a room; a room that nobody here hears is let go."""
        self._tasks.spawn(self._let_go(referee.room.id), "race")

    async def _let_go(self, race_id: str) -> None:
        referee = self._held.get(race_id)
        if referee is None or race_id in self._users or not referee.room.deserted:
            return
        self._forget(race_id)
        try:
            await self._store.races.unhost(race_id)
        except StoreUnavailable:
            log.debug("could not unhost", race=race_id)  # Told of a race that is not held here, a node passes it over.

    def _forget(self, race_id: str) -> None:
        self._held.pop(race_id, None)
        self._finished.discard(race_id)
        timer = self._timers.pop(race_id, None)
        if timer is not None:
            timer.cancel()

    def _lose(self, referee: Referee) -> None:
        """What is known here is not what the store knows: those who are here come back and resume (NODES, 2)."""
        log.warning("lost track", race=referee.room.id)
        for member in list(referee.room.members()):
            member.close(CloseCode.LOST_TRACK)
        self._forget(referee.room.id)

    def attend(self, referee: Referee, pause: float = 0.0) -> None:
        """See to it that a race held here is woken when it must be, after a pause at the earliest."""
        race_id = referee.room.id
        if self._held.get(race_id) is not referee or race_id in self._waking:
            return
        following = referee.next_look(self._store.clock.now())
        timer = self._timers.pop(race_id, None)
        if timer is not None:
            timer.cancel()
        if following is None:
            if race_id not in self._finished:
                self._finished.add(race_id)
                self._tasks.spawn(self._finish(referee), "race")
            return
        delay = max(pause, self._store.clock.seconds_until(following))
        if delay:
            loop = asyncio.get_running_loop()
            self._timers[race_id] = loop.call_later(delay, self._wake_soon, referee)
        else:
            self._wake_soon(referee)

    def _wake_soon(self, referee: Referee) -> None:
        race_id = referee.room.id
        if race_id not in self._waking:
            self._waking.add(race_id)
            self._tasks.spawn(self._wake(referee), "race")

    async def _wake(self, referee: Referee) -> None:
        pause = SHORTEST_PAUSE
        try:
            if not await referee.wake():
                pause = SHORTEST_PAUSE if not referee.room.released else RETRY
        except StoreUnavailable as error:
            log.warning("a race could not be woken", race=referee.room.id, reason=str(error))
            pause = RETRY
        except LostTrack:
            self._lose(referee)
        finally:
            self._waking.discard(referee.room.id)
        self.attend(referee, pause)

    async def _finish(self, referee: Referee) -> None:
        """The effects of an end; what fails is done by the next sweep, for the race is still due."""
        race = referee.room.race
        try:
            await referee.finish()
        except StoreUnavailable as error:
            log.warning("the effects of an end are left to the sweep", race=race.id, reason=str(error))

    def hear(self, telling: FactTold | MovesTold | PresenceTold) -> None:
        """Take in what another node has written; on a gap the record is read."""
        referee = self._held.get(telling.race)
        if referee is None:
            return
        room = referee.room
        match telling:
            case FactTold():
                whole = room.apply_facts((telling.stamped,))
            case MovesTold():
                whole = room.extend_log(telling.player, telling.seq, telling.entries)
            case PresenceTold():
                room.set_presence(telling.player, telling.presence)
                whole = True
            case _:
                assert_never(telling)
        if whole:
            self.attend(referee)
        else:
            room.doubtful = True
            self._wake_soon(referee)

    def catch_up(self) -> None:
        """Read the record of every room: something may have been told while nobody listened (NODES, 15)."""
        for referee in self._held.values():
            referee.room.doubtful = True
            self._wake_soon(referee)

    async def sweep(self) -> None:
        """Look at every race that is due, whoever holds it, until cancelled."""
        while True:
            try:
                await self.sweep_once()
            except StoreUnavailable as error:
                log.warning("the races that are due could not be looked at", reason=str(error))
            await asyncio.sleep(SWEEP)

    async def sweep_once(self) -> int:
        """Look at the races that are due now, and say how many there were. Raises StoreUnavailable."""
        race_ids, claimed = await self._store.due.claim(self._store.clock.now())
        for race_id in race_ids:
            try:
                async with self.hold(race_id) as referee:
                    await referee.wake()
                    if referee.room.race.ended:
                        self._finished.add(race_id)
                        await referee.finish()
                    following = referee.next_look(self._store.clock.now())
                await self._store.due.settle(race_id, claimed, following)
            except Refused:
                await self._drop_unless_new(race_id, claimed)
            except LostTrack:
                continue  # Still due: looked at anew when the claim has run out.
        return len(race_ids)

    async def _drop_unless_new(self, race_id: str, claimed: int) -> None:
        """A race that is due and not on record was never created, or has expired."""
        await self._store.lists.drop(race_id)
        await self._store.due.settle(race_id, claimed, None)

    async def beat(self) -> None:
        """Say every few seconds that this node lives, until cancelled."""
        while True:
            try:
                await self._store.nodes.beat(self._store.clock.now())
            except StoreUnavailable as error:
                log.warning("no beat", reason=str(error))
            await asyncio.sleep(BEAT)
