"""Fixtures of the stories: servers as processes, and solved games."""

from __future__ import annotations

from collections.abc import AsyncIterator
from pathlib import Path

import pytest
import pytest_asyncio

from tests.story.cluster import BY_DIRECTORY, BY_URL, Cluster, a_cluster
from tests.story.servers import Servers, servers


@pytest_asyncio.fixture
async def house(tmp_path: Path) -> AsyncIterator[Servers]:
    """Starts `cellrace serve` on a data directory of the test's own."""
    async with servers(tmp_path) as made:
        yield made


@pytest_asyncio.fixture(params=[BY_URL, BY_DIRECTORY])
async def cluster(request: pytest.FixtureRequest, tmp_path: Path) -> AsyncIterator[Cluster]:
    """Two nodes on one store that run."""
    async with a_cluster(str(request.param), tmp_path) as made:
        yield made
