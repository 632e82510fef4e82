"""Watches a race as a spectator and tells what happens, with the boards of all as far as the race lets them be seen.

python examples/watch.py SERVER RACE
"""

from __future__ import annotations

import asyncio
import sys

from cellrace.messages import MovedPush
from cellrace_client.connection import Happened, Synced, connect
from cellrace_client.race_view import RaceView
from cellrace_client.terminal.board_lines import board_lines
from cellrace_client.terminal.sentences import tell_event, tell_race
from cellrace_client.terminal.speech import printable


async def watch(server: str, race: str) -> None:
    """Prints what happens until the race has ended."""
    async with connect(server, client="cellrace watch") as connection:
        view = await connection.watch(race)
        say(*tell_race(view))
        if view.ended:
            return
        async for event in connection.events():
            say(*tell_event(event, connection.clock.now()))
            if isinstance(event, Happened) and isinstance(event.push, MovedPush):
                show_board(event.view, event.push.player)
            if isinstance(event, Happened | Synced) and event.view.ended:
                return


def show_board(view: RaceView, player: str) -> None:
    """Prints the board of one entrant."""
    game = view.game_of(player)
    if game is not None:
        say(f"The board of {view.name(player)}:", *board_lines(game.board))


def say(*sentences: str) -> None:
    """Prints lines, without anything in them that a terminal would obey."""
    for sentence in sentences:
        print(printable(sentence))


if __name__ == "__main__":
    if len(sys.argv) != 3:
        raise SystemExit(__doc__)
    asyncio.run(watch(*sys.argv[1:]))
