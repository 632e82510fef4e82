"""What a node hears, noted for a test."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

from cellrace_server.store.hearing import Hearing, Telling
from tests.background import background
from tests.server.shell import Shell


@asynccontextmanager
async def listening(shell: Shell) -> AsyncIterator[list[Telling]]:
    """What other nodes tell this one, from before the block on."""
    heard: list[Telling] = []
    subscribed = asyncio.Event()
    hearing = Hearing(shell.link.redis, shell.store.races.node, heard.append, subscribed.set)
    async with background(hearing.run()):
        await subscribed.wait()
        yield heard
