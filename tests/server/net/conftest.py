"""Fixtures of the tests of net: a node in this process, on a real store, and players at its port."""

from __future__ import annotations

from collections.abc import AsyncIterator

import pytest
import pytest_asyncio

from cellrace_server.app import Node, running
from cellrace_server.config import Bounds, Config
from tests.story.players import Player, Table, table


@pytest.fixture
def bounds() -> Bounds:
    """What one connection may use; a test module or a test overrides it."""
    return Bounds()


@pytest_asyncio.fixture
async def node(store_url: str, bounds: Bounds) -> AsyncIterator[Node]:
    """A node on an empty store."""
    async with running(Config(port=0, redis=store_url, node="here", bounds=bounds)) as node:
        yield node


@pytest.fixture
def url(node: Node) -> str:
    """Where the node's WebSocket is."""
    return f"ws://127.0.0.1:{node.port}/ws"


@pytest_asyncio.fixture
async def seats(url: str) -> AsyncIterator[Table]:
    """Opens connections to the node, closed when the test ends."""
    async with table(url) as opened:
        yield opened


@pytest_asyncio.fixture
async def ann(seats: Table) -> Player:
    """Ann, who has said hello; others come after her in the order in which a test names them."""
    return await seats.player("Ann")


@pytest_asyncio.fixture
async def bob(seats: Table) -> Player:
    """Bob."""
    return await seats.player("Bob")


@pytest_asyncio.fixture
async def ben(seats: Table) -> Player:
    """Ben."""
    return await seats.player("Ben")


@pytest_asyncio.fixture
async def cem(seats: Table) -> Player:
    """Cem."""
    return await seats.player("Cem")
