"""Leaderboards and profiles as they are asked for (protocol, sections 4 and 6)."""

from __future__ import annotations

from collections.abc import Mapping
from datetime import date
from enum import StrEnum
from typing import assert_never

from msgspec import Struct
from msgspec.structs import replace

from cellrace.errors import BadMessage, ErrorCode, Refused
from cellrace.messages import BoardRow, GameRecord, Leaderboard, LeaderboardGet, Player, PlayerGet, check_variant
from cellrace_server.core.daily import day_of, parse_day
from cellrace_server.core.effects import (
    NOT_WON,
    best_board,
    daily_board,
    deal_board,
    rating_board,
    streak_board,
)
from cellrace_server.store import Store
from cellrace_server.store.boards import Row
from cellrace_server.store.players import Identity
from cellrace_server.store.races import Head

RECENT = 20
"""How many of a player's last races a profile shows."""


class BoardKind(StrEnum):
    """The boards there are."""

    DAILY = "daily"
    STREAK = "streak"
    RATING = "rating"
    BEST = "best"
    DEAL = "deal"


class Profile(Struct, frozen=True):
    """A player, what was done in each game, and the last races, the newest first."""

    identity: Identity
    games: Mapping[str, GameRecord]
    recent: tuple[Head, ...]


class Competition:
    """Answers about boards and players."""

    def __init__(self, store: Store) -> None:
        self._store = store

    async def leaderboard(self, player: str, request: LeaderboardGet) -> Leaderboard:
        """The rows that are asked for. Raises Refused with `not_found`, BadMessage, StoreUnavailable."""
        check_variant(request.variant)
        if request.board not in tuple(BoardKind):
            raise Refused(ErrorCode.NOT_FOUND, f"The boards are {', '.join(BoardKind)}.", field="board")
        kind = BoardKind(request.board)
        name = await self._name(kind, request)
        if kind is BoardKind.STREAK:
            # A streak ends by time alone: whoever reads the board first takes it off.
            await self._store.boards.prune(name, self._store.clock.now())
        found = await self._store.boards.rows(
            name, request.offset, request.limit, player, around=request.around, bots=request.bots
        )
        wanted = {row.player for row in found.rows} | ({found.own.player} if found.own else set())
        players = await self._store.players.find_all(sorted(wanted))
        own = found.own if found.own and found.own.player in players else None
        return Leaderboard(
            re=request.id,
            board=kind,
            variant=request.variant,
            rows=tuple(_board_row(kind, row, players[row.player]) for row in found.rows if row.player in players),
            you=_board_row(kind, own, players[own.player]) if own else None,
            total=found.total,
        )

    async def _name(self, kind: BoardKind, request: LeaderboardGet) -> str:
        match kind:
            case BoardKind.DAILY:
                return daily_board(await self._day(request), request.variant)
            case BoardKind.DEAL:
                if request.deal is None:
                    raise BadMessage("The board of a deal needs its number.", "deal", request.id)
                return deal_board(request.variant, request.deal)
            case BoardKind.RATING:
                return rating_board(request.variant)
            case BoardKind.STREAK:
                return streak_board(request.variant)
            case BoardKind.BEST:
                return best_board(request.variant)
            case _:
                assert_never(kind)

    async def _day(self, request: LeaderboardGet) -> date:
        today = day_of(self._store.clock.now())
        if request.date is None:
            return today
        day = parse_day(request.date)
        if day != today and (day > today or not await self._store.daily.exists(day, request.variant)):
            raise Refused(ErrorCode.NOT_FOUND, f"There was no daily challenge of {day}.", field="date")
        return day

    async def profile(self, player: str, request: PlayerGet) -> Profile:
        """What a player has done, and the last races. Raises Refused with `not_found`, StoreUnavailable."""
        player_id = request.player or player
        identity = await self._store.players.find(player_id)
        if identity is None:
            raise Refused(ErrorCode.NOT_FOUND, "There is no such player.", field="player")
        records = await self._store.profiles.records(player_id)
        games: dict[str, GameRecord] = {}
        for variant, record in records.items():
            skill = (await self._store.ratings.skills(variant, [player_id]))[player_id]
            games[variant] = replace(record, rating=skill.rating) if skill.games else record
        recent: list[Head] = []
        for race_id in (await self._store.players.recent_races(player_id))[:RECENT]:
            head = await self._store.races.head(race_id)
            if head is not None and (not head.race.settings.private or player == player_id):
                recent.append(head)
        return Profile(identity, games, tuple(recent))


def _board_row(kind: BoardKind, row: Row, player: Player) -> BoardRow:
    info = row.info
    shown = BoardRow(place=row.place, player=player, race=info.race)
    match kind:
        case BoardKind.BEST | BoardKind.DEAL:
            return replace(shown, time=row.value, moves=info.moves)
        case BoardKind.DAILY:
            time = row.value if row.value < NOT_WON else None
            return replace(shown, time=time, home=info.home, moves=info.moves)
        case BoardKind.STREAK:
            return replace(shown, streak=-row.value)
        case BoardKind.RATING:
            return replace(shown, rating=-row.value)
        case _:
            assert_never(kind)
