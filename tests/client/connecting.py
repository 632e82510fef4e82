"""What a test of a connection opens: one whose waits take no time."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager
from typing import Any

from cellrace.messages import Hello
from cellrace_client.connection import Connection
from tests.client.fake_server import FakeServer


def noted(waits: list[float] | None) -> Callable[[float], Awaitable[None]]:
    """A way to wait that takes no time and is noted down."""

    async def note(seconds: float) -> None:
        if waits is not None:
            waits.append(seconds)
        await asyncio.sleep(0)

    return note


@asynccontextmanager
async def connected(server: FakeServer, waits: list[float] | None = None, **options: Any) -> AsyncIterator[Connection]:
    """A connection whose waits take no time and are noted down."""
    connection = Connection(server.url, Hello(name="Ann"), sleep=noted(waits), draw=lambda: 0.5, **options)
    try:
        await connection.open()
        yield connection
    finally:
        await connection.close()
