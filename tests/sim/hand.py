"""The hand that does harm: one fault after another, each drawn from the seed, and in the end all is mended."""

from __future__ import annotations

import asyncio
from collections import Counter
from random import Random

from tests.sim.house import SimNode
from tests.sim.loop import SimLoop
from tests.sim.network import Link
from tests.sim.plot import Plot
from tests.sim.store.server import ADDRESS, LIBRARIES, Store

REPLICA_KNOWN = 4.0
"""Seconds after which every node has seen that there is a replica, and waits for it: what it has may then be lost."""
FUSE = 400
"""Within how many callbacks of its own a node dies."""


class Hand:
    """Does harm to a house."""

    def __init__(self, loop: SimLoop, store: Store, nodes: list[SimNode], chance: Random, plot: Plot) -> None:
        self._loop = loop
        self._store = store
        self._nodes = nodes
        self._chance = chance
        self._plot = plot
        # The nodes have looked for one when they came up.
        self._replica_since = -REPLICA_KNOWN
        self.done: Counter[str] = Counter()
        """The faults there were, by kind."""
        self.undone = 0
        """How many writes failovers have taken back."""
        self.leaps = 0
        """By how many ms in all a node may have thought that it was later than it was."""
        self._ways = {
            "kill": self._kill,
            "stop": self._stop,
            "suspend": self._suspend,
            "end": self._end,
            "part": self._part,
            "cut": self._cut,
            "hold": self._hold,
            "store": self._restart,
            "lag": self._lag,
            "failover": self._failover,
            "forget": self._forget,
            "harm": self._harm,
            "step": self._step,
            "skip": self._skip,
            "player": self._player,
        }

    async def do_harm(self) -> None:
        """Do all the harm there is to be done."""
        plot, chance, loop = self._plot, self._chance, self._loop
        end = loop.now + plot.harm
        running: list[asyncio.Task[None]] = []
        while plot.faults and loop.now < end:
            await asyncio.sleep(chance.uniform(0.1, 1.9) * plot.pause)
            fault = chance.choice(plot.faults)
            self.done[fault] += 1
            running.append(loop.create_task(self._ways[fault](), name=fault))
        for task in running:
            await task

    def mend(self) -> None:
        """No more harm: what is held is let go, what was lost stays lost."""
        self._loop.network.mend()
        self._store.harm.update(dict.fromkeys(self._store.harm, 0.0))
        self._store.lag = 0.0

    # --- nodes

    def _some_node(self) -> SimNode:
        return self._chance.choice([node for node in self._nodes if node.lives] or self._nodes)

    async def _kill(self) -> None:
        node = self._some_node()
        node.process.fuse = self._chance.randint(1, FUSE)
        process = node.process
        while process.alive and node.process is process:  # noqa: ASYNC110 - it dies without a word.
            await asyncio.sleep(0.01)
        if node.process is not process:
            return
        node.kill()
        await asyncio.sleep(self._chance.choice([0.0, 0.3, 1.0]))
        if node.process is process:
            node.start()

    async def _stop(self, suspended: bool = False) -> None:
        node = self._some_node()
        process, began = node.process, self._loop.now
        if process.stopped:
            return
        process.stopped = True
        await asyncio.sleep(self._chance.choice([0.2, 1.0, 4.0, 12.0]) * self._chance.random())
        if suspended:
            process.ahead -= self._loop.now - began
        self._loop.go_on(process)

    async def _suspend(self) -> None:
        await self._stop(suspended=True)

    async def _end(self) -> None:
        node = self._some_node()
        process = node.process
        node.end()
        await asyncio.sleep(4)
        if node.process is process:
            node.kill()
            node.start()

    async def _skip(self) -> None:
        leap = self._chance.uniform(0.01, 1)
        self.leaps += int(leap * 1000) + 1
        self._some_node().process.ahead += leap

    # --- between nodes and store

    def _some_links(self) -> list[Link]:
        node = self._chance.choice([None, self._some_node()])
        links = self._loop.network.links_of(node.process if node else None, ADDRESS)
        return links if self._chance.random() < 0.4 else [link for link in links if self._chance.random() < 0.4]

    async def _cut(self) -> None:
        for link in self._some_links():
            link.cut(lose_requests=self._chance.random() < 0.4, lose_replies=self._chance.random() < 0.7)

    async def _hold(self) -> None:
        seconds = self._chance.choice([0.1, 1.0, 5.0, 9.0]) * self._chance.random()
        for link in self._some_links():
            (link.client if self._chance.random() < 0.5 else link.server).hold(seconds)

    async def _part(self) -> None:
        node, network = self._some_node(), self._loop.network
        seconds = self._chance.choice([0.5, 3.0, 12.0]) * self._chance.random()
        network.blocked[node.name, ADDRESS] = self._loop.now + seconds
        for link in network.links_of(node.process, ADDRESS):
            if self._chance.random() < 0.5:
                link.cut(lose_requests=self._chance.random() < 0.5, lose_replies=True)
            else:
                link.client.hold(seconds)
                link.server.hold(seconds)

    # --- the store

    def _dies(self) -> bool:
        if not self._store.process.alive:
            return False
        for link in self._loop.network.links_of(address=ADDRESS):
            if self._chance.random() < 0.5:
                link.client.lose()
        return True

    async def _restart(self) -> None:
        if self._dies():
            self._store.die()
            await asyncio.sleep(self._chance.choice([0.01, 0.3, 1.5, 4.0]) * self._chance.random())
            self._store.start()

    async def _lag(self) -> None:
        self._store.lag = self._loop.now + self._chance.choice([0.1, 1.0, 3.0]) * self._chance.random()

    async def _failover(self) -> None:
        if self._store.replica and self._loop.now > self._replica_since + REPLICA_KNOWN and self._dies():
            self.done["failovers"] += 1
            self._store.die()
            await asyncio.sleep(self._chance.uniform(0, 1.5))
            self.undone += self._store.fail_over()
            await asyncio.sleep(self._chance.uniform(0, 2))
            self._store.attach_replica()
            self._replica_since = self._loop.now

    async def _forget(self) -> None:
        if self._store.space.exists(LIBRARIES):
            self._store.space.drop(LIBRARIES)
            self._store.space.done()

    async def _harm(self) -> None:
        for kind in self._store.harm:
            self._store.harm[kind] = self._chance.choice([0.0, 0.1, 0.3])
        await asyncio.sleep(self._chance.uniform(0.2, 2))
        self._store.harm.update(dict.fromkeys(self._store.harm, 0.0))

    async def _step(self) -> None:
        leap = self._chance.choice([-100, -1000, 100, 1000, 20_000]) * self._chance.random()
        self._store.ahead += int(leap)
        self.leaps += max(0, -int(leap)) + 1

    # --- between players and nodes

    async def _player(self) -> None:
        links = [link for link in self._loop.network.links.values() if link.address != ADDRESS]
        if not links:
            return
        link = self._chance.choice(links)
        match self._chance.choice(["cut", "hold", "half-open"]):
            case "cut":
                link.cut(lose_requests=self._chance.random() < 0.5, lose_replies=self._chance.random() < 0.5)
            case "hold":
                (link.client if self._chance.random() < 0.5 else link.server).hold(self._chance.uniform(0, 3))
            case _:
                link.client.hold(600)
                link.server.hold(600)
