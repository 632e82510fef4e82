"""Fixtures of the store's tests: stores that a test may kill."""

from __future__ import annotations

from collections.abc import AsyncIterator, Awaitable, Callable
from pathlib import Path

import pytest
import pytest_asyncio
from redis.asyncio import Redis

from cellrace_server.store.connect import client_for
from cellrace_server.store.embedded import EmbeddedStore
from cellrace_server.store.library import Link
from tests.server.store.processes import store_pid
from tests.waiting import eventually


@pytest.fixture
def data_dir(tmp_path: Path) -> Path:
    """A data directory of the test's own, which does not exist yet."""
    return tmp_path / "data"


@pytest_asyncio.fixture
async def open_store() -> AsyncIterator[Callable[[Path], Awaitable[EmbeddedStore]]]:
    """Opens embedded stores that are closed when the test ends."""
    opened: list[EmbeddedStore] = []

    async def open_one(directory: Path) -> EmbeddedStore:
        opened.append(await EmbeddedStore.open(directory))
        # Its keeper writes down which process it is once it has started it; the store may answer before.
        await eventually(lambda: store_pid(directory) is not None)
        return opened[-1]

    yield open_one
    for store in reversed(opened):
        await store.close()


@pytest_asyncio.fixture
async def client_of() -> AsyncIterator[Callable[[str], Redis]]:
    """Makes clients that are closed when the test ends."""
    made: list[Redis] = []

    def make(url: str) -> Redis:
        made.append(client_for(url))
        return made[-1]

    yield make
    for client in made:
        await client.aclose()


@pytest_asyncio.fixture
async def link(redis_client: Redis) -> Link:
    """A link to the emptied store, with our functions in it."""
    made = Link(redis_client)
    await made.load_libraries()
    return made
