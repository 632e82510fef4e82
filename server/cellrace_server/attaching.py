"""The store for whoever is no node: an operator's command, which comes, acts and goes."""

from __future__ import annotations

import secrets
from collections.abc import AsyncIterator
from contextlib import AsyncExitStack, asynccontextmanager
from pathlib import Path

import platformdirs
import structlog

from cellrace_server.store import Store, open_store
from cellrace_server.store.connect import connect
from cellrace_server.store.embedded import EmbeddedStore
from cellrace_server.store.errors import StoreUnfit

_DATA = "appendonlydir"
"""What an embedded store has in its directory once it has kept anything."""

log = structlog.get_logger()


@asynccontextmanager
async def attached(redis: str | None, data_dir: Path | None, kept: int) -> AsyncIterator[Store]:
    """The store at a URL, or the embedded one in a directory: that of the servers that run, else started meanwhile.

    Races that end by this are `kept` for so many ms. Raises StoreError.
    """
    async with AsyncExitStack() as stack:
        url = redis
        if url is None:
            directory = data_dir or Path(platformdirs.user_data_dir("cellrace"))
            if not (directory / _DATA).is_dir():
                raise StoreUnfit(
                    f"There is no store in {directory}. Name its directory with --data-dir, or its URL with --redis."
                )
            url = (await stack.enter_async_context(await EmbeddedStore.open(directory))).url
        connected = await connect(url)
        stack.push_async_callback(connected.client.aclose)
        for warning in connected.warnings:
            log.warning(warning)
        store = await open_store(connected.client, f"admin:{secrets.token_hex(4)}", connected.replicas, kept)
        stack.push_async_callback(store.clock.close)
        yield store
