"""Fixtures of the stories: servers as processes, and solved games."""

from __future__ import annotations

from collections.abc import AsyncIterator
from pathlib import Path

import pytest_asyncio

from tests.story.servers import Servers, servers


@pytest_asyncio.fixture
async def house(tmp_path: Path) -> AsyncIterator[Servers]:
    """Starts `cellrace serve` on a data directory of the test's own."""
    async with servers(tmp_path) as made:
        yield made
