"""Races as long as people's, put on record through a node's own rooms and without sockets."""

from __future__ import annotations

import asyncio
import secrets
import time
from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager
from random import Random

from cellrace.autoplay import Autoplay
from cellrace.messages import EntrantStatus, Move, Player, RaceKind, Settings
from cellrace_server.admission import Admission
from cellrace_server.config import Bounds
from cellrace_server.core.facts import CountdownBegan, Done, Fact, Joined, ReadySet
from cellrace_server.core.names import parse_name
from cellrace_server.core.race import Race, evolve
from cellrace_server.lobby import CODE_LENGTH, CODE_LETTERS
from cellrace_server.moves import Arrival, Mover
from cellrace_server.net.announcer import RoomAnnouncer
from cellrace_server.referee import Referee
from cellrace_server.rooms import Rooms
from cellrace_server.stock import load_stock
from cellrace_server.store import Store, open_store
from cellrace_server.store.connect import client_for
from cellrace_server.store.errors import StoreUnavailable
from cellrace_server.store.players import Credentials, new_id
from cellrace_server.store.races import Secret
from cellrace_server.tasks import Tasks
from tests.server.shell import FakeMember

SETTINGS = Settings(variant="relaxed", autoplay=Autoplay.NONE)
"""A game of 52 cards, each entry of whose proofs is a move that somebody must make."""
ENTRIES = 100
BEGAN = 1_750_000
"""So long ago each race began, ms: it has had the time that people need."""
WAIT, SPREAD = 8.0, 0.9
"""Of the logarithm of the ms between two moves: three seconds mostly, now and then half a minute."""


class LongRaces:
    """Puts races of two with a hundred entries each on record; the same two race them all."""

    def __init__(self, store: Store, seed: int) -> None:
        self.store = store
        self._tasks = Tasks()
        self._rooms = Rooms(store, RoomAnnouncer(store.clock.now), self._tasks)
        self._admission = Admission(store, self._rooms, Bounds(), self._tasks)
        self._chance = Random(seed)
        self._players: list[Player] = []

    async def register(self) -> None:
        """Put the two on record."""
        for number in range(2):
            credentials = Credentials(new_id(), new_id())
            name = parse_name(f"Regular {number}")
            self._players.append(await self.store.players.register(credentials, name, False, 1))

    async def race(self) -> None:
        """One race from its creation to its replays: somebody has won, the other conceded."""
        secret = await self.store.deals.draw(SETTINGS.variant, [player.id for player in self._players])
        assert secret is not None, "there are deals left"
        race = await self._begun(secret)
        proof = load_stock(SETTINGS.variant).proof(secret.deal)
        assert proof is not None
        games = [hundred(proof, self._chance), hundred(proof[:-1], self._chance)]
        async with self._rooms.hold(race.id) as referee:
            plays = []
            for player, game in zip(self._players, games, strict=True):
                member = FakeMember(player, await self.store.players.take_over(player.id))
                await self._admission.open(referee, member)
                plays.append(self._play(referee, member, game))
            await asyncio.gather(*plays)
            for player, status in zip(self._players, (EntrantStatus.WON, EntrantStatus.CONCEDED), strict=True):
                await self._done(referee, player, status)
            await self._end(referee)
        head = await self.store.races.head(race.id)
        assert head is not None
        assert head.packed

    async def _end(self, referee: Referee) -> None:
        """As the upkeep does: a race stays due until its end and all that follows from it are on record."""
        while True:
            try:
                await referee.wake()
                await referee.finish()
                return
            except StoreUnavailable:
                await asyncio.sleep(0)  # Others rate the same players just now.

    async def _begun(self, secret: Secret) -> Race:
        began, (host, _) = self.store.clock.now() - BEGAN, self._players
        created = began - 30_000
        code = "".join(secrets.choice(CODE_LETTERS) for _ in range(CODE_LENGTH))
        race = Race(new_id(), RaceKind.RACE, SETTINGS, created, host.id, code, changed_at=created)
        await self.store.lists.add(race)
        await self._rooms.create(race)
        facts: list[Fact] = [
            *(Joined(player) for player in self._players),
            *(ReadySet(player.id, True) for player in self._players),
            CountdownBegan(began, secret.commitment(SETTINGS.variant)),
        ]
        for at, fact in enumerate(facts, began - 10_000):
            for stamped in await self.store.races.append(race, new_id(), [fact], at, secret=secret):
                race = evolve(race, stamped)
        return race

    async def _play(self, referee: Referee, member: FakeMember, moves: Sequence[str]) -> None:
        mover = Mover(self.store, len(moves))
        at = float(referee.room.race.start_at or 0)
        for seq, move in enumerate(moves):
            at += self._chance.lognormvariate(WAIT, SPREAD)
            request = Move(race=referee.room.id, seq=seq, moves=(move,))
            await mover.play(member, referee, request, Arrival(int(at), time.monotonic()), lambda _: None)

    async def _done(self, referee: Referee, player: Player, status: EntrantStatus) -> None:
        entrant = referee.room.entrant(player.id)
        if entrant is None or entrant.done is not None:
            return  # The last entry has won the game by itself.
        at = referee.room.plays[player.id].entries[-1].at
        done = Done(player.id, status, referee.room.tally(player.id), 31)
        referee.tell(await self.store.races.append(referee.room.race, new_id(), [done], at))

    async def close(self) -> None:
        """End what is under way."""
        await self._tasks.close()


def hundred(proof: Sequence[str], chance: Random) -> list[str]:
    """A hundred entries, or one less, of a game that is won so: some are tried and taken back, or the last left out."""
    moves = list(proof[:ENTRIES])
    while len(moves) <= ENTRIES - 2:
        place = chance.randrange(len(moves) - 1)
        if moves[place] != "u":
            moves[place:place] = [moves[place], "u"]
    return moves


@asynccontextmanager
async def long_races(url: str, seed: int) -> AsyncIterator[LongRaces]:
    """What races on the store at a URL."""
    client = client_for(url)
    store, tasks = await open_store(client, "soak"), Tasks()
    await store.nodes.beat(store.clock.now())
    tasks.spawn(store.committer.run(), "committer")
    races = LongRaces(store, seed)
    try:
        await races.register()
        yield races
    finally:
        await races.close()
        await tasks.close()
        await store.clock.close()
        await client.aclose()
