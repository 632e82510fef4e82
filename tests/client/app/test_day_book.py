"""A day of the challenge as it is asked for, over a connection of a few lines."""

from __future__ import annotations

from typing import cast

from msgspec.structs import replace

from cellrace.messages import Daily, Leaderboard, LeaderboardGet
from cellrace.variants import MAIN_VARIANTS
from cellrace_client.connection import Connection
from cellrace_client.terminal.app.day_book import DayBook
from tests.client.days import HOUR, day


class Line:
    """A server at which another day begins when a test says so."""

    def __init__(self) -> None:
        self.today = "1970-01-02"
        self.asked: list[str] = []

    async def daily(self, variant: str, date: str | None) -> Daily:
        """Today's challenge of a game, or another day's."""
        self.asked.append(variant)
        return replace(day(30 * HOUR), variant=variant, date=date or self.today)

    async def leaderboard(self, request: LeaderboardGet) -> Leaderboard:
        """An empty board."""
        return Leaderboard(board=request.board, variant=request.variant, rows=(), total=0)


async def test_another_day_is_asked_for_in_every_game() -> None:
    """As after a night in which the machine slept; until then only what is looked at is asked for again."""
    line = Line()
    book = DayBook(cast(Connection, line), "freecell")
    await book.ask()
    assert set(line.asked) == set(MAIN_VARIANTS)
    line.asked.clear()
    await book.ask_again()
    assert line.asked == ["freecell"]
    line.today = "1970-01-03"
    await book.ask_again()
    assert {told.date for told in book.days.values()} == {"1970-01-03"}
    assert set(book.days) == set(MAIN_VARIANTS)
