"""The commands of the competition: daily, leaderboard, stats."""

from __future__ import annotations

import asyncio
import sys
from collections.abc import Callable
from contextlib import AsyncExitStack
from dataclasses import dataclass
from typing import TypeVar
from urllib.parse import quote, urlencode

import click
import msgspec

from cellrace.errors import BadMessage, CellraceError
from cellrace.messages import Daily, Leaderboard, PlayerAnswer
from cellrace.variants import MAIN_VARIANTS
from cellrace_client.cli.coming import come_as, tell_arrival
from cellrace_client.cli.full_screen import play_on_screen
from cellrace_client.cli.options import (
    DEAL_NUMBER,
    NO,
    can_be_full_screen,
    checked_date,
    lang_option,
    name_option,
    plain_option,
    say,
    server_option,
    show_json,
    variant_option,
)
from cellrace_client.cli.running import Trouble, run_to_the_end
from cellrace_client.connection import Connection, server_url
from cellrace_client.connection.fetching import fetch
from cellrace_client.language import _
from cellrace_client.race_view import RaceView, goes_on
from cellrace_client.terminal.commands import says_yes
from cellrace_client.terminal.competing import BOARDS, Asked, leaderboard_lines, page_lines, stats_lines
from cellrace_client.terminal.competing_commands import CompetingCommands
from cellrace_client.terminal.plain import Ending, PlainClient
from cellrace_client.terminal.questions import Question, daily_question
from cellrace_client.terminal.speech import day_text
from cellrace_client.terminal.typed_lines import TypedLines, terminal_width
from cellrace_client.tokens import DEFAULT_PROFILE, TokenStore

_LOOKS = 10
_BETWEEN_LOOKS = 0.3
"""How often a board is looked at on which one's own row must soon be, and the seconds between two looks."""

F = TypeVar("F", bound=Callable[..., object])
T = TypeVar("T", bound=msgspec.Struct)


def _common(function: F) -> F:
    for option in (
        lang_option,
        click.option("--json", "as_json", is_flag=True, help="Print the server's answer as JSON."),
        click.option(
            "--profile", default=DEFAULT_PROFILE, show_default=True, help="As this player of yours on the server."
        ),
        server_option,
    ):
        function = option(function)
    return function


def _own_id(server: str, profile: str) -> str:
    """The id of one's player, which every token begins with; empty where there is none."""
    remembered = TokenStore().load(server_url(server), profile)
    return "" if remembered is None else remembered.token.partition(".")[0]


def _fetched(server: str, path: str, kind: type[T]) -> tuple[T, bytes]:
    """What a page of the server says; as it came as well. Its refusals as sentences."""
    try:
        text = fetch(server, path)
        return msgspec.json.decode(text, type=kind), text
    except msgspec.DecodeError as unreadable:
        raise Trouble(BadMessage(_("The server's answer cannot be read."))) from unreadable
    except CellraceError as error:
        raise Trouble(error) from error


@click.command(epilog="\b\nExample: cellrace daily six-by-six")
@click.argument("variant", type=click.Choice(MAIN_VARIANTS), metavar="[VARIANT]", default="freecell")
@click.option(
    "--practice",
    callback=checked_date,
    metavar="DATE",
    help="Play the deal of a day that is published; it never counts.",
)
@click.option("--show", is_flag=True, help="Tell how the day stands, and begin nothing.")
@click.option("--yes", is_flag=True, help="Begin without being asked.")
@plain_option
@name_option
@_common
def daily(
    variant: str,
    practice: str | None,
    show: bool,
    yes: bool,
    plain: bool,
    name: str | None,
    server: str,
    profile: str,
    as_json: bool,
) -> None:
    """Play today's daily challenge: one deal for everybody, one attempt each.

    VARIANT is freecell, if you name none, or marseille, six-by-six, six-by-six-down, two-suit or one-suit.

    In a terminal the full screen shows the day and its board, and Enter begins. The attempt begins when the cards are
    shown, and its hour runs on if you leave, over midnight too: the same command goes on with it. In plain lines the
    board of its day is shown once it has ended. --show and --json begin nothing.
    """
    if practice is not None and (as_json or show):
        raise click.UsageError("--practice begins a race; --show and --json begin nothing.")
    if as_json or show:
        answer, text = _fetched(server, f"/api/v1/daily/{variant}", Daily)
        if as_json:
            show_json(msgspec.json.decode(text))
        else:
            me = _own_id(server, profile)
            asked = {"variant": variant, "date": answer.date, "limit": "0"}
            own = _leaderboard(server, "daily", me, asked)[0].you if me else None
            say(*page_lines(answer, own))
        return
    attempt = _Attempt(variant, practice, yes, name, server, profile)
    on_screen = not plain and can_be_full_screen()
    if run_to_the_end(attempt.on_screen() if on_screen else attempt.in_lines()) is not Ending.WELL:
        raise click.exceptions.Exit(NO)


@dataclass(frozen=True, slots=True)
class _Attempt:
    """What is to be played, by whom: today's deal, once, or for `practice` that of a published day."""

    variant: str
    practice: str | None
    yes: bool
    name: str | None
    server: str
    profile: str

    async def in_lines(self) -> Ending:
        """Plays it in plain lines; then the board of its day is shown."""
        async with AsyncExitStack() as stack:
            arrived = await come_as(stack, self.server, self.name, None, self.profile, None)
            tell_arrival(arrived)
            connection, interactive, lines = arrived.connection, sys.stdin.isatty(), TypedLines()
            race = await self._begin(connection, lines, interactive=interactive)
            if isinstance(race, Ending):
                return race
            client = PlainClient(
                connection, lines, click.echo, interactive=interactive, width=terminal_width, rename=arrived.rename
            )
            ending = await client.run(race.race)
            ended = not goes_on(connection.races.get(race.race, race))
        # The connection ends with the lines; the day is told as everybody sees it.
        if self.practice is None:
            me = _own_id(self.server, self.profile)
            await _show_day(self.server, self.variant, _day_of(race), me, ended=ended)
        return ending

    async def _begin(self, connection: Connection, lines: TypedLines, *, interactive: bool) -> RaceView | Ending:
        """Begins it, or goes on with it; how the command ends where there is nothing to be played."""
        if self.practice is not None:
            return await connection.practise(self.variant, self.practice)
        competing = CompetingCommands(connection, say)
        race: RaceView | None = None

        async def begin() -> None:
            nonlocal race
            race = await competing.daily(self.variant)

        if self.yes or not interactive or (day := await competing.daily_to_begin(self.variant)) is None:
            await begin()
        elif not await _ask(daily_question(day, begin), lines):
            return Ending.NOT_WELL
        return Ending.WELL if race is None else race

    async def on_screen(self) -> Ending:
        """Plays it on the full screen, which shows the day first."""
        # Imported here, so that the lines need nothing of it.
        from cellrace_client.terminal.app.screens.daily import DailyScreen

        first = None if self.practice is not None else lambda desk: DailyScreen(desk, self.variant)
        return await play_on_screen(self.server, self._enter, name=self.name, profile=self.profile, first=first)

    async def _enter(self, connection: Connection) -> str | None:
        """The race that is to be shown at once: a practice, an attempt that goes on, or one that `yes` begins."""
        if self.practice is not None:
            return (await connection.practise(self.variant, self.practice)).race
        under_way = await connection.daily_under_way(self.variant)
        if under_way is None and self.yes and (await connection.daily(self.variant)).you is None:
            under_way = await connection.start_daily(self.variant)
        return None if under_way is None else under_way.race


async def _ask(question: Question, lines: TypedLines) -> bool:
    """Asks, and does what is asked about where the next line says yes; whether it did."""
    say(*question.asked)
    answer = await lines.next()
    if answer is None or not says_yes(answer):
        say(question.otherwise)
        return False
    await question.do()
    return True


def _day_of(race: RaceView) -> str:
    """The date to which an attempt belongs: that on which it began."""
    assert race.start_at is not None, "an attempt runs from the beginning"
    return day_text(race.start_at)


async def _show_day(server: str, variant: str, date: str, me: str, *, ended: bool) -> None:
    """Shows a day's board; with one's own row, where the attempt has ended, as soon as it is there."""
    asked = {"variant": variant, "date": date, "limit": "10", "around": "true"}
    for _attempt in range(_LOOKS):
        board, _text = _leaderboard(server, "daily", me, asked)
        if board.you is not None or not ended:
            break
        await asyncio.sleep(_BETWEEN_LOOKS)  # The board follows the end of a race, and nothing is pushed about it.
    say(*leaderboard_lines(board, me, Asked(date)))


def _leaderboard(server: str, board: str, me: str, asked: dict[str, str]) -> tuple[Leaderboard, bytes]:
    query = urlencode({**asked, **({"player": me} if me else {})})
    return _fetched(server, f"/api/v1/leaderboards/{board}?{query}", Leaderboard)


@click.command(epilog="\b\nExample: cellrace leaderboard best --variant six-by-six --limit 10")
@click.argument("board", type=click.Choice(BOARDS), metavar="BOARD")
@variant_option
@click.option("--date", callback=checked_date, metavar="DATE", help="With daily: the day.  [default: today, UTC]")
@click.option("--deal", type=DEAL_NUMBER, help="With deal: its number.")
@click.option("--people", is_flag=True, help="Without bots.")
@click.option("--limit", type=click.IntRange(0, 100), default=20, show_default=True, help="How many rows.")
@click.option("--offset", type=click.IntRange(0), default=0, help="How many rows to leave out at the top.")
@click.option("--around", is_flag=True, help="The rows around your own.")
@_common
def leaderboard(
    board: str,
    variant: str,
    date: str | None,
    deal: int | None,
    people: bool,
    limit: int,
    offset: int,
    around: bool,
    server: str,
    profile: str,
    as_json: bool,
) -> None:
    """Show a leaderboard; BOARD is daily, streak, rating, best or deal.

    Your own row is shown below the others where you have one. Equal values share a place.
    """
    if (board == "deal") != (deal is not None):
        raise click.UsageError("--deal names the deal of the board deal, and of no other.")
    if date is not None and board != "daily":
        raise click.UsageError("--date goes with the board daily.")
    asked = {"variant": variant, "limit": str(limit), "offset": str(offset)}
    asked |= {"date": date} if date is not None else {}
    asked |= {"deal": str(deal)} if deal is not None else {}
    asked |= {"bots": "false"} if people else {}
    asked |= {"around": "true"} if around else {}
    me = _own_id(server, profile)
    answer, text = _leaderboard(server, board, me, asked)
    if as_json:
        show_json(msgspec.json.decode(text))
    else:
        say(*leaderboard_lines(answer, me, Asked(date, deal)))


@click.command(epilog="\b\nExample: cellrace stats Ann")
@click.argument("player", required=False)
@_common
def stats(player: str | None, server: str, profile: str, as_json: bool) -> None:
    """Tell what a player has done: games, wins, streaks, best times, ratings, last races.

    PLAYER is an id or a name; without it, your own.
    """
    me = _own_id(server, profile)
    if not player and not me:
        raise click.UsageError("You have played nothing on this server yet; name a PLAYER.")
    answer, text = _fetched(server, f"/api/v1/players/{quote(player or me, safe='')}", PlayerAnswer)
    if as_json:
        show_json(msgspec.json.decode(text))
    else:
        say(*stats_lines(answer, me))
