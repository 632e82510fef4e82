"""Silent cuts of pub/sub: a node stops hearing the others, and is not told; its clients miss nothing in the end.

Everything happens at one node. Clients of another, which reaches the store through a proxy, see facts of one race (an
entrant is ready, and not, and so on) and moves of another (as a spectator). Meanwhile the proxy swallows messages of
that node's subscription, closes the subscription, or leaves it half open. What is measured: of all events, how many a
client was not told of, by pushes or, where its client has seen a gap, by the answer to `race.sync`.
"""

from __future__ import annotations

import asyncio
import time
from collections import Counter
from collections.abc import AsyncIterator
from contextlib import AsyncExitStack, asynccontextmanager
from dataclasses import dataclass, field
from pathlib import Path
from random import Random

from cellrace_server.app import running
from cellrace_server.config import Bounds, Config
from cellrace_server.store.embedded import EmbeddedStore
from tests.faults import FaultProxy, faulty
from tests.soaks.figures import Figure, Tell
from tests.story.players import Map, Player, open_race, start_race, table
from tests.waiting import eventually

SIZE = 1_000
COUNTS = "events"

PACE = 0.05
"""Seconds between two events."""
UNTIL_CAUGHT_UP = 40.0
"""Seconds after the last event within which a client must know of all: rooms are compared with the store every 30 s."""
HALF_OPEN_EVERY = 250
"""Events between two subscriptions that are left half open, each of which is found after 7 seconds or so."""
LAST = 3
"""The last events, which are all swallowed."""
GENEROUS = Bounds(burst=1_000_000, per_second=1e6)


@dataclass
class Witness:
    """A client of the node that is cut off, and what it knows."""

    player: Player
    race: str
    facts: set[int] = field(default_factory=set)
    """Versions."""
    moves: dict[str, int] = field(default_factory=dict)
    """By player, how many entries are known without a gap."""
    asked: int = 0
    """How often the client has asked for the race as a whole, since it had seen a gap."""

    async def run(self) -> None:
        """Take in what comes, until cancelled."""
        while True:
            message = await self.player.read(3600)
            self.player.pushes.clear()
            self.player.frames.clear()
            if message.get("race") == self.race and await self._misses(message):
                self.asked += 1
                await self.player.send("race.sync", race=self.race)

    async def _misses(self, message: Map) -> bool:
        match message["type"]:
            case "race":
                self.facts |= set(range(1, message["version"] + 1))
                self.moves |= {log["player"]: log["seq"] for log in message.get("logs", ())}
            case "race.moved":
                known = self.moves.get(message["player"], 0)
                if message["seq"] - len(message["moves"]) > known:
                    return True
                self.moves[message["player"]] = max(known, message["seq"])
            case _ if "version" in message:
                if message["version"] > max(self.facts, default=0) + 1:
                    return True
                self.facts.add(message["version"])
        return False


class _Cuts:
    """The hand at the proxy."""

    def __init__(self, proxy: FaultProxy, chance: Random) -> None:
        self._proxy = proxy
        self._chance = chance
        self.done: Counter[str] = Counter()

    def harm(self) -> None:
        """Lose something, silently or nearly so."""
        what = self._chance.choice(["swallowed", "swallowed", "closed"])
        self.done[what] += 1
        if what == "closed":
            self._proxy.cut_subscriptions()
        else:
            self._proxy.swallow(self._chance.randint(1, 5))

    async def leave_half_open(self) -> None:
        """Nothing is heard until the node finds out."""
        self.done["half open"] += 1
        before = self._proxy.subscribed
        self._proxy.deafen()
        await eventually(lambda: self._proxy.subscribed > before, 60)


async def run(folder: Path, size: int, tell: Tell) -> list[Figure]:
    """Let so many events happen while the subscription is cut again and again."""
    async with _two_nodes(folder) as (here, there, proxy), AsyncExitStack() as stack:
        seats = await stack.enter_async_context(table(here))
        far = await stack.enter_async_context(table(there))
        ann, ben = await seats.player("Ann"), await seats.player("Ben")
        opened = await open_race(ann, await far.player("Zoe"))
        played = await start_race(ben, seats=1, deal=617, autoplay="none", spectate="live")
        witnesses = [
            await _witness(await far.player("Cem"), opened),
            await _witness(await far.player("Dan"), played),
        ]
        reading = [asyncio.create_task(witness.run()) for witness in witnesses]
        try:
            cuts = _Cuts(proxy, Random(size))
            half_open: list[asyncio.Task[None]] = []
            versions, entries = max(witnesses[0].facts), 0
            for event in range(size):
                if event % 2:
                    await ann.ask("race.ready", race=opened, ready=event % 4 == 1)
                    versions += 1
                else:
                    await ben.ask("move", race=played, seq=entries, moves=["u" if event % 4 else "1a"])
                    entries += 1
                if event == size - LAST:
                    proxy.swallow(LAST)  # No later event shows that these are missing.
                elif event % HALF_OPEN_EVERY == HALF_OPEN_EVERY // 2:
                    half_open.append(asyncio.create_task(cuts.leave_half_open()))
                elif event % 10 == 0 and all(task.done() for task in half_open):
                    cuts.harm()
                if event % 200 == 0:
                    tell(f"{event} events, {proxy.swallowed} of them swallowed; cuts: {dict(cuts.done)}")
                await asyncio.sleep(PACE)
            missed, took = await _missed(witnesses, versions, {ben.id: entries}, tell)
        finally:
            for task in (*reading, *half_open):
                task.cancel()
            await asyncio.gather(*reading, *half_open, return_exceptions=True)
    return [
        Figure("events at one node, told at the other", size, least=size),
        Figure("cuts: messages swallowed", proxy.swallowed, least=1),
        Figure("cuts: subscriptions closed", cuts.done["closed"]),
        Figure("cuts: subscriptions left half open", cuts.done["half open"]),
        Figure("gaps that clients have seen", sum(witness.asked for witness in witnesses)),
        Figure("events missed", missed, most=0),
        Figure("after the last event: until all was known", took, "s", most=UNTIL_CAUGHT_UP),
    ]


async def _witness(player: Player, race: str) -> Witness:
    whole = await player.ask("race.watch", race=race)
    witness = Witness(player, race, set(range(1, whole["version"] + 1)))
    witness.moves = {log["player"]: log["seq"] for log in whole.get("logs", ())}
    return witness


async def _missed(witnesses: list[Witness], versions: int, entries: dict[str, int], tell: Tell) -> tuple[int, float]:
    """How many events are not known, and how long after the last one all were."""
    facts, moves = witnesses[0], witnesses[1]

    def missing() -> int:
        unknown = versions - len(facts.facts & set(range(1, versions + 1)))
        return unknown + sum(seq - moves.moves.get(player, 0) for player, seq in entries.items())

    tell(f"all has happened; {missing()} events are not known yet")
    began = time.monotonic()
    try:
        await eventually(lambda: not missing(), UNTIL_CAUGHT_UP)
    except AssertionError:
        tell(f"{missing()} events were never told")
    return missing(), time.monotonic() - began


@asynccontextmanager
async def _two_nodes(folder: Path) -> AsyncIterator[tuple[str, str, FaultProxy]]:
    """The addresses of a node, and of one behind a proxy."""
    async with await EmbeddedStore.open(folder / "store") as store, faulty(store.url, folder) as proxy:
        here = Config(port=0, redis=store.url, data_dir=folder / "data", bounds=GENEROUS)
        there = Config(port=0, redis=proxy.url, data_dir=folder / "data", bounds=GENEROUS)
        async with running(here) as one, running(there) as other:
            yield f"ws://127.0.0.1:{one.port}/ws", f"ws://127.0.0.1:{other.port}/ws", proxy
