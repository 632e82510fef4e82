"""Notices a terminal that is gone, also where nobody tells its programs."""

from __future__ import annotations

import asyncio
import os
import select
import signal

LOOKED_AT_EACH = 1.0
"""Seconds: what nobody sees any more may go on for so long."""


async def end_with_terminal(descriptor: int) -> None:
    """Sends this process SIGHUP once the terminal is gone, until cancelled.

    A terminal's own processes get it from the system; one of another session does not, and would read an end without
    end: Textual's reader of keys asks again at once, and used a whole core.
    """
    if not hasattr(select, "poll"):
        return  # Windows has no hang-ups.
    terminal = select.poll()
    terminal.register(descriptor, 0)  # A hang-up is told of whatever is asked for.
    while not terminal.poll(0):  # noqa: ASYNC110 - the system has no event for it that every system has
        await asyncio.sleep(LOOKED_AT_EACH)
    os.kill(os.getpid(), signal.SIGHUP)
