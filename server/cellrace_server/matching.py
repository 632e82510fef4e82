"""Quick matches: into the queue and out of it, and the race of those who are matched (NODES, 22)."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

import structlog
from msgspec import Struct

from cellrace.messages import QueueJoin, RaceKind, Settings
from cellrace.variants import VARIANTS
from cellrace_server.core.facts import Fact, Joined, ReadySet
from cellrace_server.core.matchmaking import Waiting, pairs
from cellrace_server.core.presence import is_set_back, judges
from cellrace_server.core.race import Race
from cellrace_server.room import Member
from cellrace_server.rooms import Rooms
from cellrace_server.store import Store
from cellrace_server.store.players import Holder, new_id
from cellrace_server.store.queue import Match
from cellrace_server.store.races import Behind

PAIRING = 1.0
"""Seconds between two looks at the queues."""
LEFT_PENDING = 3_000
"""After how many ms a match whose race was not made is taken up by any node."""

CHECKED = 50
"""Of how many who wait on a sweep asks whether they still may; those who would race now are asked about anyway."""

log = structlog.get_logger()


class Wish(Struct, frozen=True):
    """What somebody waits for since when, as it was asked for; the same however often it is put on record."""

    request: QueueJoin
    since: int
    command_id: str


class Matching:
    """Matches players, whichever node they are at."""

    def __init__(self, store: Store, rooms: Rooms) -> None:
        self._store = store
        self._rooms = rooms
        self._checked: dict[str, str] = {}
        """In each game, up to which id those who wait were checked last; the next are those after it."""

    def wish(self, request: QueueJoin) -> Wish:
        """The wish to wait from now on."""
        return Wish(request, self._store.clock.now(), new_id())

    async def join(self, member: Member, wish: Wish) -> int:
        """Into the queue of a game, but for who was matched by this wish already; says how many wait there.

        Raises StoreUnavailable.
        """
        player, request = member.player, wish.request
        skill = (await self._store.ratings.skills(request.variant, [player.id]))[player.id]
        node = self._store.races.node
        waiting = Waiting(player, member.sid, node, wish.since, skill.rating, request.bots, wish.command_id)
        return await self._store.queue.join(request.variant, waiting)

    async def leave(self, member: Member, variant: str) -> None:
        """Out of the queue. Raises StoreUnavailable."""
        await self._store.queue.leave(variant, member.player.id, member.sid)

    async def pair_all(self) -> None:
        """Match whoever can be matched now, in every game. Raises StoreUnavailable."""
        for variant in VARIANTS:
            await self.pair(variant, CHECKED)

    async def pair(self, variant: str, checked: int = 0) -> None:
        """The same in one game; so many of those whom nobody races yet are `checked` as well."""
        now = self._store.clock.now()
        everybody, pending = await self._store.queue.read(variant)
        present = [waiting for waiting in everybody if self._is_alive(waiting, now)]
        if len(present) < len(everybody) and judges(self._store.nodes.nodes, now):
            await self._take_out(variant, [waiting for waiting in everybody if waiting not in present])
        for one, other in await self._pairs(variant, present, now, checked):
            match = Match(new_id(), now, (one, other))
            if await self._store.queue.pop(variant, match):
                await self._make_race(variant, match)
        for match in pending:
            if now >= match.at + LEFT_PENDING:
                await self._take_up(variant, match)

    async def _pairs(
        self, variant: str, present: Sequence[Waiting], now: int, checked: int
    ) -> list[tuple[Waiting, Waiting]]:
        """Who races whom now, all of whom may; who is found that may not is taken out."""
        left = {waiting.player.id: waiting for waiting in present}
        unasked, asking = dict(left), self._next(variant, left, checked)
        while True:
            # Only of these: thousands may wait, in many a game, at many a node.
            found = pairs(list(left.values()), now)
            asking |= {waiting.player.id for pair in found for waiting in pair}
            gone = await self._gone([unasked.pop(player) for player in sorted(asking) if player in unasked])
            if not gone:
                return found
            await self._take_out(variant, gone)
            for waiting in gone:
                del left[waiting.player.id]

    def _next(self, variant: str, waiting: Iterable[str], count: int) -> set[str]:
        """The players whose turn it is to be checked, so that everybody's comes."""
        if not count:
            return set()
        last = self._checked.get(variant, "")
        following = sorted(player for player in waiting if player > last)[:count]
        self._checked[variant] = following[-1] if len(following) == count else ""
        return set(following)

    async def _take_out(self, variant: str, several: Sequence[Waiting]) -> None:
        for waiting in several:
            await self._store.queue.leave(variant, waiting.player.id, waiting.sid)

    async def _gone(self, several: Sequence[Waiting]) -> list[Waiting]:
        """Who may not wait any more: the connection that did is not the player's newest, or the player is out."""
        holders = await self._store.players.holders([waiting.player.id for waiting in several]) if several else []
        return [
            waiting
            for waiting, holder in zip(several, holders, strict=True)
            if _is_out(holder) or (holder.sid != waiting.sid and not is_set_back(holder.sid, waiting.sid))
        ]

    def _is_alive(self, waiting: Waiting, now: int) -> bool:
        """Whether somebody's node lives; one that has not beaten yet may just have begun."""
        if waiting.node == self._store.races.node:
            return True
        return self._store.nodes.nodes.live(waiting.node, now, waiting.since)

    async def _take_up(self, variant: str, match: Match) -> None:
        """A match whose node has died on the way to its race; nobody races who has been banned or deleted since."""
        holders = await self._store.players.holders([waiting.player.id for waiting in match.waiting])
        left = [waiting for waiting, holder in zip(match.waiting, holders, strict=True) if not _is_out(holder)]
        if len(left) == len(match.waiting):
            await self._make_race(variant, match)
            return
        head = await self._store.races.head(match.race)
        if head is not None and head.race.version:
            # It was made just before, and has been left like any other race of a player who is deleted.
            await self._store.queue.tell(match)
            await self._store.queue.clear(variant, match)
            return
        for waiting in match.waiting:
            await self._store.players.exit(waiting.player.id, match.race)
        await self._store.queue.call_off(variant, match, left)

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


def _is_out(holder: Holder) -> bool:
    return holder.banned or holder.unknown
