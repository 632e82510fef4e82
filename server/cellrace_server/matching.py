"""Quick matches: into the queue and out of it, and the race of those who are matched (NODES, 22)."""

from __future__ import annotations

from collections.abc import Sequence

import structlog

from cellrace.messages import QueueJoin, RaceKind, Settings, check_variant
from cellrace.variants import VARIANTS
from cellrace_server.core.facts import Fact, Joined, ReadySet
from cellrace_server.core.matchmaking import Waiting, pairs
from cellrace_server.core.presence import is_set_back, judges
from cellrace_server.core.race import Race
from cellrace_server.room import Member
from cellrace_server.rooms import Rooms
from cellrace_server.store import Store
from cellrace_server.store.players import new_id
from cellrace_server.store.queue import Match
from cellrace_server.store.races import Behind

PAIRING = 1.0
"""Seconds between two looks at the queues."""
LEFT_PENDING = 3_000
"""After how many ms a match whose race was not made is taken up by any node."""

log = structlog.get_logger()


class Matching:
    """Matches players, whichever node they are at."""

    def __init__(self, store: Store, rooms: Rooms) -> None:
        self._store = store
        self._rooms = rooms

    async def join(self, member: Member, request: QueueJoin) -> int:
        """Into the queue of a game; says how many wait there. Raises Refused with `not_found`, StoreUnavailable."""
        check_variant(request.variant)
        player = member.player
        skill = (await self._store.ratings.skills(request.variant, [player.id]))[player.id]
        waiting = Waiting(
            player, member.sid, self._store.races.node, self._store.clock.now(), skill.rating, request.bots
        )
        return await self._store.queue.join(request.variant, waiting)

    async def leave(self, member: Member, variant: str) -> None:
        """Out of the queue. Raises StoreUnavailable."""
        await self._store.queue.leave(variant, member.player.id, member.sid)

    async def pair_all(self) -> None:
        """Match whoever can be matched now, in every game. Raises StoreUnavailable."""
        for variant in VARIANTS:
            await self.pair(variant)

    async def pair(self, variant: str) -> None:
        """The same in one game."""
        now = self._store.clock.now()
        everybody, pending = await self._store.queue.read(variant)
        gone = await self._gone(everybody)
        present = [waiting for waiting in everybody if waiting not in gone and self._is_alive(waiting, now)]
        for waiting in everybody:
            if waiting in gone or (waiting not in present and judges(self._store.nodes.nodes, now)):
                await self._store.queue.leave(variant, waiting.player.id, waiting.sid)
        for one, other in pairs(present, now):
            match = Match(new_id(), now, (one, other))
            if await self._store.queue.pop(variant, match):
                await self._make_race(variant, match)
        for match in pending:
            if now >= match.at + LEFT_PENDING:
                await self._make_race(variant, match)

    async def _gone(self, everybody: Sequence[Waiting]) -> list[Waiting]:
        """Who may not wait any more: the connection that did is not the player's newest, or the player is banned."""
        holders = await self._store.players.holders([waiting.player.id for waiting in everybody]) if everybody else []
        return [
            waiting
            for waiting, holder in zip(everybody, holders, strict=True)
            if holder.banned or (holder.sid != waiting.sid and not is_set_back(holder.sid, waiting.sid))
        ]

    def _is_alive(self, waiting: Waiting, now: int) -> bool:
        """Whether somebody's node lives; one that has not beaten yet may just have begun."""
        if waiting.node == self._store.races.node:
            return True
        return self._store.nodes.nodes.live(waiting.node, now, waiting.since)

    async def _make_race(self, variant: str, match: Match) -> None:
        """The race of a match, both in it and ready; doing it twice makes one race."""
        players = [waiting.player for waiting in match.waiting]
        race = Race(
            id=match.race,
            kind=RaceKind.RACE,
            settings=Settings(variant=variant),
            created_at=match.at,
            created_by=players[0].id,
            changed_at=match.at,
        )
        for player in players:
            await self._store.players.enter(player.id, race.id, match.at)
        await self._store.lists.add(race)
        await self._rooms.create(race)
        facts: Sequence[Fact] = (
            *(Joined(player) for player in players),
            *(ReadySet(player.id, True) for player in players),
        )
        await self._store.due.expect(race.id, match.at)
        try:
            await self._store.races.append(race, f"match-{race.id}", facts, match.at)
        except Behind:
            log.debug("a match had its race already", race=race.id)
        await self._store.queue.tell(match)
        await self._store.queue.clear(variant, match)
