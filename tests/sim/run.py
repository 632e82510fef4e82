"""One run: a house on one thread, racers in it, a hand that does harm, and then everything is held to account."""

from __future__ import annotations

import asyncio
import hashlib
import logging
import traceback
from collections import Counter
from contextlib import ExitStack
from dataclasses import dataclass, field
from random import Random
from unittest.mock import patch

import structlog

from cellrace_server import app
from cellrace_server.challenges import Challenges
from tests.chaos.games import Plan
from tests.chaos.history import History, RaceSeen
from tests.sim.account import Sent, accounts
from tests.sim.hand import Hand
from tests.sim.house import Logs, SimNode, key_file
from tests.sim.loop import Hang, Process, SimLoop
from tests.sim.network import End, Network
from tests.sim.plot import Plot, plot_of
from tests.sim.racer import CAUGHT_UP, SimRacer
from tests.sim.sources import made_up, unheard
from tests.sim.store.server import ADDRESS, CarriedOut, Store

CALM = 10.0
"""Seconds after the last fault within which every race must be over."""
ANSWERED = 12.0
"""The same for each request to be answered, on a connection that has lasted; a replica is waited for nearly as long."""
COMPARED = 31.0
"""The same where something published may have been lost: so often what is held is compared with the store."""
SLOW_RACE = 20.0
"""How much longer it takes where racers may be as slow as a time limit, or as a grace, lets them."""
REMATCHES = 0.2
"""How often a group that has raced asks for a rematch instead of a new race."""
PAIRING = 30.0
"""Quick matches are nobody's concern here; they are looked at more seldom than in earnest."""


@dataclass(frozen=True, slots=True)
class Outcome:
    """What came of a run."""

    seed: int
    trace: str
    """A hash over everything that was sent and when."""
    violations: list[str]
    seconds: float
    """How long it took, in made-up seconds."""
    counts: Counter[str] = field(default_factory=Counter)


class Run:
    """One run."""

    def __init__(self, plot: Plot) -> None:
        self._plot = plot
        self._network = Network(Random(f"network {plot.seed}"), plot.slowest)
        self._loop = SimLoop(self._network)  # type: ignore[abstract]  # what nobody asks of it is not there
        self.store = Store(self._loop, Random(f"store {plot.seed}"), replica=plot.replica)
        self._nodes = [SimNode(self._loop, number, key_file()) for number in range(plot.nodes)]
        self._hand = Hand(self._loop, self.store, self._nodes, Random(f"hand {plot.seed}"), plot)
        self._racers: list[SimRacer] = []
        self._trace = hashlib.sha256()
        self._sent: list[Sent] = []
        self._logs = Logs()
        self._over = False
        self.history: History

    def go(self) -> Outcome:
        """Do all of it."""
        self._network.tap = self._tap
        violations: list[str] = []
        # Racers go by the latest of all clocks: who says that a deal came too early, must be sure.
        with self._arranged(), made_up(self._loop, f"chance {self._plot.seed}", lambda: self._latest() / 1000):
            self.history = History()
            try:
                self.store.start()
                for node in self._nodes:
                    node.start()
                self._loop.run(Process("players"), self._play())
                self._loop.run(Process("checker"), self._account(violations))
            except Hang as hang:
                violations.append(str(hang))
            except Exception as error:  # noqa: BLE001 - whatever goes wrong in a run is what it has found.
                violations.append(f"it broke off: {error!r} at {traceback.extract_tb(error.__traceback__)[-1]}")
            violations += [f"complained: {complaint}" for complaint in self._loop.complaints]
            violations += [f"logged: {line}" for line in self._logs.mistakes]
            violations = list(dict.fromkeys(self.history.problems + violations))
            counts = self.history.counts + Counter({f"fault: {name}": n for name, n in self._hand.done.items()})
            counts += Counter({f"published {name}": n for name, n in self.store.harmed.items()})
            counts["writes undone"] = self._hand.undone
            counts["steps"] = self._loop.steps
            return Outcome(self._plot.seed, self._trace.hexdigest(), violations, self._loop.now, counts)

    def _arranged(self) -> ExitStack:
        """The house's own arrangements: where logs go, and chores that are done more seldom."""
        stack = ExitStack()
        stack.enter_context(patch.object(app, "PAIRING", PAIRING))
        if not self._plot.dailies:
            stack.enter_context(patch.object(Challenges, "prepare", _nothing))
        structlog.configure(
            processors=[self._logs],
            wrapper_class=structlog.make_filtering_bound_logger(logging.WARNING),
            cache_logger_on_first_use=False,
        )
        stack.callback(structlog.reset_defaults)
        library = logging.getLogger("websockets")
        library.addHandler(self._logs)
        stack.enter_context(patch.object(library, "propagate", False))
        stack.callback(library.removeHandler, self._logs)
        return stack

    def _latest(self) -> int:
        return self.store.now() + self._hand.leaps

    def _tap(self, end: End, data: bytes) -> None:
        self._trace.update(f"{self._loop.now!r} {end.link.number} {end.process.name} ".encode() + data)
        if end.link.address != ADDRESS:
            self._sent.append(Sent(self._latest(), end.process.name, data))

    # --- play

    async def _play(self) -> None:
        loop, plot = self._loop, self._plot
        groups = [loop.create_task(self._race_on(number), name="group") for number in range(plot.groups)]
        hand = loop.create_task(self._hand.do_harm(), name="hand")
        await hand
        self._hand.mend()
        self._over = True
        done, going = await asyncio.wait(groups, timeout=self._calm())
        for group in done:
            group.result()
        if going:
            self.history.problem(f"{self._calm():g} s after the last fault {len(going)} groups are still in a race")
        end = loop.now + ANSWERED
        while True:
            missing = [await racer.unanswered() for racer in self._racers]
            if not any(missing) or loop.now > end:
                break
            await asyncio.sleep(0.2)
        for racer, unanswered in zip(self._racers, missing, strict=True):
            if unanswered:
                self.history.problem(f"{unanswered} requests of {racer.name} have got no answer within {ANSWERED:g} s")
            await racer.close()
        await asyncio.sleep(2)

    def _calm(self) -> float:
        faults, calm = self._plot.faults, CALM
        if "harm" in faults:
            calm = max(calm, COMPARED + CALM)
        if self._plot.clocks_jump:
            calm = max(calm, CAUGHT_UP + CALM)
        if self._plot.grace < 100 or self._plot.time_limit < 100:
            calm += SLOW_RACE
        return calm

    async def _race_on(self, number: int) -> None:
        names = [f"{number}{n}" for n in range(self._plot.players + self._plot.watched)]
        everybody = [
            SimRacer(self._nodes, self.history, Random(f"{self._plot.seed}:{name}"), name, self._plot) for name in names
        ]
        self._racers += everybody
        await asyncio.gather(*(racer.come() for racer in everybody))
        racers, watchers = everybody[: self._plot.players], everybody[self._plot.players :]
        before = ""
        while True:
            before = await self._race(racers, watchers, before)
            if self._over or self.history.problems:
                return

    async def _race(self, racers: list[SimRacer], watchers: list[SimRacer], before: str) -> str:
        race, variant = await self._open(racers, before)
        self.history.races[race] = RaceSeen(variant, [racer.id for racer in racers])
        # All of them before anyone is ready: two who are ready would start without the third.
        await asyncio.gather(*(racer.join(race) for racer in racers))
        await asyncio.gather(*(self._one(racer, race, variant) for racer in racers), *(w.watch(race) for w in watchers))
        self.history.counts["races"] += 1
        return race

    async def _open(self, racers: list[SimRacer], before: str) -> tuple[str, str]:
        """A race that is open, and its game: a new one, or the one after that before."""
        chance = racers[0].chance
        if before and chance.random() < REMATCHES:
            found = set(await asyncio.gather(*(racer.rematch(before) for racer in racers))) - {""}
            if len(found) > 1:
                self.history.problem(f"{before} has the successors {sorted(found)}")
            if found:
                self.history.counts["rematches"] += 1
                return found.pop(), self.history.races[before].variant
        variant = chance.choice(self._plot.variants)
        settings = {
            "variant": variant,
            "seats": len(racers),
            "countdown": chance.choice([0, 0, 1]),
            "time_limit": self._plot.time_limit,
            "grace": self._plot.grace,
            "spectate": chance.choice(["live", "delayed", "after"]),
        }
        return await racers[0].open_race(settings), variant

    async def _one(self, racer: SimRacer, race: str, variant: str) -> None:
        await racer.enter(race)
        started = self.history.races[race].seat(racer.id).started
        if started is not None:
            end = racer.chance.choices(["won", "conceded", "forfeited"], [6, 2, 1])[0]
            await racer.play(race, Plan(variant, started["deal"], racer.chance, end))
        await racer.see_the_end(race, 120)

    # --- account

    async def _account(self, violations: list[str]) -> None:
        patience = self._calm()
        violations += await accounts(
            self.history, self._nodes, self._loop, self.store, self._sent, self._logs.lines, patience
        )


async def _nothing(_: object) -> None:
    """Does nothing."""


def run(seed: int) -> Outcome:
    """The run of a seed."""
    return run_plot(plot_of(seed))


def run_plot(plot: Plot, carried_out: CarriedOut | None = None) -> Outcome:
    """The run of a plot; `carried_out` hears of each command of the store."""
    with unheard():
        whole = Run(plot)
        if carried_out is not None:
            whole.store.carried_out = carried_out
        outcome = whole.go()
        del whole  # All of it goes here, where nobody hears it.
        return outcome
