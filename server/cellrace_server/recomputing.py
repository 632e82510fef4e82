"""Rebuilds every board and record from the races on record, and tells what is different (`cellrace admin recompute`).

Races expire; what they left behind stays. A row of a race that is not kept any more cannot be worked out again, and is
taken as it stands, unless a race that is kept says better. Races whose end is still being recorded may count or not.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from datetime import date

from msgspec import Struct

from cellrace.messages import GameRecord, Player
from cellrace.variants import VARIANTS
from cellrace_server.core.effects import (
    DayWon,
    Effects,
    Finished,
    Score,
    effects_of,
    is_board_of_races,
    rating_board,
    streak_board,
    streak_ends_at,
    streak_score,
)
from cellrace_server.core.race import Race
from cellrace_server.core.standins import is_stand_in
from cellrace_server.ledgers import check_ratings
from cellrace_server.marking import heed_marks
from cellrace_server.revoking import set_streak
from cellrace_server.store import Store
from cellrace_server.store.boards import Rule
from cellrace_server.store.census import FullRow


class Difference(Struct, frozen=True):
    """Something that is not as the races say: where, about whom, and what is wrong."""

    where: str
    player: str
    what: str

    def __str__(self) -> str:
        return f"{self.where}: {self.player} {self.what}"


@dataclass
class Expected:
    """What the races on record say."""

    races: dict[str, Race] = field(default_factory=dict)
    """Those that are over and count."""
    settled: set[str] = field(default_factory=set)
    """All that have ended, whatever came of them, and whose effects are all on record."""
    scores: dict[str, dict[str, list[Score]]] = field(default_factory=dict)
    """Board -> player -> values."""
    finished: dict[tuple[str, str], list[Finished]] = field(default_factory=dict)
    """(player, game) -> games."""
    days: dict[tuple[str, str], dict[date, DayWon]] = field(default_factory=dict)
    """(player, game) -> days with a win."""

    def add(self, effects: Effects) -> None:
        """Take in what one race leaves behind; nothing of those who only stand in for somebody."""
        for score in effects.scores:
            if not is_stand_in(score.player.id):
                self.scores.setdefault(score.board, {}).setdefault(score.player.id, []).append(score)
        for one in effects.finished:
            if not is_stand_in(one.player):
                self.finished.setdefault((one.player, one.variant), []).append(one)
        for won in effects.days:
            if not is_stand_in(won.player.id):
                self.days.setdefault((won.player.id, won.variant), {})[won.day] = won


async def gather(store: Store) -> Expected:
    """Read every race on record. Raises StoreUnavailable."""
    expected = Expected()
    void = await store.acts.voided()
    for race_id in await store.census.races():
        head = await store.races.head(race_id)
        if head is None:
            continue
        if head.packed:
            expected.settled.add(race_id)
        secret = await store.races.secret(race_id) if head.race.standings is not None else None
        if secret is None or race_id in void:
            continue
        expected.races[race_id] = head.race
        expected.add(effects_of(head.race, secret.deal))
    return expected


class Recomputation:
    """One comparison of a store with its races; with `fix` what differs is written as it should be."""

    def __init__(self, store: Store, *, fix: bool) -> None:
        self._store = store
        self._fix = fix
        self._expected = Expected()
        self._bots: dict[str, bool] = {}
        self.found: list[Difference] = []

    async def run(self) -> list[Difference]:
        """All differences. Raises StoreUnavailable."""
        self._expected = await gather(self._store)
        await self._check_boards()
        await self._check_records()
        await self._check_days()
        for variant in VARIANTS:
            for player, what in await check_ratings(
                self._store, variant, self._expected.races, self._expected.settled, fix=self._fix
            ):
                self._differs(rating_board(variant), player, what)
        return self.found

    def _differs(self, where: str, player: str, what: str) -> None:
        self.found.append(Difference(where, player, what))

    async def _check_boards(self) -> None:
        wanted = self._expected.scores
        known = filter(is_board_of_races, await self._store.census.boards())
        for board in sorted({*known, *wanted}):
            rows = await self._store.census.rows(board)
            scores = wanted.get(board, {})
            await self._look_up(rows)
            for player in sorted({*rows, *scores}):
                await self._check_row(board, player, rows.get(player), scores.get(player, []))

    async def _look_up(self, players: Iterable[str]) -> None:
        found = await self._store.players.find_all(sorted(set(players) - self._bots.keys()))
        self._bots |= {player: one.bot for player, one in found.items()}

    async def _check_row(self, board: str, player: str, row: FullRow | None, scores: list[Score]) -> None:
        best = min(scores, key=_rank, default=None)
        certain = min((s for s in scores if s.info.race in self._expected.settled), key=_rank, default=None)
        if row is None:
            wrong = "is missing" if certain is not None else None
        elif not row.sound:
            wrong = "is listed in a way that contradicts itself"
        elif row.people == self._bots.get(player, not row.people):
            wrong = "is a bot among people" if row.people else "is a person among bots"
        else:
            wrong = self._fault(row, best, certain)
        if wrong is None:
            return
        self._differs(board, player, wrong)
        if not self._fix:
            return
        if row is not None and row.info.race is not None and self._stands_for_itself(row, best):
            who = Player(id=player, name="", bot=self._bots.get(player, False))
            best = Score(board, who, row.value, row.order, row.info)
        if best is None:
            await self._store.boards.remove(board, player)
        else:
            await self._store.boards.submit(best, Rule.ANY)
            await heed_marks(self._store, [board], [player])

    def _fault(self, row: FullRow, best: Score | None, certain: Score | None) -> str | None:
        if any(
            score is not None and _rank_of(row) == _rank(score) and row.info == score.info for score in (best, certain)
        ):
            return None
        if self._stands_for_itself(row, certain):
            return None
        told = "nothing" if certain is None else f"{certain.value} of race {certain.info.race}"
        return f"has {row.value} of race {row.info.race}, and the races say {told}"

    def _stands_for_itself(self, row: FullRow, certain: Score | None) -> bool:
        """Whether a row rests on a race of which nothing is certain here, and none that is says better."""
        return row.info.race not in self._expected.settled and (certain is None or _rank_of(row) < _rank(certain))

    async def _check_records(self) -> None:
        wanted = self._expected.finished
        for player, variant in sorted({*await self._store.census.finished(), *wanted}):
            listed = await self._store.profiles.finished(player, variant)
            games = {game.race: game for game in wanted.get((player, variant), [])}
            where = f"record:{variant}"
            for game in listed:
                if game.race in self._expected.settled and games.get(game.race) != game:
                    self._differs(where, player, f"counts race {game.race}, which says otherwise")
                    if self._fix:
                        await self._store.profiles.unfinish(game)
            for race, game in games.items():
                if game not in listed and race in self._expected.settled:
                    self._differs(where, player, f"does not count race {race}")
                    if self._fix:
                        await self._store.profiles.finish(game)
            listed = await self._store.profiles.finished(player, variant)
            record = (await self._store.profiles.records(player)).get(variant)
            if record != (counted(listed) if listed else None):
                self._differs(where, player, "has a record that its games do not make")
                if self._fix:
                    await self._store.profiles.recount(player, variant)

    async def _check_days(self) -> None:
        attempts = await self._store.census.attempts()
        wanted = self._expected.days
        for player, variant in sorted({*await self._store.census.days(), *wanted}):
            listed = await self._store.profiles.days(player, variant)
            won = wanted.get((player, variant), {})
            for day in sorted({*listed, *won}):
                race = attempts.get((day, variant), {}).get(player, "")
                right = day in won and listed.get(day) == won[day].at
                if right or race not in self._expected.settled:
                    continue
                self._differs(f"days:{variant}", player, f"has {day} otherwise than its attempt says")
                if self._fix:
                    listed = await self._store.profiles.unwin_day(player, variant, day)
                    listed = await self._store.profiles.win_day(won[day]) if day in won else listed
            await self._check_streak(player, variant, listed)
        await self._check_stray_streaks()

    async def _check_streak(self, player: str, variant: str, days: Mapping[date, int]) -> None:
        await self._look_up([player])
        row = (await self._store.census.rows(streak_board(variant))).get(player)
        who = Player(id=player, name="", bot=self._bots.get(player, False))
        score = streak_score(variant, who, days) if days else None
        going_on = score is not None and streak_ends_at(max(days)) > self._store.clock.now()
        right = score is not None and row is not None and row.sound and _rank_of(row) == _rank(score)
        right = right and row is not None and row.people is not who.bot
        if right or (row is None and not going_on):
            return
        self._differs(streak_board(variant), player, "has another streak than its days make")
        if self._fix:
            await set_streak(self._store, variant, who, days, Rule.ANY)

    async def _check_stray_streaks(self) -> None:
        with_days = {*await self._store.census.days()}
        for variant in VARIANTS:
            board = streak_board(variant)
            for player in await self._store.census.rows(board):
                if (player, variant) not in with_days:
                    self._differs(board, player, "has a streak and no days")
                    if self._fix:
                        await self._store.boards.remove(board, player)


def counted(games: Iterable[Finished]) -> GameRecord:
    """The record that games make, in the order of finishing."""
    played = won = streak = best = 0
    times = []
    for game in games:
        played += 1
        won += game.won
        streak = streak + 1 if game.won else 0
        best = max(best, streak)
        times += [game.time] if game.time is not None else []
    return GameRecord(played=played, won=won, streak=streak, best_streak=best, best_time=min(times, default=None))


def _rank(score: Score) -> tuple[int, int]:
    return score.value, score.order


def _rank_of(row: FullRow) -> tuple[int, int]:
    return row.value, row.order
