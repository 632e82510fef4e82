"""What a node does again and again: its beat, the races that are due, and comparing what it holds with the store."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable

import structlog

from cellrace.errors import Refused
from cellrace_server.core.presence import judges
from cellrace_server.rooms import Rooms
from cellrace_server.store import Store
from cellrace_server.store.errors import StoreUnavailable
from cellrace_server.store.nodes import BEAT
from cellrace_server.store.races import LostTrack

SWEEP = 1.0
"""Seconds between two looks at the races that are due (NODES, 7)."""
COMPARISON = 30.0
"""Seconds between two comparisons of the races held here with the store (NODES, 14)."""

log = structlog.get_logger()


class Upkeep:
    """The chores of one node."""

    def __init__(self, store: Store, rooms: Rooms, catch_up: Callable[[], None] | None = None) -> None:
        self._store = store
        self._rooms = rooms
        self._catch_up = catch_up or rooms.catch_up

    async def beat(self) -> None:
        """Say every few seconds that this node lives, until cancelled."""
        await repeat(BEAT, "no beat", self.beat_once)

    async def sweep(self) -> None:
        """Look at every race that is due, whoever holds it, until cancelled."""
        await repeat(SWEEP, "the races that are due could not be looked at", self.sweep_once)

    async def compare(self) -> None:
        """Compare the races held here with the store, until cancelled."""
        await repeat(COMPARISON, "the races held here could not be compared", self.compare_once)

    async def beat_once(self) -> None:
        """Say that this node lives; if it seemed dead, the others may tell it nothing. Raises StoreUnavailable."""
        if not await self._store.nodes.beat(self._store.clock.now()):
            log.warning("this node was silent for so long that the others took it for dead")
            self._catch_up()

    async def sweep_once(self) -> None:
        """Look at the races that are due now. Raises StoreUnavailable."""
        race_ids, claimed = await self._store.due.claim(self._store.clock.now())
        self._store.counts.sweeps += 1
        self._store.counts.due += len(race_ids)
        for race_id in race_ids:
            try:
                await self._look_at(race_id, claimed)
            except Refused:
                # Due and not on record: it was never created, or has expired.
                await self._store.lists.drop(race_id, self._store.clock.now())
                await self._store.due.settle(race_id, claimed, None)
            except LostTrack:
                continue  # Still due: looked at anew when the claim has run out.
            except StoreUnavailable:
                raise
            except Exception:  # The edge: a mistake of ours about one race does not keep the others from going on.
                log.exception("a race that is due could not be looked at", race=race_id)

    async def _look_at(self, race_id: str, claimed: int) -> None:
        async with self._rooms.hold(race_id) as referee:
            await referee.wake()
            if referee.room.race.ended:
                await referee.finish()
                return
            if dead := self._dead_nodes():
                await self._store.races.unhost(race_id, *dead)
            following = referee.next_look(self._store.clock.now())
        await self._store.due.settle(race_id, claimed, following)

    def _dead_nodes(self) -> list[str]:
        nodes, now = self._store.nodes.nodes, self._store.clock.now()
        if not judges(nodes, now):
            return []
        return [node for node in nodes.beats if not nodes.live(node, now)]

    async def compare_once(self) -> None:
        """Compare the versions and seqs of the races held here with the store's. Raises StoreUnavailable."""
        for referee in self._rooms:
            room = referee.room
            version, seqs = await self._store.races.progress(room.id)
            behind = any(seq > room.tally(player).seq for player, seq in seqs.items())
            if version > room.race.version or behind:
                log.debug("a race held here was behind", race=room.id)
                self._rooms.doubt(referee)


async def repeat(pause: float, trouble: str, chore: Callable[[], Awaitable[None]]) -> None:
    """Do a chore every `pause` seconds, until cancelled; the store's trouble is told and waited out."""
    failing = False
    while True:
        try:
            await chore()
        except StoreUnavailable as error:
            # Once for each trouble, however long it lasts.
            (log.debug if failing else log.warning)(trouble, reason=str(error))
            failing = True
        except Exception:  # The edge: a mistake of ours, or no file to be had, costs this time and none of the next.
            log.exception(trouble)
        else:
            if failing:
                log.warning("the store answers again", after=trouble)
            failing = False
        await asyncio.sleep(pause)  # A chore is what is done every so often.
