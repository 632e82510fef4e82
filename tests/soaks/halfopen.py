"""Half open: clients that are gone without a word, and subscriptions that hear nothing any more, are found.

What is measured: for a client, from when it last reads or answers a ping to when a rival is told that it is not online
(`race.online`); half of them go on reading and answer no ping, half read nothing. For a subscription, from when a proxy
begins to swallow all that it hears, closing nothing, to when the node has a new one.
"""

from __future__ import annotations

import asyncio
import time
from contextlib import AsyncExitStack
from pathlib import Path
from random import Random

from cellrace_server.app import Node, running
from cellrace_server.config import Config
from cellrace_server.store.embedded import EmbeddedStore
from tests.faults import FaultProxy
from tests.soaks.figures import Figure, Tell, quantile
from tests.story.crowd import Rider
from tests.story.players import Player, table
from tests.story.servers import servers
from tests.waiting import eventually

SIZE = 48
COUNTS = "clients, and an eighth as many subscriptions"

PING = 10.0
"""Seconds between two pings of a connection, the server's default."""
MOST_FOR_CLIENT = 2.2
"""Of such pauses: 22 seconds."""
MOST_FOR_SUBSCRIPTION = 10.0


class Going(Rider):
    """A client that some time is gone, and whose connection stays."""

    def __init__(self, port: int) -> None:
        super().__init__(port)
        self.found = asyncio.Event()
        """A rival was told."""
        self._gone = False

    def go(self, reads: bool) -> None:
        """Say nothing any more, not even that a ping has come; perhaps not even read."""
        self._gone = True
        if not reads:
            assert isinstance(self.transport, asyncio.Transport)
            self.transport.pause_reading()

    def _take(self, opcode: int, payload: bytes, now: float) -> None:
        if not self._gone:
            super()._take(opcode, payload, now)


async def run(folder: Path, size: int, tell: Tell, ping: float = PING) -> list[Figure]:
    """Let so many clients go, then leave subscriptions half open."""
    clients = await _clients(folder, size, ping, tell)
    subscriptions = await _subscriptions(folder, max(1, size // 8), tell)
    most = MOST_FOR_CLIENT * ping
    return [
        Figure("half-open clients", len(clients), least=size),
        Figure("half-open client found: median", quantile(clients, 0.5), "s"),
        Figure("half-open client found: slowest", max(clients), "s", most=most),
        Figure("half-open subscriptions", len(subscriptions)),
        Figure("half-open subscription found: median", quantile(subscriptions, 0.5), "s"),
        Figure("half-open subscription found: slowest", max(subscriptions), "s", most=MOST_FOR_SUBSCRIPTION),
    ]


async def _clients(folder: Path, size: int, ping: float, tell: Tell) -> list[float]:
    async with servers(folder) as house, AsyncExitStack() as stack:
        server = await house.start("--ping-seconds", str(ping))
        seats = await stack.enter_async_context(table(server.url))
        host = await seats.player("Host")
        race = (await host.ask("race.create", settings={"seats": size + 1}))["race"]
        riders = [Going(server.port) for _ in range(size)]
        for rider in riders:
            await rider.connect()
            assert rider.transport is not None
            stack.callback(rider.transport.abort)
            await rider.ask("race.join", race=race)
        chance = Random(size)
        found = asyncio.gather(*(_found(rider, chance, n, ping) for n, rider in enumerate(riders)))
        hearing = asyncio.create_task(_hear(host, {rider.id: rider for rider in riders}, tell))
        try:
            return await found
        finally:
            hearing.cancel()


async def _found(rider: Going, chance: Random, number: int, ping: float) -> float:
    # Not all in one phase of their pings.
    await asyncio.sleep(chance.uniform(0, ping))
    rider.go(reads=number % 2 == 0)
    gone_at = time.monotonic()
    await rider.found.wait()
    return time.monotonic() - gone_at


async def _hear(host: Player, riders: dict[str, Going], tell: Tell) -> None:
    left = len(riders)
    while left:
        message = await host.read(100)
        if message["type"] == "race.online" and not message["online"] and message["player"] in riders:
            riders[message["player"]].found.set()
            left -= 1
            if left % 12 == 0:
                tell(f"{left} half-open clients are still to be found")


async def _subscriptions(folder: Path, size: int, tell: Tell) -> list[float]:
    async with AsyncExitStack() as stack:
        await stack.enter_async_context(await EmbeddedStore.open(folder / "store"))
        nodes: list[Node] = []
        proxies = [FaultProxy(folder / f"p{number}", folder / "store" / "store.sock") for number in range(size)]
        for proxy in proxies:
            await proxy.mend()
            stack.push_async_callback(proxy.close)
            config = Config(port=0, redis=proxy.url, data_dir=folder / "data")
            nodes.append(await stack.enter_async_context(running(config)))
        await eventually(lambda: not any(node.readiness() for node in nodes))
        chance = Random(size)
        tell(f"{size} nodes; each subscription is left half open")
        return list(await asyncio.gather(*(_rebuilt(proxy, chance.uniform(0, 3)) for proxy in proxies)))


async def _rebuilt(proxy: FaultProxy, pause: float) -> float:
    await asyncio.sleep(pause)  # Not all in one phase of their echoes.
    before, began = proxy.subscribed, time.monotonic()
    proxy.deafen()
    await eventually(lambda: proxy.subscribed > before, 100)
    return time.monotonic() - began
