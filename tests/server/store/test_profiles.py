"""Records of players: each game counted once, whenever it is told, and the days with a win as a set."""

from __future__ import annotations

import random
from datetime import date

import pytest
import pytest_asyncio

from cellrace.messages import GameRecord
from cellrace_server.core.effects import DayWon, Finished
from cellrace_server.store import keys
from cellrace_server.store.library import Link
from cellrace_server.store.profiles import ProfileStore
from tests.server.races import ANN

GAME = "freecell"


@pytest_asyncio.fixture
async def profiles(link: Link) -> ProfileStore:
    """The records of one node."""
    return ProfileStore(link)


def game(n: int, *, won: bool = True, time: int | None = None, variant: str = GAME) -> Finished:
    """The n-th game, which ended at n."""
    return Finished("ann", variant, f"r{n}", won, 1_000 + n, time)


def counted(games: list[Finished]) -> GameRecord:
    """The record as it must be: the games gone through one after the other."""
    ordered = sorted(games, key=lambda g: (g.at, g.race))
    row = best = 0
    for one in ordered:
        row = row + 1 if one.won else 0
        best = max(best, row)
    times = [one.time for one in games if one.time is not None]
    return GameRecord(
        played=len(games),
        won=sum(one.won for one in games),
        streak=row,
        best_streak=best,
        best_time=min(times, default=None),
    )


async def record(profiles: ProfileStore) -> GameRecord:
    return (await profiles.records("ann"))[GAME]


async def test_games_wins_streaks_and_the_best_time_are_counted(profiles: ProfileStore) -> None:
    for n, (won, time) in enumerate([(True, 900), (True, None), (False, None), (True, 800), (True, 950), (True, None)]):
        await profiles.finish(game(n, won=won, time=time))
    assert await record(profiles) == GameRecord(played=6, won=5, streak=3, best_streak=3, best_time=800)


async def test_a_game_that_is_told_twice_is_counted_once(profiles: ProfileStore) -> None:
    for n in (1, 2, 1, 2, 2):
        await profiles.finish(game(n, time=100 * n))
    assert await record(profiles) == GameRecord(played=2, won=2, streak=2, best_streak=2, best_time=100)


async def test_a_game_that_is_told_late_stands_where_it_ended(profiles: ProfileStore) -> None:
    """A loss between two wins that were told before it parts their streak."""
    await profiles.finish(game(1))
    await profiles.finish(game(3))
    await profiles.finish(game(2, won=False))
    assert await record(profiles) == GameRecord(played=3, won=2, streak=1, best_streak=1)


@pytest.mark.parametrize("seed", range(5))
async def test_a_record_follows_from_the_games_in_whatever_order_and_however_often_they_are_told(
    profiles: ProfileStore, seed: int
) -> None:
    chance = random.Random(seed)
    games = []
    for n in range(25):
        won = chance.random() < 0.6
        games.append(game(n, won=won, time=chance.choice([None, chance.randint(1, 99)]) if won else None))
    told = games + chance.sample(games, 10)
    if seed:  # In order as well: that is the way they nearly always come.
        chance.shuffle(told)
    for one in told:
        await profiles.finish(one)
    assert await record(profiles) == counted(games)
    assert list(await profiles.finished("ann", GAME)) == games
    gone = chance.sample(games, 8)
    for one in gone:
        assert await profiles.unfinish(one)
        assert not await profiles.unfinish(one)
    assert await record(profiles) == counted([one for one in games if one not in gone])


async def test_with_the_last_game_the_record_goes(profiles: ProfileStore) -> None:
    await profiles.finish(game(1, time=5))
    await profiles.unfinish(game(1, time=5))
    assert await profiles.records("ann") == {}


async def test_the_games_of_a_bot_that_has_finished_thousands_are_not_counted_through_again(
    profiles: ProfileStore, link: Link
) -> None:
    """A record that is known goes on from what it says: here from one that no counting would give."""
    for n in range(3):
        await profiles.finish(game(n))
    await link.command("HSET", keys.player_record("ann", GAME), "played", 70_000)
    await profiles.finish(game(3))
    assert (await record(profiles)).played == 70_001


async def test_each_game_has_a_record_of_its_own_and_those_never_played_have_none(profiles: ProfileStore) -> None:
    await profiles.finish(game(1))
    await profiles.finish(game(2, variant="one-suit", won=False))
    records = await profiles.records("ann")
    assert {variant: record.won for variant, record in records.items()} == {"freecell": 1, "one-suit": 0}


async def test_a_day_is_won_once_and_when_it_was_first(profiles: ProfileStore) -> None:
    days = [date(2026, 10, n) for n in (14, 15)]
    assert await profiles.win_day(DayWon(ANN, GAME, days[0], 7)) == {days[0]: 7}
    assert await profiles.win_day(DayWon(ANN, GAME, days[1], 9)) == {days[0]: 7, days[1]: 9}
    assert await profiles.win_day(DayWon(ANN, GAME, days[0], 11)) == {days[0]: 7, days[1]: 9}
    assert await profiles.days("ann", GAME) == {days[0]: 7, days[1]: 9}
    assert await profiles.days("ann", "one-suit") == {}
    assert await profiles.unwin_day("ann", GAME, days[0]) == {days[1]: 9}
