"""Two nodes on one store, as processes that a test may kill and start again."""

from __future__ import annotations

from collections.abc import AsyncIterator
from contextlib import AsyncExitStack, asynccontextmanager
from pathlib import Path

from cellrace_server.store.embedded import EmbeddedStore
from tests.ports import free_port
from tests.story.servers import STARTING, Server, Servers, servers

BY_URL = "one store by its URL"
BY_DIRECTORY = "one data directory"
EAGER = ("--http-burst", "1000")


class Cluster:
    """Two nodes, each at an address that it keeps when it is started again."""

    def __init__(self, house: Servers, *options: str) -> None:
        self.data_dir = house.data_dir
        self.ports = [free_port(), free_port()]
        self._house = house
        self._options = (*options, *EAGER)
        self.nodes: list[Server] = []

    @property
    def urls(self) -> list[str]:
        """Where the nodes are."""
        return [f"ws://127.0.0.1:{port}/ws" for port in self.ports]

    async def start(self, *which: int) -> None:
        """Start these nodes."""
        for number in which:
            node = await self._house.start(*self._options, port=self.ports[number])
            self.nodes[number : number + 1] = [node]

    async def kill(self, *which: int) -> None:
        """Kill nodes, at one blow."""
        for number in which:
            self.nodes[number].process.kill()
        for number in which:
            await self.nodes[number].process.wait()


@asynccontextmanager
async def a_cluster(kind: str, folder: Path) -> AsyncIterator[Cluster]:
    """Two nodes that run, on a store of the test or on one data directory."""
    async with AsyncExitStack() as stack:
        house = await stack.enter_async_context(servers(folder))
        options: tuple[str, ...] = ()
        if kind == BY_URL:
            store = await stack.enter_async_context(await EmbeddedStore.open(folder / "store", patience=STARTING))
            options = ("--redis", store.url)
        cluster = Cluster(house, *options)
        await cluster.start(0, 1)
        yield cluster
