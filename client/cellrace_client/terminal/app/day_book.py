"""What is known of the challenges of one day: asked of the server, game by game."""

from __future__ import annotations

import asyncio

from cellrace.errors import ErrorCode, Refused
from cellrace.messages import Daily, EntrantStatus, Leaderboard, LeaderboardGet
from cellrace.variants import MAIN_VARIANTS
from cellrace_client.connection import Connection

MOST_ROWS = 100
"""As many rows of a board as a server tells at once."""


class DayBook:
    """One day, today unless another one is turned to, and the game that is looked at."""

    def __init__(self, connection: Connection, variant: str) -> None:
        self._connection = connection
        self.variant = variant if variant in MAIN_VARIANTS else MAIN_VARIANTS[0]
        self.days: dict[str, Daily] = {}
        self._date: str | None = None
        """The day; None is today, also when another one has begun."""
        self._board: Leaderboard | None = None
        self._streaks: dict[str, int] = {}

    @property
    def day(self) -> Daily | None:
        """The challenge of the game that is looked at, as it was told last."""
        return self.days.get(self.variant)

    @property
    def board(self) -> Leaderboard | None:
        """The board of that challenge."""
        return self._board if self._board is not None and self._board.variant == self.variant else None

    @property
    def streak(self) -> int:
        """One's days in a row with a win in that game."""
        return self._streaks.get(self.variant, 0)

    @property
    def under_way(self) -> str | None:
        """One's attempt at that game that goes on, be it of this day or one that was begun before midnight."""
        view = self._connection.known_daily(self.variant)
        return None if view is None else view.race

    @property
    def waits_for_place(self) -> bool:
        """Whether one's own attempt has ended, and has no place yet: the board follows the end of a race."""
        day, board = self.day, self.board
        ended = day is not None and day.you is not None and day.you.status is not EntrantStatus.PLAYING
        return ended and board is not None and board.you is None

    async def ask(self) -> None:
        """Asks for everything anew, first for what is looked at. Raises CellraceError."""
        asked = self._date
        await self._ask_for_game(self.variant, asked)
        await self.ask_for_board()
        await self._ask_for_others(asked)

    async def ask_again(self) -> None:
        """Asks for what may have changed of what is looked at. Raises CellraceError."""
        await self._ask_for_game(self.variant, self._date)
        await self.ask_for_board()
        if (day := self.day) is not None and any(other.date != day.date for other in self.days.values()):
            # Another day has begun, perhaps while the machine slept.
            await self._ask_for_others(self._date)

    async def _ask_for_others(self, asked: str | None) -> None:
        await asyncio.gather(*(self._ask_for_game(other, asked) for other in MAIN_VARIANTS if other != self.variant))

    async def _ask_for_game(self, variant: str, asked: str | None) -> None:
        try:
            day = await self._connection.daily(variant, asked)
        except Refused as refused:
            if refused.code != ErrorCode.NOT_FOUND:
                raise
            # A day on which nobody asked for this game.
            return
        if asked == self._date:
            self.days[variant] = day

    async def ask_for_board(self) -> None:
        """Asks for the board of the game that is looked at, and for one's streak. Raises CellraceError."""
        variant, asked = self.variant, self._date
        connection = self._connection
        board = await connection.leaderboard(
            LeaderboardGet(board="daily", variant=variant, date=asked, limit=MOST_ROWS)
        )
        streak = await connection.leaderboard(LeaderboardGet(board="streak", variant=variant, limit=0))
        self._streaks[variant] = (streak.you.streak or 0) if streak.you is not None else 0
        if asked == self._date:
            self._board = board

    async def turn_to(self, wanted: str, *, today: bool) -> None:
        """Turns to another day; one that there was not is refused, and the day stays. Raises CellraceError."""
        day = await self._connection.daily(self.variant, wanted)
        self._date = None if today else wanted
        self.days, self._board = {self.variant: day}, None
