"""What a test of a connection opens: one whose waits take no time."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import Any

from cellrace.messages import Hello
from cellrace_client.connection import Connection
from tests.client.fake_server import FakeServer


@asynccontextmanager
async def connected(server: FakeServer, waits: list[float] | None = None, **options: Any) -> AsyncIterator[Connection]:
    """A connection whose waits take no time and are noted down."""

    async def note(seconds: float) -> None:
        if waits is not None:
            waits.append(seconds)
        await asyncio.sleep(0)

    connection = Connection(server.url, Hello(name="Ann"), sleep=note, draw=lambda: 0.5, **options)
    try:
        await connection.open()
        yield connection
    finally:
        await connection.close()
