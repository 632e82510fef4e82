"""Failover of a Sentinel pair under play: the primary is killed, its replica is elected, the dead one follows it.

A primary, a replica and three Sentinels that take a server for dead after a second; racers play on two nodes. What is
measured: what was answered and is not on record in the end (the chaos run's checker), and the write gap: the longest
time without any answered move from a kill to the next. A primary is killed only while its replica keeps up.
"""

from __future__ import annotations

import asyncio
import time
from itertools import pairwise
from pathlib import Path

from tests.chaos.house import House, NodeProcess, StoreProcess
from tests.chaos.run import CALM, Chaos, Plot
from tests.server.store.sentinels import Pair, Store, Watched, wait_until
from tests.soaks.figures import Figure, Tell, quantile
from tests.soaks.restart import DEADLINE, told

SIZE = 20
COUNTS = "failovers"

DOWN_AFTER = 1_000
"""ms."""
BETWEEN = 3.0
"""Seconds of play from when the replica keeps up, within two of which the nodes' writes wait for it again."""
MOST_GAP = 5.0


class WatchedStore(StoreProcess):
    """A primary that can be killed and is replaced."""

    def __init__(self, folder: Path) -> None:
        folder.mkdir()
        super().__init__(folder, {})
        self._watched = Watched(folder, DOWN_AFTER)
        self._servers: tuple[Store, Store] = self._watched.primary, self._watched.replica

    @property
    def url(self) -> str:
        """Where nodes find whichever is the primary."""
        return self._watched.url

    async def start(self) -> None:
        """Start all five processes."""
        await asyncio.to_thread(self._watched.start)

    async def kill(self) -> None:
        """End all of them."""
        await asyncio.to_thread(self._watched.close)

    def fail_over(self) -> None:
        """Kill the primary and wait until the other one is it, then let the dead one follow."""
        primary, replica = self._servers
        primary.kill()
        wait_until(lambda: replica.is_primary)
        primary.start()
        primary.client.replicaof("127.0.0.1", str(replica.port))
        self._servers = replica, primary
        pair = Pair.__new__(Pair)
        pair.primary, pair.replica = self._servers
        wait_until(pair.keeps_up)


class WatchedHouse(House):
    """Two nodes on such a store."""

    def __init__(self, folder: Path) -> None:
        super().__init__(folder, nodes=0)
        self.watched = WatchedStore(folder / "watched")
        self.store = self.watched
        self.nodes = [NodeProcess(folder, number, self.store.url, "") for number in range(2)]


class Failovers(Chaos):
    """A run in which the store fails over again and again."""

    def __init__(self, folder: Path, size: int, calm: float) -> None:
        self._watched_house = WatchedHouse(folder)
        super().__init__(folder, Plot(groups=3, patience=DEADLINE, calm=calm), self._watched_house)
        self._size = size
        self.killed_at: list[float] = []

    async def do_harm(self) -> None:
        """Fail over so often."""
        await self._be_under_way()
        for _ in range(self._size):
            await asyncio.sleep(BETWEEN)  # Play goes on, and the nodes see that there is a replica.
            if self.history.problems:
                break
            self.killed_at.append(time.monotonic())
            self.history.counts["fault: failover"] += 1
            await asyncio.to_thread(self._watched_house.watched.fail_over)
        await asyncio.sleep(BETWEEN)  # The last gap ends.

    @property
    def gaps(self) -> list[float]:
        """After each kill, the longest time without an answered move."""
        answered = sorted(self.history.answered_at)
        ends = [*self.killed_at[1:], float("inf")]
        return [
            max((later - before for before, later in pairwise(answered) if killed < later < end), default=float("inf"))
            for killed, end in zip(self.killed_at, ends, strict=True)
        ]


async def run(folder: Path, size: int, tell: Tell, calm: float = CALM) -> list[Figure]:
    """Fail over so often under play."""
    chaos = Failovers(folder, size, calm)
    async with told(chaos, tell):
        outcome = await chaos.run()
    tell(outcome.figures)
    for violation in outcome.violations[:10]:
        tell(f"WRONG: {violation}"[:1000])
    return [
        Figure("failovers under play", len(chaos.killed_at), least=size),
        Figure("moves answered", outcome.moves),
        Figure("moves lost, and whatever else is wrong", len(outcome.violations), most=0),
        Figure(f"connections that ended, or had no answer for {DEADLINE:g} s", sum(chaos.history.closes.values())),
        Figure("write gap: median", quantile(chaos.gaps, 0.5), "s"),
        Figure("write gap: p99", quantile(chaos.gaps, 0.99), "s", most=MOST_GAP),
    ]
