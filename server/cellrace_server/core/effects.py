"""What the end of a race leaves behind: records of players, rows of boards, days with a win.

All of it follows from the race's facts and its deal, so that any node can do it, and do it again, and whoever has the
races can tell what the boards must be.
"""

from __future__ import annotations

from collections.abc import Mapping
from datetime import date, timedelta

from msgspec import Struct

from cellrace.messages import EntrantStatus, Player, RaceKind
from cellrace_server.core.daily import closes_at, day_of, streak
from cellrace_server.core.race import Race
from cellrace_server.core.standings import Finish

NOT_WON = 10**9
"""What the rows of a daily board that are ranked by cards home stand behind: longer than any time, ms."""
FULL_HOME = 1_000
"""More than any pack has cards: less the cards home it ranks them, the most first."""


class RowInfo(Struct, frozen=True, omit_defaults=True):
    """What a row of a board shows beside its value."""

    race: str | None = None
    time: int | None = None
    home: int | None = None
    moves: int | None = None
    last: str | None = None
    """For streaks: the last day with a win."""


class Score(Struct, frozen=True):
    """A player's value for a board: the lowest is the best, equal ones stand in the order of finishing, by `order`."""

    board: str
    player: Player
    value: int
    order: int
    info: RowInfo


class Finished(Struct, frozen=True):
    """A player has finished a game; `time` (ms) is that of a win which counts for records."""

    player: str
    variant: str
    race: str
    won: bool
    at: int
    time: int | None


class DayWon(Struct, frozen=True):
    """A player has won the daily challenge of a day."""

    player: Player
    variant: str
    day: date
    at: int


class Effects(Struct, frozen=True):
    """All that a race leaves behind, but for ratings: these also depend on other races."""

    finished: tuple[Finished, ...] = ()
    scores: tuple[Score, ...] = ()
    days: tuple[DayWon, ...] = ()


def best_board(variant: str) -> str:
    """The board of the fastest wins of ranked races."""
    return f"best:{variant}"


def deal_board(variant: str, deal: int) -> str:
    """The board of the fastest wins of one deal."""
    return f"deal:{variant}:{deal}"


def is_deal_board(board: str) -> bool:
    """Whether a board is one of a deal, of which there are as many as deals that were won."""
    return board.startswith("deal:")


def is_board_of_races(board: str) -> bool:
    """Whether each row of a board is what one race says; ratings and streaks are made by many."""
    return not board.startswith(("rating:", "streak:"))


def daily_board(day: date, variant: str) -> str:
    """The board of a day's challenge."""
    return f"daily:{day}:{variant}"


def streak_board(variant: str) -> str:
    """The board of days in a row with a win."""
    return f"streak:{variant}"


def rating_board(variant: str) -> str:
    """The board of ratings."""
    return f"rating:{variant}"


def is_practice(race: Race) -> bool:
    """Whether it is a published day's deal once more: the only races on a known deal that nobody enters by a code."""
    return race.kind is RaceKind.RACE and race.settings.deal is not None and not race.code


def effects_of(race: Race, deal: int) -> Effects:
    """What a race leaves behind; nothing unless it is over."""
    if race.standings is None or is_practice(race):
        return Effects()
    variant, ranked = race.settings.variant, race.kind is RaceKind.RACE and race.settings.ranked
    finished: list[Finished] = []
    scores: list[Score] = []
    days: list[DayWon] = []
    for entrant in race.entrants:
        finish = entrant.finish
        if finish is None:
            continue
        won = finish.status is EntrantStatus.WON
        time = finish.time if won and ranked else None
        finished.append(Finished(finish.player.id, variant, race.id, won, finish.at, time))
        if race.kind is RaceKind.DAILY:
            assert race.start_at is not None, "it is over, so it has begun"
            day = day_of(race.start_at)
            scores.append(_score(daily_board(day, variant), race, finish))
            if won:
                days.append(DayWon(finish.player, variant, day, finish.at))
        elif won:
            boards = [deal_board(variant, deal), *([best_board(variant)] if ranked else [])]
            scores += (_score(board, race, finish) for board in boards)
    return Effects(tuple(finished), tuple(scores), tuple(days))


def boards_of(effects: Effects, variant: str) -> frozenset[str]:
    """The boards on which a race may have written rows, with those of streaks and ratings."""
    return frozenset(score.board for score in effects.scores) | {streak_board(variant), rating_board(variant)}


def _score(board: str, race: Race, finish: Finish) -> Score:
    value = NOT_WON + FULL_HOME - finish.home if finish.time is None else finish.time
    info = RowInfo(race=race.id, time=finish.time, home=finish.home, moves=finish.moves)
    return Score(board, finish.player, value, finish.at, info)


def streak_score(variant: str, player: Player, days: Mapping[date, int]) -> Score:
    """The streak up to a player's last day with a win; `days` has when each was won (ms)."""
    last = max(days)
    return Score(streak_board(variant), player, -streak(days.keys(), last), days[last], RowInfo(last=last.isoformat()))


def streak_ends_at(last: date) -> int:
    """When a streak is over whose last win is of a day, ms: with the day after, on which it could have gone on."""
    return closes_at(last + timedelta(days=1))
