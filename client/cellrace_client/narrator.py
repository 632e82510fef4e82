"""Tells what happens on a connection, a sentence a line, while something else plays."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager, suppress
from dataclasses import replace

from cellrace.errors import CellraceError
from cellrace_client.connection import Connection
from cellrace_client.events import Event, Happened, Synced
from cellrace_client.terminal.progress import ProgressTeller
from cellrace_client.terminal.sentences import tell_event
from cellrace_client.terminal.speech import printable


@asynccontextmanager
async def narrated(
    connection: Connection, say: Callable[[str], None], progress_every: float = 10.0
) -> AsyncIterator[None]:
    """Says each event of a connection as an onlooker would, and closes it at the end, once all is said."""
    telling = asyncio.create_task(_tell(connection, say, ProgressTeller(progress_every)))
    try:
        yield
    finally:
        await connection.close()
        # How the connection ended is for the one who asked something of it.
        with suppress(CellraceError):
            await telling


async def _tell(connection: Connection, say: Callable[[str], None], progress: ProgressTeller) -> None:
    async for event in connection.events():
        seen = _from_aside(event)
        for sentence in tell_event(seen, connection.clock.now()):
            say(printable(sentence))
        if isinstance(seen, Happened | Synced):
            progress.hear(seen.view)
            if (told := progress.tell(connection.clock.local())) is not None:
                say(printable(told))


def _from_aside(event: Event) -> Event:
    """The event as somebody sees it who is nobody in the race: nobody is "you", and all are rivals."""
    if not isinstance(event, Happened | Synced):
        return event
    before = replace(event.before, player="") if event.before else None
    if isinstance(event, Synced):
        return Synced(before, replace(event.view, player=""))
    return replace(event, before=replace(event.before, player=""), view=replace(event.view, player=""))
