"""A reconnect storm: the node of five thousand players, who are all racing, dies; how long until the last is back.

Twice: a node is killed with another beside it, where all go; then that one is killed too, and started again. The
clients wait and try again as the reference client does. Each has the address of a household, told by a trusted proxy,
so that the bounds of an address hold as they do in the world; a tenth come from one, up to all that it may have.
"""

from __future__ import annotations

import asyncio
import random
import time
from collections import Counter
from collections.abc import Sequence
from pathlib import Path

from cellrace_client.connection.backoff import comes_back, wait_before_return
from cellrace_client.connection.greeting import HELLO_TIMEOUT
from cellrace_client.connection.wire import OPEN_TIMEOUT
from tests.soaks.figures import Figure, Tell, quantile
from tests.soaks.light import LightConnection, Map, Refused
from tests.soaks.processes import need_descriptors
from tests.story.servers import Server, Servers, servers

SIZE = 5_000
COUNTS = "players"

AT_ONCE = 100
CROWDED = 500
"""At most so many share one address, as behind one router: the default bounds let it have no more."""
HOUSEHOLD = 5
MOST = 30.0
PATIENCE = 120.0
"""After so many seconds whoever is not back is given up."""
SETTINGS = {"variant": "one-suit", "deal": 94, "countdown": 0, "seats": 2, "private": True}


class Returning:
    """A player who comes back by the rules of the reference client, to whichever node is there."""

    def __init__(self, number: int, home: str, ports: Sequence[int], counts: Counter[str]) -> None:
        self.number = number
        self._home = home
        self.race = ""
        self.back_at: float | None = None
        """When the race was in sight again, by the monotonic clock."""
        self.for_good = ""
        """Why this player does not come back."""
        self.ports = list(ports)
        """Those of the nodes that there are, the next to try first."""
        self._counts = counts
        self._token = ""
        self._connection: LightConnection | None = None
        self._lost: asyncio.Future[int | None] = asyncio.get_running_loop().create_future()

    @property
    def connection(self) -> LightConnection:
        """The connection that there is."""
        assert self._connection is not None
        return self._connection

    async def arrive(self) -> None:
        """Connect, say hello and ask for the race. Raises Refused, OSError, TimeoutError."""
        self._lost = lost = asyncio.get_running_loop().create_future()

        def lose(code: int | None) -> None:
            if not lost.done():
                lost.set_result(code)

        async with asyncio.timeout(OPEN_TIMEOUT):
            connection = await LightConnection.open(self.ports[0], self.number, self._home, lose)
        try:
            async with asyncio.timeout(HELLO_TIMEOUT):
                welcome = await self._greet(connection)
                self._token = welcome.get("token", self._token)
                if self.race:
                    assert self.race in [known["race"] for known in welcome["races"]], "the race is among those told"
                    await self._ask(connection, "race.sync", race=self.race)
        except BaseException:
            connection.abort()
            raise
        self._connection = connection

    async def _greet(self, connection: LightConnection) -> Map:
        return await self._ask(connection, "hello", **({"token": self._token} if self._token else {}))

    async def ask(self, kind: str, **fields: object) -> Map:
        """The answer to a request on the connection that there is. Raises Refused, OSError."""
        return await self._ask(self.connection, kind, **fields)

    async def _ask(self, connection: LightConnection, kind: str, **fields: object) -> Map:
        while True:
            try:
                return await connection.ask(kind, **fields)
            except Refused as refused:
                if refused.code not in ("rate_limited", "retry_later"):
                    raise
                self._counts[f"{kind}: {refused.code}"] += 1
                await asyncio.sleep(refused.retry_after)  # As the server asks for.

    async def come_back(self) -> None:
        """Wait for the connection's end, then try until there is another."""
        code = await self._lost
        self.back_at = None
        attempt = 0
        while self._comes_back(code):
            await asyncio.sleep(wait_before_return(attempt, code, random.random()))  # What is measured includes it.
            attempt += 1
            code = None
            try:
                await self.arrive()
            except Refused as refused:
                self._counts[f"handshake: {refused.code}"] += 1
                if refused.code != "429":
                    self.for_good = refused.code
                    return
            except TimeoutError:
                self._counts["no answer"] += 1
            except OSError:
                self._counts["not reached"] += 1
                code = self._lost.result() if self._lost.done() else None
            else:
                self.back_at = time.monotonic()
                return
            self.ports.append(self.ports.pop(0))

    def _comes_back(self, code: int | None) -> bool:
        if not comes_back(code):
            self.for_good = f"closed with {code}"
        return not self.for_good

    def leave(self) -> None:
        """Go without a word."""
        if self._connection is not None:
            self._connection.abort()


async def run(folder: Path, size: int, tell: Tell) -> list[Figure]:
    """Let everybody race, and kill their node, twice."""
    need_descriptors(size + 200)
    counts: Counter[str] = Counter()
    async with servers(folder) as house:
        # New players from one address are few by default: these are no storm yet.
        options = ("--trusted-proxy", "127.0.0.0/8", "--new-players", str(size))
        first, second = await house.start(*options), await house.start(*options)
        ports = (first.port, second.port)
        crowded = min(CROWDED, size // 10)
        homes = ["198.51.100.1" if number < crowded else _home(number) for number in range(size)]
        players = [Returning(number, home, ports, counts) for number, home in enumerate(homes)]
        try:
            await _begin(players, tell)
            figures = await _kill(first, players, "another node", tell, counts)
            for player in players:
                player.ports = [second.port]
            again = asyncio.create_task(_start_again(house, second, options))
            figures += await _kill(second, players, "the same, started again", tell, counts)
            await again
        finally:
            for player in players:
                player.leave()
    return figures


def _home(number: int) -> str:
    household = number // HOUSEHOLD
    return f"10.{household >> 16}.{household >> 8 & 255}.{household & 255}"


async def _begin(players: Sequence[Returning], tell: Tell) -> None:
    """Everybody comes, two and two into a race that runs."""
    doors = asyncio.Semaphore(AT_ONCE)

    async def pair(ann: Returning, bob: Returning) -> None:
        async with doors:
            for player in (ann, bob):
                while True:
                    try:
                        await player.arrive()
                        break
                    except Refused as refused:
                        if refused.code != "429":
                            raise
                        await asyncio.sleep(refused.retry_after)  # Many share an address, and come in by its bounds.
            race = await ann.ask("race.create", settings=SETTINGS)
            ann.race = bob.race = race["race"]
            await bob.ask("race.join", code=race["code"])
            for player in (ann, bob):
                await player.ask("race.ready", race=player.race)

    began = time.monotonic()
    await asyncio.gather(*(pair(*players[first : first + 2]) for first in range(0, len(players) - 1, 2)))
    tell(f"{len(players):,} players race, after {time.monotonic() - began:.0f} s")


async def _kill(
    server: Server, players: Sequence[Returning], where: str, tell: Tell, counts: Counter[str]
) -> list[Figure]:
    """Kill their node, and wait until everybody is back."""
    counts.clear()
    returns = [asyncio.create_task(player.come_back()) for player in players]
    await asyncio.sleep(0)
    killed = time.monotonic()
    await server.kill()
    done, late = await asyncio.wait(returns, timeout=PATIENCE)
    for task in late:
        task.cancel()
    for task in done:
        task.result()
    times = [player.back_at - killed for player in players if player.back_at is not None]
    reasons = Counter(player.for_good for player in players if player.for_good)
    tell(f"{where}: {len(times):,} back; {dict(counts)}; for good: {dict(reasons)}")
    who = f"{len(players):,} players back at {where}"
    return [
        Figure(f"{who}: the last, after the kill", max(times, default=float("inf")), "s", most=MOST),
        Figure(f"{who}: the median", quantile(times, 0.5), "s"),
        Figure(f"{who}: refused for good, or never back", len(players) - len(times), most=0),
    ]


async def _start_again(house: Servers, server: Server, options: Sequence[str]) -> Server:
    """The same node at the same port, as whatever keeps it alive would, as soon as it is dead."""
    await server.process.wait()
    return await house.start(*options, port=server.port)
