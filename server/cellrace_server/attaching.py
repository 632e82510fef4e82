"""The way to a store and away from it again: one at a URL, or the embedded one of a data directory."""

from __future__ import annotations

import secrets
from collections.abc import AsyncIterator
from contextlib import AsyncExitStack, asynccontextmanager
from pathlib import Path
from typing import NamedTuple

import structlog

from cellrace_server.config import data_directory
from cellrace_server.store import Store, open_store
from cellrace_server.store.boards import DEAL_BOARDS_KEPT
from cellrace_server.store.connect import connect, without_secrets
from cellrace_server.store.directory import DATA
from cellrace_server.store.embedded import EmbeddedStore
from cellrace_server.store.errors import StoreUnfit

log = structlog.get_logger()


class Attached(NamedTuple):
    """A store, what keeps its data, in words, and the embedded one behind it where it is that."""

    store: Store
    kept_by: str
    embedded: EmbeddedStore | None


@asynccontextmanager
async def attached(
    node: str, redis: str | None, data_dir: Path | None, kept: int, deal_boards_kept: int = DEAL_BOARDS_KEPT
) -> AsyncIterator[Attached]:
    """The store at a URL, or the embedded one in a directory: that of the servers that run, else started meanwhile.

    Races that end by this are `kept` for so many ms, boards of deals as long at least. Raises StoreError.
    """
    async with AsyncExitStack() as stack:
        embedded: EmbeddedStore | None = None
        if redis is None:
            directory = data_directory(data_dir)
            embedded = await stack.enter_async_context(await EmbeddedStore.open(directory))
            url, kept_by = embedded.url, f"the embedded store in {directory}"
        else:
            url, kept_by = redis, f"the store at {without_secrets(redis)}"
        connected = await connect(url)
        stack.push_async_callback(connected.client.aclose)
        for warning in connected.warnings:
            log.warning(warning)
        store = await open_store(connected.client, node, connected.replicas, kept, deal_boards_kept)
        stack.push_async_callback(store.clock.close)
        yield Attached(store, kept_by, embedded)


@asynccontextmanager
async def operated(redis: str | None, data_dir: Path | None, kept: int) -> AsyncIterator[Store]:
    """The store for whoever is no node: an operator's command, which comes, acts and goes. As `attached`.

    A directory in which there is none yet is refused.
    """
    directory = data_directory(data_dir)
    if redis is None and not (directory / DATA).is_dir():
        raise StoreUnfit(
            f"There is no store in {directory}. Name its directory with --data-dir, or its URL with --redis."
        )
    async with attached(f"admin:{secrets.token_hex(4)}", redis, data_dir, kept) as found:
        yield found.store
