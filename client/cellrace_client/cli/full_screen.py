"""Plays on the full screen as long as somebody wants to, over as many connections as that takes."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from contextlib import AsyncExitStack
from typing import TYPE_CHECKING

from cellrace_client.cli.coming import come_as
from cellrace_client.connection import Connection
from cellrace_client.race_view import newest_going_on
from cellrace_client.terminal.plain import Ending

if TYPE_CHECKING:
    from cellrace_client.terminal.app.desk import FirstScreen

Enter = Callable[[Connection], Awaitable[str | None]]
"""Enters what was asked for; the race that is to be shown, if it is one."""


async def play_on_screen(
    server: str,
    enter: Enter,
    *,
    name: str | None = None,
    token: str | None = None,
    profile: str,
    subprotocol: str | None = None,
    deck: str | None = None,
    letters: bool | None = None,
    first: FirstScreen | None = None,
) -> Ending:
    """Comes to a server and enters what was asked for; where that is no race, `first` is shown over the lobby.

    Raises CellraceError.
    """
    # Imported here, so that the lines need nothing of it.
    from cellrace_client.terminal.app.app import Outcome
    from cellrace_client.terminal.app.liking import LikingStore
    from cellrace_client.terminal.app.running import play_full_screen, taste_for

    taste, called, outcome = taste_for(deck, letters=letters, store=LikingStore()), name, Outcome.AGAIN
    while outcome is Outcome.AGAIN:
        async with AsyncExitStack() as stack:
            arrived = await come_as(stack, server, called, token, profile, subprotocol)
            entered = await enter(arrived.connection)
            outcome = await play_full_screen(
                arrived.connection, entered, taste, rename=arrived.rename, told=arrived.told, first=first
            )
        # What was asked for is done once; whoever comes again goes on with it, under the name there is by then.
        enter, called, first = race_that_goes_on, None, None
    return Ending.WELL if outcome is Outcome.LEFT else Ending.NOT_WELL


async def race_that_goes_on(connection: Connection) -> str | None:
    """The race that one is in, if any: enters nothing new."""
    going_on = newest_going_on(connection.races.values())
    return None if going_on is None else going_on.race
