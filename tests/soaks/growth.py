"""Growth: what finished races leave behind, in a node's memory and in the store.

The node: races of the smallest game over sockets, each won by both, at many tables; its memory after all of them less
that after the first quarter is carried on to a hundred thousand. The store: races whose two games have a hundred
entries each, at the pace of people; what the store has in use when all are packed, for each, with their rows on boards,
records and ratings.
"""

from __future__ import annotations

import asyncio
from pathlib import Path

from redis.asyncio import Redis

from cellrace_server.store.connect import client_for
from cellrace_server.store.embedded import EmbeddedStore
from tests.soaks.figures import Figure, Tell
from tests.soaks.light import LightConnection, Map, Refused
from tests.soaks.long_races import ENTRIES, long_races
from tests.soaks.processes import MIB, resident
from tests.story.servers import servers
from tests.story.solved_games import stocked_game

SIZE = 20_000
COUNTS = "short races, and a tenth as many long ones"

PROMISED = 100_000
VARIANT = "one-suit"
TABLES = 40
AT_A_TABLE = 200
"""After so many races another two come: nobody has a deal twice, and of this game there are few."""
SETTINGS = {"variant": VARIANT, "countdown": 0, "private": True}
LONG_AT_ONCE = 24
MOST_LONG = 1_500
MOST_NODE = 20.0
MOST_RACE = 2.5
MOST_FILE = 2 * 64.0
"""It is written anew when it is twice what it was, and 64 MiB at least; so few races take much less by themselves."""


async def run(folder: Path, size: int, tell: Tell) -> list[Figure]:
    """Measure both."""
    return [
        *await pack(folder / "store", min(MOST_LONG, max(50, size // 10)), tell),
        *await grow(folder, size, tell),
    ]


async def grow(folder: Path, size: int, tell: Tell) -> list[Figure]:
    """Run short races on a node, and see how much it has grown."""
    async with servers(folder) as house:
        server = await house.start("--new-players-here", str(size))
        quarter = resident(server.process.pid)
        done = 0
        turns = iter(range(size))

        async def table(number: int) -> None:
            nonlocal done, quarter
            while True:
                players = [await _Seated.come(server.port, number) for _ in range(2)]
                try:
                    for _ in range(AT_A_TABLE):
                        if next(turns, None) is None:
                            return
                        await _short_race(players)
                        done += 1
                        if done == size // 4:
                            quarter = resident(server.process.pid)
                        if done % 1_000 == 0:
                            tell(f"{done:,} short races, {resident(server.process.pid):.0f} MiB")
                finally:
                    for player in players:
                        player.connection.abort()

        await asyncio.gather(*(table(number) for number in range(TABLES)))
        grown = resident(server.process.pid) - quarter
    measured = size - size // 4
    return [
        Figure(f"a node's growth over {measured:,} finished races", grown, "MiB"),
        Figure(f"the same, carried on to {PROMISED:,}", grown / measured * PROMISED, "MiB", most=MOST_NODE),
    ]


class _Seated:
    """A player at a table: a connection, and the pushes that have come by it."""

    def __init__(self, connection: LightConnection) -> None:
        self.connection = connection
        self._pushed: dict[str, asyncio.Future[Map]] = {}
        connection.heard = self._hear

    @classmethod
    async def come(cls, port: int, number: int) -> _Seated:
        """A new player."""
        player = cls(await LightConnection.open(port, number))
        await player.ask("hello")
        return player

    async def ask(self, kind: str, **fields: object) -> Map:
        """What is asked for, again for as long as a busy machine's store answers too late."""
        while True:
            try:
                return await self.connection.ask(kind, **fields)
            except Refused as refused:
                if refused.code != "retry_later":
                    raise
                await asyncio.sleep(refused.retry_after)  # As the server asks for.

    def expect(self, *kinds: str) -> None:
        """From now on these are waited for."""
        self._pushed = {kind: asyncio.get_running_loop().create_future() for kind in kinds}

    async def push(self, kind: str) -> Map:
        """The next push of a type that is expected."""
        async with asyncio.timeout(60):
            return await self._pushed[kind]

    def _hear(self, message: Map) -> None:
        waiting = self._pushed.get(message["type"])
        if waiting is not None and not waiting.done():
            waiting.set_result(message)


async def _short_race(players: list[_Seated]) -> None:
    ann, bob = players
    for player in players:
        player.expect("race.started", "race.over")
    race = await ann.ask("race.create", settings=SETTINGS)
    await bob.ask("race.join", code=race["code"])
    for player in players:
        await player.ask("race.ready", race=race["race"])
    started = await ann.push("race.started")
    await bob.push("race.started")
    moves = stocked_game(VARIANT, started["deal"])
    for player in players:
        await player.ask("move", race=race["race"], seq=0, moves=moves)
    for player in players:
        await player.push("race.over")
        await player.ask("race.leave", race=race["race"])


async def pack(folder: Path, count: int, tell: Tell) -> list[Figure]:
    """Put long races on record, and see what each takes."""
    async with await EmbeddedStore.open(folder) as embedded, long_races(embedded.url, count) as races:
        client = client_for(embedded.url, connections=1)
        await races.race()  # What is there once and for all is not counted.
        before = await _in_use(client)
        doors = asyncio.Semaphore(LONG_AT_ONCE)
        done = 0

        async def one() -> None:
            nonlocal done
            async with doors:
                await races.race()
            done += 1
            if done % 250 == 0:
                tell(f"{done:,} long races are packed")

        await asyncio.gather(*(one() for _ in range(count)))
        each = (await _in_use(client) - before) / count / 1024
        written = int((await client.info("persistence"))["aof_current_size"]) / MIB
        await client.aclose()
    return [
        Figure(f"store: a race of two with {ENTRIES} entries each, of {count:,}", each, "KiB", most=MOST_RACE),
        Figure(f"the same, for {PROMISED:,} of them", each * PROMISED / 1024, "MiB"),
        Figure("store: its append-only file", written, "MiB", most=MOST_FILE),
    ]


async def _in_use(client: Redis) -> int:
    memory = await client.info("memory")
    # Less what its connections have, of which there are more while many races go on at once.
    return int(memory["used_memory"] - memory["mem_clients_normal"] - memory["mem_aof_buffer"])
