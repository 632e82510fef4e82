"""What a test of a connection opens: one whose waits take no time."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager
from typing import Any

from cellrace.messages import Hello
from cellrace_client.connection import Connection
from tests.client.fake_server import FakeServer


class Standing:
    """A clock that stands, but for what a test lets go by and for what is waited."""

    def __init__(self) -> None:
        self.now = 1000.0

    def __call__(self) -> float:
        return self.now


def noted(waits: list[float] | None, clock: Standing | None = None) -> Callable[[float], Awaitable[None]]:
    """A way to wait that takes no time, but by a clock that stands, and is noted down."""

    async def note(seconds: float) -> None:
        if waits is not None:
            waits.append(seconds)
        if clock is not None:
            clock.now += seconds
        await asyncio.sleep(0)

    return note


@asynccontextmanager
async def connected(
    server: FakeServer, waits: list[float] | None = None, *, clock: Standing | None = None, **options: Any
) -> AsyncIterator[Connection]:
    """A connection whose waits take no time and are noted down; with `clock` by one that stands."""
    if clock is not None:
        options["local"] = clock
    connection = Connection(server.url, Hello(name="Ann"), sleep=noted(waits, clock), draw=lambda: 0.5, **options)
    try:
        await connection.open()
        yield connection
    finally:
        await connection.close()
