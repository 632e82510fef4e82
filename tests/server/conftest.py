"""Fixtures of the server's tests: nodes without sockets, on a real store."""

from __future__ import annotations

from collections.abc import AsyncIterator

import pytest
import pytest_asyncio

from tests.server.shell import Shell, shell


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
