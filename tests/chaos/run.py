"""One run: racers in groups, and a hand that kills, pauses and cuts off what they play on."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from random import Random
from statistics import median

from cellrace_server.store.connect import client_for
from cellrace_server.store.library import Link
from cellrace_server.store.races import RaceStore
from tests.chaos.checker import check
from tests.chaos.games import VARIANTS, Plan
from tests.chaos.history import History, RaceSeen
from tests.chaos.house import House, NodeProcess
from tests.chaos.racer import PATIENCE, Racer
from tests.faults import FaultProxy
from tests.waiting import eventually

PARTITIONS = ("both ways", "replies", "requests", "connections")
"""What of a node's line to the store does not pass."""
TELL_EACH = 20
"""After so many faults one hears how far the run is."""
CALM = 12.0
"""Seconds after the last fault within which every race that is over must be seen to be, on a machine of one's own."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Plot:
    """What is to happen."""

    seed: int = 0
    node_kills: int = 20
    store_kills: int = 20
    pauses: int = 6
    """SIGSTOP and SIGCONT, of nodes and the store alternately."""
    partitions: int = 0
    """A node is cut off from the store: in both directions, in one, or with its connections."""
    pause: float = 0.6
    """Seconds between two faults, about."""
    groups: int = 5
    players: int = 3
    """Racers in each group."""
    moves: int = 0
    """How many moves are to be answered at least, however long that takes."""
    away: tuple[float, ...] = (0, 0, 0.05, 0.3)
    """Seconds from the death of a store to its start, one of these."""
    patience: float = PATIENCE
    """Seconds that a racer waits for an answer before trying another node."""
    bug: str = ""
    store: Mapping[str, str] = field(default_factory=dict)
    """Settings of the store other than those that keep everything."""
    disk: float = 0.0
    """Seconds that the store's disk takes to write down what it was given."""
    calm: float = CALM
    """Seconds for all races to come to their end after the last fault."""


@dataclass(frozen=True, slots=True)
class Outcome:
    """What came of it."""

    violations: list[str]
    figures: str
    moves: int


class Chaos:
    """One run."""

    def __init__(
        self, folder: Path, plot: Plot, house: House | None = None, tell: Callable[[str], None] = lambda line: None
    ) -> None:
        self._plot = plot
        self._tell = tell
        self._chance = Random(plot.seed)
        lines = plot.partitions > 0
        self._house = house or House(folder, bug=plot.bug, store=plot.store, disk=plot.disk, lines=lines)
        self.history = History()
        self._over = False

    async def run(self) -> Outcome:
        """Do all of it, and check what came of it."""
        began = time.monotonic()
        try:
            await self._house.start()
            groups = [asyncio.create_task(self._race_on(number)) for number in range(self._plot.groups)]
            try:
                await self.do_harm()
                await eventually(self._enough, timeout=float("inf"))
                self._over = True
                await self._calm_down(groups)
            finally:
                for group in groups:
                    group.cancel()
                await asyncio.gather(*groups, return_exceptions=True)
            violations = await self._check()
        finally:
            await self._house.end()
        return Outcome(violations, self._figures(time.monotonic() - began), self.history.counts["moves answered"])

    def _enough(self) -> bool:
        return self.history.counts["moves answered"] >= self._plot.moves or bool(self.history.problems)

    async def _calm_down(self, groups: list[asyncio.Task[None]]) -> None:
        """Let all races that are under way come to their end."""
        done, going = await asyncio.wait(groups, timeout=0.1 if self.history.problems else self._plot.calm)
        for group in done:
            group.result()
        if going:
            self.history.problem(f"{self._plot.calm:g} s after the last fault {len(going)} groups are still in a race")

    async def _check(self) -> list[str]:
        client = client_for(self._house.store.url)
        try:
            found = await check(self.history, RaceStore(Link(client), "checker"))
        finally:
            await client.aclose()
        logged = self._house.logged()
        return found + [f"a node has logged a mistake: {logged[-3000:]}"] * ("Traceback" in logged)

    # --- play

    async def _race_on(self, number: int) -> None:
        """One group races until the run is over."""
        racers = [
            Racer(self._house, self.history, Random(f"{self._plot.seed}:{number}:{n}"), f"Racer {number} {n}")
            for n in range(self._plot.players)
        ]
        for racer in racers:
            racer.patience = self._plot.patience
            racer.unsure = max(racer.unsure, self._plot.calm)
        try:
            await asyncio.gather(*(racer.come() for racer in racers))
            while not self._over:
                await self._race(racers)
        except AssertionError as unexpected:
            self.history.problem(f"group {number} cannot go on: {unexpected}")
        finally:
            for racer in racers:
                await racer.close()

    async def _race(self, racers: list[Racer]) -> None:
        chance = racers[0].chance
        variant = chance.choice(VARIANTS)
        settings = {"variant": variant, "seats": len(racers), "countdown": chance.choice([0, 0, 1]), "grace": 3600}
        race = await racers[0].open_race(settings)
        self.history.races[race] = RaceSeen(variant, [racer.id for racer in racers])
        # All of them before anyone is ready: two who are ready would start without the third.
        await asyncio.gather(*(racer.join(race) for racer in racers))
        await asyncio.gather(*(self._one(racer, race, variant) for racer in racers))
        self.history.counts["races"] += 1

    async def _one(self, racer: Racer, race: str, variant: str) -> None:
        await racer.enter(race)
        started = self.history.races[race].seat(racer.id).started
        if started is not None:
            end = racer.chance.choices(["won", "conceded", "forfeited"], [6, 2, 1])[0]
            await racer.play(race, Plan(variant, started["deal"], racer.chance, end))
        # The others may be held up for as long as faults go on.
        await racer.see_the_end(race, max(60, self._plot.calm) if not self._over else self._plot.calm)

    # --- harm

    async def do_harm(self) -> None:
        """All faults, one after the other or at once."""
        plot, chance = self._plot, self._chance
        faults = ["node"] * plot.node_kills + ["store"] * plot.store_kills
        faults += ["pause", "pause store"] * (plot.pauses // 2)
        faults += [f"cut off: {PARTITIONS[n % len(PARTITIONS)]}" for n in range(plot.partitions)]
        chance.shuffle(faults)
        await self._be_under_way()
        await asyncio.sleep(1)
        coming: list[asyncio.Task[None]] = []
        for done, fault in enumerate(faults):
            if done % TELL_EACH == 0:
                self._tell(f"{done} of {len(faults)} faults, {self.history.counts['moves answered']:,} moves answered")
            if self.history.problems:
                break  # What is wrong is wrong: nobody needs to wait for the rest.
            self.history.counts[f"fault: {fault}"] += 1
            match fault:
                case "node":
                    living = [node for node in self._house.nodes if node.lives] or self._house.nodes
                    coming.append(asyncio.create_task(self._kill_node(chance.choice(living))))
                case "store":
                    await self._house.store.kill()
                    await asyncio.sleep(chance.choice(plot.away))
                    await self._house.store.start()
                case "pause":
                    coming.append(asyncio.create_task(self._pause(chance.choice(self._house.nodes))))
                case _ if fault.startswith("cut off: "):
                    line = chance.choice(self._house.lines)
                    coming.append(asyncio.create_task(self._cut_off(line, fault.removeprefix("cut off: "))))
                case _:
                    self._house.store.pause()
                    await asyncio.sleep(chance.uniform(0.1, 1.2))
                    self._house.store.go_on()
            await asyncio.sleep(chance.uniform(0.2, 1.8) * plot.pause)
        await asyncio.gather(*coming)

    async def _be_under_way(self) -> None:
        """Wait until somebody plays: harm that is done before finds nothing to harm."""
        try:
            await eventually(lambda: self.history.counts["moves answered"] or self.history.problems, 60)
        except AssertionError:
            self.history.problem("nobody has moved within 60 s")

    async def _kill_node(self, node: NodeProcess) -> None:
        # One after the other: two that start at one address are in each other's way for good.
        async with node.dying:
            if not node.lives:
                await asyncio.sleep(1)
            await node.kill()
            await asyncio.sleep(self._chance.uniform(0, 0.5))
            await self._start_node(node)

    async def _start_node(self, node: NodeProcess) -> None:
        while True:
            try:
                await node.start()
                return
            except AssertionError:
                await asyncio.sleep(0.2)  # The store is away just now, and the node has said so.

    async def _pause(self, node: NodeProcess) -> None:
        if node.lives:
            node.pause()
            await asyncio.sleep(self._chance.uniform(0.5, 3.5))
            node.go_on()

    async def _cut_off(self, line: FaultProxy, how: str) -> None:
        match how:
            case "connections":
                await line.cut()
            case _:
                line.hold(requests=how != "replies", replies=how != "requests")
        await asyncio.sleep(self._chance.uniform(0.5, 5))
        if self._chance.random() < 0.5:
            await line.cut()  # Else what is held comes late.
        await line.mend()

    # --- figures

    def _figures(self, seconds: float) -> str:
        counts, history = self.history.counts, self.history
        faults = {name.removeprefix("fault: "): n for name, n in counts.items() if name.startswith("fault: ")}
        rest = {name: n for name, n in sorted(counts.items()) if not name.startswith("fault: ")}
        lines = [
            f"{seconds:.0f} s, seed {self._plot.seed}; faults: {faults}",
            f"{counts['moves answered']:,} moves answered in {counts['races']} races; {rest}",
            f"connections that ended: {dict(history.closes)}",
            f"back after a node's death, the store alive: {_spread([took for took, _ in history.resumed])}",
            f"first move after the store answers again: {_spread(history.flowing)}",
        ]
        return "\n".join(lines)


def _spread(seconds: list[float]) -> str:
    if not seconds:
        return "never"
    ordered = sorted(seconds)
    p99 = ordered[min(len(ordered) - 1, len(ordered) * 99 // 100)]
    return f"median {median(ordered) * 1000:.0f} ms, p99 {p99 * 1000:.0f} ms, of {len(ordered)}"
