"""Fixtures of the server's tests: nodes without sockets, on a real store."""

from __future__ import annotations

import time
from collections.abc import AsyncIterator

import pytest
import pytest_asyncio

from tests.server.shell import Shell, shell
from tests.story.passing_time import PassingTime


@pytest.fixture
def noon(monkeypatch: pytest.MonkeyPatch) -> None:
    """Lets it be noon by the race clock when a node starts: no day ends while a test runs."""
    now, day = round(time.time() * 1000), 24 * 3_600_000
    PassingTime(monkeypatch).jump_to(now, now - now % day + day // 2)


@pytest_asyncio.fixture
async def here(store_url: str, monkeypatch: pytest.MonkeyPatch) -> AsyncIterator[Shell]:
    """A node's store and rooms."""
    async with shell(store_url, "here:1", monkeypatch) as made:
        yield made


@pytest_asyncio.fixture
async def there(store_url: str, monkeypatch: pytest.MonkeyPatch) -> AsyncIterator[Shell]:
    """Another node's, on the same store."""
    async with shell(store_url, "there:2", monkeypatch) as made:
        yield made
