"""The command that watches: watch."""

from __future__ import annotations

import click

from cellrace.messages import RaceState
from cellrace_client.cli.options import NO, lang_option, say, server_option
from cellrace_client.cli.running import run_to_the_end
from cellrace_client.connection import SUBPROTOCOLS, connect
from cellrace_client.onlooker import Onlooker
from cellrace_client.race_view import RaceView
from cellrace_client.terminal.plain import PROGRESS_EVERY

BOARDS_EVERY = 10.0
"""Seconds."""


@click.command(epilog="\b\nExample: cellrace watch RACE --server 192.168.1.5 --boards 30")
@click.argument("race", required=False)
@server_option
@click.option("--code", help="Watch this race, by its code.")
@click.option(
    "--boards",
    type=click.FloatRange(min=0.5),
    default=BOARDS_EVERY,
    show_default=True,
    help="Show the boards that have changed once in so many seconds.",
)
@click.option(
    "--progress",
    type=click.FloatRange(min=0.5),
    default=PROGRESS_EVERY,
    show_default=True,
    help="Tell the progress of all once in so many seconds.",
)
@click.option("--subprotocol", type=click.Choice(tuple(SUBPROTOCOLS)), help="How to talk.  [default: msgpack]")
@lang_option
def watch(
    race: str | None, server: str, code: str | None, boards: float, progress: float, subprotocol: str | None
) -> None:
    """Watch a race, by its id or code, to its end.

    Tells what happens, each move as it is shown (the race's settings say when), the boards of those who play, and the
    standings. The exit status is 1 when there are none.
    """
    if (race is None) == (code is None):
        raise click.UsageError("Name a race, by its id or with --code.")

    async def work() -> RaceView | None:
        # Somebody of its own: as a player who is remembered, it would take that one's place at another terminal.
        async with connect(server, client="cellrace watch", subprotocol=subprotocol) as connection:
            onlooker = Onlooker(connection, say, boards_every=boards, progress_every=progress)
            return await onlooker.watch(race, code)

    ended = run_to_the_end(work())
    if ended is None or ended.state is not RaceState.OVER:
        raise click.exceptions.Exit(NO)
