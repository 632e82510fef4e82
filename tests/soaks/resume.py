"""Resume: a node is killed under its clients, and each has its game of 200 moves back from the other node.

What is measured: from the first byte of a client's new connection (its SYN) to the answer of `race.sync` with the whole
log, read and held to what was played; with the handshake, hello by token and the opening of the race at a node that has
never held it. All clients of the dead node come at once. Clients, nodes and store share one machine.
"""

from __future__ import annotations

import asyncio
import contextlib
import time
from contextlib import AsyncExitStack
from dataclasses import dataclass
from pathlib import Path

from websockets.exceptions import ConnectionClosed

from tests.soaks.figures import Figure, Tell, quantile
from tests.story.cluster import BY_URL, a_cluster
from tests.story.players import JSON, MSGPACK, Player, Table, open_socket, play, start_race
from tests.story.solved_games import golden_game

SIZE = 200
COUNTS = "resumes"

TOGETHER = 10
"""Clients of the node that dies."""
ENTRIES = ["1a", "u"] * 50 + golden_game("freecell", 617, "none")[:100]
"""A log of 200 entries."""
MOST_MEDIAN = 100.0
MOST_P99 = 1_000.0


@dataclass
class _Client:
    """A player, and the race that is resumed."""

    player: Player
    race: str

    async def lose(self) -> None:
        """Notice that the node is gone."""
        with contextlib.suppress(ConnectionClosed):
            while True:
                await self.player.socket.recv()

    async def resume(self, url: str) -> float:
        """Come back there; how long it took, in seconds."""
        began = time.monotonic()
        player = Player(await open_socket(url, JSON if self.player.text else MSGPACK))
        await player.hello(token=self.player.token)
        whole = await player.ask("race.sync", race=self.race)
        took = time.monotonic() - began
        assert whole["state"] == "running", whole
        assert whole["you"]["moves"] == ENTRIES, whole["you"]
        self.player = player
        return took


async def run(folder: Path, size: int, tell: Tell) -> list[Figure]:
    """Kill the node that the clients are on, and start it again, until so many have resumed."""
    took: list[float] = []
    async with a_cluster(BY_URL, folder) as cluster, AsyncExitStack() as stack:
        clients = [await _settle(cluster.urls[0], number, stack) for number in range(min(TOGETHER, size))]
        tell(f"{len(clients)} games of {len(ENTRIES)} entries")
        at = 0
        while len(took) < size:
            await cluster.kill(at)
            await asyncio.gather(*(client.lose() for client in clients))
            dead, at = at, 1 - at
            took += await asyncio.gather(*(client.resume(cluster.urls[at]) for client in clients))
            tell(f"{len(took)} of {size} have resumed, the slowest in {max(took) * 1000:.0f} ms")
            await cluster.start(dead)
        for client in clients:
            await client.player.close()
    median, slow = quantile(took, 0.5) * 1000, quantile(took, 0.99) * 1000
    return [
        Figure(f"resumes of {len(ENTRIES)} moves after a node's death", len(took), least=size),
        Figure("median from the first byte to the whole game", median, "ms", most=MOST_MEDIAN),
        Figure("p99 of the same", slow, "ms", most=MOST_P99),
    ]


async def _settle(url: str, number: int, stack: AsyncExitStack) -> _Client:
    subprotocol = MSGPACK if number % 2 else JSON
    player = await Table(url, stack).player(f"Client {number}", subprotocol)
    race = await start_race(player, deal=617, autoplay="none")
    await play(player, race, ENTRIES, at_once=50)
    return _Client(player, race)
