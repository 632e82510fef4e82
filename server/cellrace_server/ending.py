"""How a server is told to end: by a signal, by another one, or by the end of the process that started it."""

from __future__ import annotations

import asyncio
import signal
import sys

AGAIN = 1.0
"""Seconds after which a signal is another one."""


def stop_signals() -> asyncio.Event:
    """An event that SIGTERM and SIGINT set, and SIGHUP: the terminal that it was started from is gone."""
    stop = asyncio.Event()
    loop = asyncio.get_running_loop()
    for number in (signal.SIGTERM, signal.SIGINT, signal.SIGHUP):
        loop.add_signal_handler(number, stop.set)
    return stop


async def told_again(stop: asyncio.Event) -> None:
    """Wait for another signal than the one that has just come, which may come twice: to a group, and passed on."""
    await asyncio.sleep(AGAIN)
    stop.clear()
    await stop.wait()


class _ParentWatch(asyncio.Protocol):
    """Hears the end of standard input, which the parent holds open for as long as it lives."""

    def __init__(self, stop: asyncio.Event) -> None:
        self._stop = stop

    def connection_lost(self, exc: Exception | None) -> None:  # noqa: ARG002 - asyncio's signature
        self._stop.set()


async def end_with_parent(stop: asyncio.Event) -> None:
    """Stop when the parent is gone, however it ended."""
    await asyncio.get_running_loop().connect_read_pipe(lambda: _ParentWatch(stop), sys.stdin)
