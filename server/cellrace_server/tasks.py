"""The background tasks of a node: owned here, their failures told, all ended at `close`."""

from __future__ import annotations

import asyncio
from collections.abc import Coroutine

import structlog

CANCELLED_AGAIN = 0.1
"""After how many seconds a task that goes on in spite of it is cancelled again."""

log = structlog.get_logger()


class Tasks:
    """Owns tasks; one that fails is logged and does not take the others along."""

    def __init__(self) -> None:
        # As many as there is short work under way: rooms to wake, to finish or to let go; connections to match, or to
        # note as gone.
        self._running: set[asyncio.Task[None]] = set()
        self._lasting: set[asyncio.Task[None]] = set()
        self._closed = False

    def spawn(self, work: Coroutine[object, object, None], name: str, *, lasting: bool = False) -> None:
        """Run something in the background; what is `lasting` goes on until `close`."""
        if self._closed:
            work.close()
            return
        task = asyncio.create_task(work, name=name)
        (self._lasting if lasting else self._running).add(task)
        task.add_done_callback(self._ended)

    def _ended(self, task: asyncio.Task[None]) -> None:
        self._running.discard(task)
        self._lasting.discard(task)
        if not task.cancelled() and (error := task.exception()) is not None:
            log.error("a background task failed", task=task.get_name(), exc_info=error)

    async def close(self, patience: float = 0.0) -> None:
        """Let what is under way end within `patience` seconds, then cancel the rest."""
        self._closed = True
        if patience and self._running:
            await asyncio.wait(self._running, timeout=patience)
        # Cancelled again until it ends: on Python 3.11 a task that is just being answered may miss the first time.
        while rest := self._running | self._lasting:
            for task in rest:
                task.cancel()
            await asyncio.wait(rest, timeout=CANCELLED_AGAIN)
