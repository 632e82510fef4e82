"""Fixtures of more than one folder: a real store, emptied for each test."""

from __future__ import annotations

import os
import signal
from collections.abc import AsyncIterator, Iterator
from pathlib import Path
from typing import TYPE_CHECKING

import pytest
import pytest_asyncio
import structlog
from hypothesis import HealthCheck, settings

from cellrace_client.language import speak

if TYPE_CHECKING:
    from redis.asyncio import Redis


# How long an example takes, or takes to be drawn, is no property of what it shows; a hang is seen by the timeout of the
# test.
# Where CI is set the examples are the same each time: what is new is found by whoever works on it.
settings.register_profile(
    "cellrace", deadline=None, suppress_health_check=[HealthCheck.too_slow], derandomize="CI" in os.environ
)
settings.load_profile("cellrace")

PATIENCE = 60.0
"""Seconds after which the store of a whole run was awaited in vain."""

# Tests of these folders wait more than they work, some of them for half a minute.
SLOW_FOLDERS = {"chaos", "fuzz", "sim", "soaks", "story"}


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """The slow first: with several processes, the last test to begin is the last to end."""
    items.sort(key=lambda item: SLOW_FOLDERS.isdisjoint(item.path.parts))


@pytest.fixture(scope="session", autouse=True)
def interruptible() -> None:
    """A shell that starts the tests in the background has them ignore Ctrl-C; what they start shall not."""
    if signal.getsignal(signal.SIGINT) is signal.SIG_IGN:
        signal.signal(signal.SIGINT, signal.default_int_handler)


@pytest.fixture(scope="session", autouse=True)
def data_home(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Path]:
    """The platform's data directory of this run, for nodes that are told of none: nothing of the user's is touched."""
    home = tmp_path_factory.mktemp("data_home")
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("XDG_DATA_HOME", str(home))
        yield home


@pytest.fixture(scope="session", autouse=True)
def english() -> Iterator[None]:
    """Whatever language this machine speaks, tests read English; processes that they start inherit it."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("LC_ALL", "C.UTF-8")
        yield


@pytest.fixture(autouse=True)
def plain_logs() -> Iterator[None]:
    """Whatever a test has done to the logs, as by a command that it ran in this process, the next finds them new."""
    yield
    structlog.reset_defaults()


@pytest.fixture(autouse=True)
def english_again() -> Iterator[None]:
    """Whatever language a test has spoken, the next one reads English."""
    yield
    speak("en")


@pytest_asyncio.fixture(scope="session", loop_scope="session")
async def shared_store(tmp_path_factory: pytest.TempPathFactory) -> AsyncIterator[str]:
    """One embedded store for the whole run: a real process with its own data directory."""
    # Imported here, so that the tests of the rules need no store library.
    from cellrace_server.store.embedded import EmbeddedStore

    async with await EmbeddedStore.open(tmp_path_factory.mktemp("store"), patience=PATIENCE) as store:
        yield store.url


@pytest_asyncio.fixture
async def store_url(shared_store: str) -> AsyncIterator[str]:
    """The URL of a real store that holds nothing when the test begins: neither keys nor functions."""
    from cellrace_server.store.connect import client_for

    client = client_for(shared_store, connections=1)
    try:
        await client.flushall()
        await client.function_flush()
        yield shared_store
    finally:
        await client.aclose()


@pytest_asyncio.fixture
async def redis_client(store_url: str) -> AsyncIterator[Redis]:
    """A client of the emptied store."""
    from cellrace_server.store.connect import client_for

    client = client_for(store_url)
    yield client
    await client.aclose()
