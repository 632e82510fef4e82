"""What the commands of the line client do outside races: the daily, the queue, leaderboards, records."""

from __future__ import annotations

from collections.abc import Callable
from typing import NamedTuple

from cellrace.errors import ErrorCode, Refused
from cellrace.messages import Daily, LeaderboardGet
from cellrace_client.connection import Connection
from cellrace_client.errors import Unclear
from cellrace_client.language import _, n_
from cellrace_client.race_view import RaceView
from cellrace_client.terminal.commands import Command
from cellrace_client.terminal.competing import BOARDS, Asked, daily_lines, leaderboard_lines, stats_lines

Say = Callable[..., None]

WORDS_HERE = ("queue", "unqueue", "leaderboard", "stats")
DEFAULT_GAME = "freecell"


class Waiting(NamedTuple):
    """A place in a queue: for which game, whether a bot will do, and the races that were known by then."""

    variant: str
    bots: bool
    known: frozenset[str]


class CompetingCommands:
    """Carries out these commands."""

    def __init__(self, connection: Connection, say: Say) -> None:
        self._connection = connection
        self._say = say
        self.waiting: Waiting | None = None
        """The queue that was joined and not left: a race may come of it."""

    async def obey(self, command: Command) -> None:
        """Carries out one of WORDS_HERE. Raises CellraceError where it cannot be."""
        rest = tuple(word.lower() for word in command.rest)
        match command.word:
            case "queue":
                games = [word for word in rest if word != "bots"]
                waiting = Waiting(
                    games[0] if games else DEFAULT_GAME, "bots" in rest, frozenset(self._connection.races)
                )
                count = await self._connection.queue(waiting.variant, bots=waiting.bots)
                self.waiting = waiting
                told = n_("You wait for a rival; {count} waits.", "You wait for a rival; {count} wait.", count)
                self._say(told.format(count=count))
            case "unqueue":
                self.waiting = None
                await self._connection.leave_queue()
                self._say(_("You wait for no rival."))
            case "leaderboard":
                await self._leaderboard(rest)
            case _:
                me = self._connection.player.id
                self._say(*stats_lines(await self._connection.player_record(command.rest[0] if rest else None), me))

    async def wait_again(self) -> RaceView | None:
        """Joins the queue again that was left by a drop; the race that was found just before. Raises CellraceError."""
        waiting = self.waiting
        if waiting is None:
            return None
        found = await self._connection.missed_match(waiting.known)
        if self.waiting is not waiting:
            return None
        if found is not None:
            return found
        try:
            count = await self._connection.queue(waiting.variant, bots=waiting.bots)
        except Refused as refused:
            # A request to wait that was on its way in the drop is repeated by itself.
            if refused.code == ErrorCode.ALREADY_QUEUED:
                return None
            self.waiting = None
            raise
        told = n_("You wait for a rival again; {count} waits.", "You wait for a rival again; {count} wait.", count)
        self._say(told.format(count=count))
        return None

    async def daily_to_begin(self, variant: str) -> Daily | None:
        """Today's challenge where one's attempt at it is still to be begun."""
        if await self._connection.daily_under_way(variant) is not None:
            return None
        day = await self._connection.daily(variant)
        return day if day.you is None else None

    async def daily(self, variant: str) -> RaceView | None:
        """Begins today's attempt, or goes on with it; says how it stands where it has ended."""
        try:
            return await self._connection.start_daily(variant)
        except Refused as refused:
            if refused.code != ErrorCode.ALREADY_ATTEMPTED:
                raise
        self._say(*daily_lines(await self._connection.daily(variant)))
        await self.show_daily_board(variant)
        return None

    async def show_daily_board(self, variant: str) -> None:
        """Shows today's board around oneself."""
        await self._show(LeaderboardGet(board="daily", variant=variant, limit=10, around=True))

    async def _leaderboard(self, rest: tuple[str, ...]) -> None:
        boards = [word for word in rest if word in BOARDS]
        deals = [word for word in rest if word.isascii() and word.isdigit()]
        others = [word for word in rest if word not in boards and word not in deals]
        if len(boards) != 1 or len(deals) > 1 or len(others) > 1:
            raise Unclear(_("Say which: leaderboard {boards}.").format(boards=", ".join(BOARDS)))
        deal = int(deals[0]) if deals else None
        variant = others[0] if others else DEFAULT_GAME
        await self._show(LeaderboardGet(board=boards[0], variant=variant, deal=deal, around=boards[0] != "deal"))

    async def _show(self, request: LeaderboardGet) -> None:
        board = await self._connection.leaderboard(request)
        self._say(*leaderboard_lines(board, self._connection.player.id, Asked(request.date, request.deal)))
