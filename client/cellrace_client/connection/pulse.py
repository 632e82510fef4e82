"""A question now and then: the race clock stays right, and a server that is gone is missed."""

from __future__ import annotations

import asyncio

from cellrace.errors import CellraceError
from cellrace.messages import Ping
from cellrace_client.connection.dialogue import Dialogue
from cellrace_client.connection.wire import Wire

PING_EVERY = 10.0
"""Seconds."""
PING_PATIENCE = 30.0
"""Seconds: a server that leaves a `ping` unanswered for so long is taken for gone, though its socket lives."""
_FIRST_PINGS = (0.0, 0.2, 0.5)
"""A few samples of the race clock at once: one could be a slow one."""


async def keep_time(dialogue: Dialogue, wire: Wire) -> None:
    """Asks for the time for as long as the connection lasts; one that does not answer is cut."""
    pauses = list(_FIRST_PINGS)
    while True:
        await asyncio.sleep(pauses.pop(0) if pauses else PING_EVERY)  # A clock is kept right by a look now and then.
        ask = dialogue.ask(Ping())
        try:
            async with asyncio.timeout(PING_PATIENCE):
                await ask.answer
        except TimeoutError:
            wire.abort()
            return
        except CellraceError:
            continue
