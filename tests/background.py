"""Work of the server's that goes on while a test does something else."""

from __future__ import annotations

from collections.abc import AsyncIterator, Coroutine
from contextlib import asynccontextmanager

from cellrace_server.tasks import Tasks


@asynccontextmanager
async def background(*works: Coroutine[object, object, None]) -> AsyncIterator[None]:
    """Let these go on until the block ends, and end them as a node does: a task may miss its first cancellation."""
    tasks = Tasks()
    for work in works:
        tasks.spawn(work, "in the background of a test", lasting=True)
    try:
        yield
    finally:
        await tasks.close()
