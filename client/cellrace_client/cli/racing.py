"""The commands that race: bot, play, demo."""

from __future__ import annotations

import sys
from collections.abc import Callable
from contextlib import AsyncExitStack
from pathlib import Path
from random import Random
from typing import TypeVar

import click

from cellrace.messages import RaceState, SettingsRequest
from cellrace_client.bot_races import BotRaces, Wanted
from cellrace_client.cli.coming import come_as, tell_arrival
from cellrace_client.cli.full_screen import play_on_screen, race_that_goes_on
from cellrace_client.cli.options import (
    DEAL_NUMBER,
    NO,
    VARIANT,
    can_be_full_screen,
    lang_option,
    name_option,
    plain_option,
    say,
    server_option,
    variant_option,
)
from cellrace_client.cli.running import run_to_the_end
from cellrace_client.connection import GIVE_UP_AFTER, SUBPROTOCOLS, Connection, connect
from cellrace_client.demo import demo_settings, play_demo, play_demo_on_screen, watch_demo
from cellrace_client.language import _
from cellrace_client.narrator import narrated
from cellrace_client.pace import PACES
from cellrace_client.race_view import RaceView
from cellrace_client.terminal.plain import PROGRESS_EVERY, Ending, PlainClient
from cellrace_client.terminal.typed_lines import TypedLines, terminal_width
from cellrace_client.tokens import DEFAULT_PROFILE, read_token_file, write_token_file

F = TypeVar("F", bound=Callable[..., object])


def _race_options(function: F) -> F:
    """The options by which both a person and a bot say where and as whom they race."""
    for option in reversed(
        (
            server_option,
            click.option("--race", help="Enter this race, by its id."),
            click.option("--code", help="Enter this race, by its code."),
            click.option("--open", "opened", type=VARIANT, metavar="VARIANT", help="Open a race of this game."),
            click.option("--deal", type=DEAL_NUMBER, help="With --open: race on this deal; it is then not ranked."),
            click.option("--seats", type=click.IntRange(1, 250), help="With --open: how many may enter.  [default: 2]"),
            name_option,
            click.option("--token", envvar="CELLRACE_TOKEN", help="The token of the player who comes back."),
            click.option(
                "--subprotocol", type=click.Choice(tuple(SUBPROTOCOLS)), help="How to talk.  [default: msgpack]"
            ),
        )
    ):
        function = option(function)
    return function


def _wanted(race: str | None, code: str | None, opened: str | None, deal: int | None, seats: int | None) -> Wanted:
    if sum(choice is not None for choice in (race, code, opened)) > 1:
        raise click.UsageError("Choose one of --race, --code and --open.")
    if opened is None:
        if deal is not None or seats is not None:
            raise click.UsageError("--deal and --seats go with --open.")
        return Wanted(race, code)
    return Wanted(open=SettingsRequest(variant=opened, deal=deal, seats=seats))


@click.command(epilog="\b\nExample: cellrace bot --server 192.168.1.5 --open freecell --strength 2")
@_race_options
@click.option(
    "--strength",
    type=click.IntRange(min(PACES), max(PACES)),
    default=3,
    show_default=True,
    help="From a beginner's pace and mistakes, 1, to the fastest, 5.",
)
@click.option(
    "--queue",
    "queues",
    type=VARIANT,
    metavar="VARIANT",
    multiple=True,
    help="Wait for quick matches of this game; repeatable.",
)
@click.option("--people-only", is_flag=True, help="With --queue: against people, and no other bots.")
@click.option("--races", type=click.IntRange(min=1), default=1, show_default=True, help="How many races.")
@click.option("--forever", is_flag=True, help="One race after the other.")
@click.option(
    "--token-file", type=click.Path(path_type=Path, dir_okay=False), help="Where the bot's token is read, or written."
)
@click.option("--seed", type=int, help="Make the same choices again.")
@lang_option
def bot(
    server: str,
    race: str | None,
    code: str | None,
    opened: str | None,
    deal: int | None,
    seats: int | None,
    name: str | None,
    token: str | None,
    subprotocol: str | None,
    strength: int,
    queues: tuple[str, ...],
    people_only: bool,
    races: int,
    forever: bool,
    token_file: Path | None,
    seed: int | None,
) -> None:
    """Let the solver race on a server.

    Without --race, --code, --open and --queue it takes the first free seat, or opens a race of FreeCell. A bot
    without a way to win plays on greedily, then concedes.
    """
    wanted = _wanted(race, code, opened, deal, seats)
    if queues:
        if wanted != Wanted():
            raise click.UsageError("--queue goes with none of --race, --code and --open.")
        wanted = Wanted(queues=queues, people_only=people_only)
    elif people_only:
        raise click.UsageError("--people-only goes with --queue.")
    chance = Random(seed)  # noqa: S311 - a pace, no secret

    async def work() -> list[RaceView]:
        known = token or (read_token_file(token_file) if token_file else None)
        # A bot that races for ever outlives its server's restarts, also at its own start.
        patience, give_up_after = (float("inf"), float("inf")) if forever else (0.0, GIVE_UP_AFTER)
        async with (
            connect(
                server,
                name=name,
                token=known,
                bot=True,
                client="cellrace bot",
                subprotocol=subprotocol,
                patience=patience,
                give_up_after=give_up_after,
            ) as connection,
            narrated(connection, say),
        ):
            if token_file is not None and connection.token is not None and connection.token != known:
                write_token_file(token_file, connection.token)
            say(_("{name} is here.").format(name=connection.player.name))
            runner = BotRaces(connection, wanted, PACES[strength], chance, say)
            return await runner.run(None if forever else races)

    ended = run_to_the_end(work())
    if any(view.state is not RaceState.OVER for view in ended):
        raise click.exceptions.Exit(NO)


@click.command(epilog="\b\nExample: cellrace play --plain --server 192.168.1.5 --name Ann")
@_race_options
@plain_option
@click.option("--deck", type=click.Choice(("four", "two", "contrast", "none")), help="Colours of the suits.")
@click.option("--letters/--suits", default=None, help="Suits as letters, where the terminal has no ♣ ♦ ♥ ♠.")
@click.option(
    "--profile", default=DEFAULT_PROFILE, show_default=True, help="Play as another player of yours, or of this machine."
)
@click.option(
    "--progress",
    type=click.FloatRange(min=0.5),
    default=PROGRESS_EVERY,
    show_default=True,
    help="Tell the rivals' progress once in so many seconds.",
)
@lang_option
def play(
    server: str,
    race: str | None,
    code: str | None,
    opened: str | None,
    deal: int | None,
    seats: int | None,
    name: str | None,
    token: str | None,
    subprotocol: str | None,
    plain: bool,
    deck: str | None,
    letters: bool | None,
    profile: str,
    progress: float,
) -> None:
    """Race on a server.

    In a terminal the whole screen is played on; F1 tells the keys. Your player is remembered for each server, the looks
    that you choose there for this machine; --profile plays as another one. Without --race, --code and --open you go on
    with the race you are in, if any.

    In plain lines, type help for what you can type. In a pipe each line is carried out before the next, moves wait
    for the start, and the exit status is 1 when something was refused.
    """
    wanted = _wanted(race, code, opened, deal, seats)

    async def work() -> Ending:
        async with AsyncExitStack() as stack:
            arrived = await come_as(stack, server, name, token, profile, subprotocol)
            tell_arrival(arrived)
            entered = await _enter(arrived.connection, wanted)
            client = PlainClient(
                arrived.connection,
                TypedLines(),
                say,
                interactive=sys.stdin.isatty(),
                progress_every=progress,
                width=terminal_width,
                rename=arrived.rename,
            )
            return await client.run(entered)

    async def work_on_screen() -> Ending:
        return await play_on_screen(
            server,
            lambda connection: _enter(connection, wanted),
            name=name,
            token=token,
            profile=profile,
            subprotocol=subprotocol,
            deck=deck,
            letters=letters,
        )

    on_screen = not plain and can_be_full_screen()
    if run_to_the_end(work_on_screen() if on_screen else work()) is not Ending.WELL:
        raise click.exceptions.Exit(NO)


async def _enter(connection: Connection, wanted: Wanted) -> str | None:
    if wanted.race is not None or wanted.code is not None:
        return (await connection.join(wanted.race, code=wanted.code)).race
    if wanted.open is not None:
        return (await connection.create(wanted.open)).race
    return await race_that_goes_on(connection)


@click.command(epilog="\b\nExample: cellrace demo --variant six-by-six")
@variant_option
@click.option("--deal", type=DEAL_NUMBER, help="The deal; without it the server draws one that can be won.")
@plain_option
@click.option("--seed", type=int, help="Let the bots make the same choices again.")
@lang_option
def demo(variant: str, deal: int | None, plain: bool, seed: int | None) -> None:
    """Race a bot on this machine, or watch two.

    Starts a server of its own, which ends with the demo. In a terminal you race a bot at a human pace; without one two
    bots race each other, and the exit status is 0 when one has won and everything about the race was right.
    """
    chance = Random(seed)  # noqa: S311 - a pace, no secret
    settings = demo_settings(variant, deal)
    race = watch_demo
    if sys.stdin.isatty():
        race = play_demo if plain or not can_be_full_screen() else play_demo_on_screen
    if run_to_the_end(race(settings, say, chance)) is not Ending.WELL:
        raise click.exceptions.Exit(NO)
