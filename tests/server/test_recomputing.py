"""Every board rebuilt from the races on record: what differs is told and put right, and what is right is left alone."""

from __future__ import annotations

from datetime import timedelta

import pytest
from msgspec.structs import replace

from cellrace.messages import EntrantStatus, GameRecord, Player
from cellrace_server.core.daily import day_of, opens_at
from cellrace_server.core.effects import (
    RowInfo,
    Score,
    best_board,
    daily_board,
    deal_board,
    rating_board,
    streak_board,
)
from cellrace_server.core.facts import Done, Tally
from cellrace_server.core.ratings import Skill
from cellrace_server.recomputing import Recomputation, counted
from cellrace_server.store import keys
from cellrace_server.store.boards import Rule
from tests.server.ended_races import ended_attempt, ended_race, register
from tests.server.races import ANN, BEN, CAT
from tests.server.shell import DEAL, SHORT, Shell

GAME = SHORT.variant
pytestmark = pytest.mark.usefixtures("noon")
ROBO = Player(id="robo", name="Robo", bot=True)
BOARDS = (best_board(GAME), deal_board(GAME, DEAL), rating_board(GAME), streak_board(GAME))


@pytest.fixture
async def season(here: Shell) -> Shell:
    """A store after some races, dailies and streaks, in which nothing is wrong."""
    await register(here, ANN, BEN, CAT, ROBO)
    await ended_race(here, ANN, BEN, time=30_000)
    await ended_race(here, BEN, CAT, time=25_000)
    await ended_race(here, ANN, ROBO, time=28_000)
    await ended_race(here, ROBO, CAT, time=31_000)
    today = day_of(here.now())
    for days in (0, 1, 2):
        await ended_attempt(here, ANN, opens_at(today - timedelta(days=days)) + 5)
    await ended_attempt(here, BEN, opens_at(today) + 9, EntrantStatus.CONCEDED, home=4)
    return here


async def differences(shell: Shell, *, fix: bool = False) -> list[str]:
    return [f"{d.where}: {d.player}" for d in await Recomputation(shell.store, fix=fix).run()]


async def everything(shell: Shell) -> object:
    """All boards, records and days."""
    census = shell.store.census
    boards = {board: await census.rows(board) for board in await census.boards()}
    records = {who.id: await shell.store.profiles.records(who.id) for who in (ANN, BEN, CAT, ROBO)}
    # But for the number, which says that something was written.
    return boards, records, replace(await shell.store.ratings.ledger(GAME), number=0)


async def test_what_is_right_is_no_difference_and_is_left_alone(season: Shell) -> None:
    before = await everything(season)
    assert await differences(season) == []
    assert await differences(season, fix=True) == []
    assert await everything(season) == before


async def test_an_empty_store_is_right(here: Shell) -> None:
    assert await differences(here) == []


async def test_all_boards_come_back_from_the_races_alone(season: Shell) -> None:
    """Everything but races, attempts and players is lost: ratings are then applied in whichever order is found."""
    before = await everything(season)
    lost = [key async for key in season.link.redis.scan_iter("board:*")]
    lost += [key async for key in season.link.redis.scan_iter("player:*:*ed:*")]
    lost += [key async for key in season.link.redis.scan_iter("player:*:record:*")]
    lost += [key async for key in season.link.redis.scan_iter("player:*:days:*")]
    await season.link.redis.delete(*lost)
    found = await differences(season, fix=True)
    assert {text.partition(":")[0] for text in found} >= {"best", "deal", "daily", "streak", "rating", "days", "record"}
    assert await differences(season) == []
    (boards, records, ledger), (boards_before, records_before, ledger_before) = await everything(season), before
    assert records == records_before
    for board in boards_before:
        if board != rating_board(GAME):
            assert boards[board] == boards_before[board]
    assert ledger.races.keys() == ledger_before.races.keys()
    assert boards.keys() == boards_before.keys()


async def put(shell: Shell, board: str, who: Player, value: int, race: str | None = "elsewhere") -> None:
    await shell.store.boards.submit(Score(board, who, value, 5, RowInfo(race=race, time=value)), Rule.ANY)


class TestRows:
    @pytest.mark.parametrize("board", [best_board(GAME), deal_board(GAME, DEAL)])
    async def test_a_row_that_is_missing_is_put_back(self, season: Shell, board: str) -> None:
        before = await everything(season)
        await season.store.boards.remove(board, "ann")
        assert await differences(season) == [f"{board}: ann"]
        assert await differences(season, fix=True) == [f"{board}: ann"]
        assert await everything(season) == before

    async def test_a_row_of_a_day_too(self, season: Shell) -> None:
        board = daily_board(day_of(season.now()), GAME)
        before = await everything(season)
        await season.store.boards.remove(board, "ben")
        assert await differences(season, fix=True) == [f"{board}: ben"]
        assert await everything(season) == before

    async def test_a_value_that_its_race_does_not_have_is_put_right(self, season: Shell) -> None:
        row = (await season.store.census.rows(best_board(GAME)))["ann"]
        before = await everything(season)
        await put(season, best_board(GAME), ANN, 20_000, race=row.info.race)
        assert await differences(season, fix=True) == [f"{best_board(GAME)}: ann"]
        assert await everything(season) == before

    async def test_a_row_of_a_race_that_is_kept_no_more_stands_if_none_that_is_kept_is_better(
        self, season: Shell
    ) -> None:
        await put(season, best_board(GAME), ANN, 11_000)
        await put(season, best_board(GAME), Player(id="dan", name="Dan", bot=False), 99_000)
        await register(season, Player(id="dan", name="Dan", bot=False))
        before = await everything(season)
        assert await differences(season, fix=True) == []
        assert await everything(season) == before

    async def test_and_falls_if_one_is(self, season: Shell) -> None:
        before = await everything(season)
        await put(season, best_board(GAME), ANN, 50_000)
        assert await differences(season, fix=True) == [f"{best_board(GAME)}: ann"]
        assert await everything(season) == before

    async def test_a_row_that_only_one_of_the_lists_has_is_found(self, season: Shell) -> None:
        before = await everything(season)
        member = f"{'0' * 14}5:dan"
        await season.link.command("ZADD", keys.board(best_board(GAME)) + ":rows", 7, member)
        row = (await season.store.census.rows(best_board(GAME)))["ann"]
        await season.link.command("ZADD", keys.board(best_board(GAME)) + ":rows", 77, f"{row.order:015}:ann")
        assert await differences(season) == [f"{best_board(GAME)}: ann", f"{best_board(GAME)}: dan"]
        await differences(season, fix=True)
        await season.link.command("ZREM", keys.board(best_board(GAME)) + ":rows", member)
        assert await everything(season) == before

    async def test_a_bot_among_people_is_found(self, season: Shell) -> None:
        before = await everything(season)
        who = Player(id="robo", name="Robo", bot=False)
        row = (await season.store.census.rows(best_board(GAME)))["robo"]
        await season.store.boards.submit(Score(best_board(GAME), who, row.value, row.order, row.info), Rule.ANY)
        assert await differences(season, fix=True) == [f"{best_board(GAME)}: robo"]
        assert await everything(season) == before

    async def test_what_a_void_race_has_left_is_taken_away(self, season: Shell) -> None:
        row = (await season.store.census.rows(best_board(GAME)))["ben"]
        assert row.info.race is not None
        await season.store.acts.void(row.info.race)
        found = await differences(season, fix=True)
        assert f"{best_board(GAME)}: ben" in found
        assert f"record:{GAME}: ben" in found
        assert f"{rating_board(GAME)}: " in found
        assert await differences(season) == []
        assert "ben" not in await season.store.census.rows(best_board(GAME))
        assert (await season.store.profiles.records("ben"))[GAME].won == 0


class TestRecords:
    async def test_a_game_that_is_not_counted_is_counted(self, season: Shell) -> None:
        before = await everything(season)
        game = (await season.store.profiles.finished("ann", GAME))[0]
        await season.store.profiles.unfinish(game)
        assert await differences(season, fix=True) == [f"record:{GAME}: ann"]
        assert await everything(season) == before

    async def test_a_record_that_its_games_do_not_make_is_counted_anew(self, season: Shell) -> None:
        before = await everything(season)
        await season.link.command("HSET", keys.player_record("ann", GAME), "won", 99)
        assert await differences(season, fix=True) == [f"record:{GAME}: ann"]
        assert await everything(season) == before

    def test_no_games_make_an_empty_record(self) -> None:
        assert counted([]) == GameRecord(played=0, won=0, streak=0, best_streak=0)


class TestStreaks:
    async def test_a_day_that_was_forgotten_comes_back_and_the_streak_with_it(self, season: Shell) -> None:
        before = await everything(season)
        yesterday = day_of(season.now()) - timedelta(days=1)
        await season.store.profiles.unwin_day("ann", GAME, yesterday)
        assert await differences(season, fix=True) == [f"days:{GAME}: ann"]
        assert await everything(season) == before

    async def test_a_day_that_was_not_won_goes(self, season: Shell) -> None:
        before = await everything(season)
        today = day_of(season.now())
        await season.link.command("ZADD", keys.player_days("ben", GAME), 5, today.isoformat())
        assert await differences(season, fix=True) == [f"days:{GAME}: ben"]
        assert await everything(season) == before

    @pytest.mark.parametrize("lost", [True, False])
    async def test_a_streak_follows_from_the_days(self, season: Shell, lost: bool) -> None:
        before = await everything(season)
        if lost:
            await season.store.boards.remove(streak_board(GAME), "ann")
        else:
            await put(season, streak_board(GAME), ANN, -9)
        assert await differences(season, fix=True) == [f"{streak_board(GAME)}: ann"]
        assert await everything(season) == before

    async def test_a_streak_without_days_goes(self, season: Shell) -> None:
        before = await everything(season)
        await put(season, streak_board(GAME), CAT, -9)
        assert await differences(season, fix=True) == [f"{streak_board(GAME)}: cat"]
        assert await everything(season) == before


class TestRatings:
    async def test_a_skill_that_the_races_do_not_make_is_put_right(self, season: Shell) -> None:
        before = await everything(season)
        await season.link.command("HSET", keys.board(rating_board(GAME)) + ":skills", "ann", "40.0:2.0:2")
        assert set(await differences(season, fix=True)) == {f"{rating_board(GAME)}: ann"}
        assert await everything(season) == before

    async def test_a_row_that_its_skill_does_not_make_is_put_right(self, season: Shell) -> None:
        before = await everything(season)
        await put(season, rating_board(GAME), ANN, -3000)
        assert await differences(season, fix=True) == [f"{rating_board(GAME)}: ann"]
        boards, records, ledger = await everything(season)  # type: ignore[misc]  # a tuple
        assert (records, ledger) == (before[1], before[2])  # type: ignore[index]  # a tuple
        assert boards[rating_board(GAME)]["ann"].value == before[0][rating_board(GAME)]["ann"].value  # type: ignore[index]

    async def test_a_race_that_was_not_rated_is(self, season: Shell) -> None:
        race = await ended_race(season, CAT, ANN)
        await season.link.command("HDEL", keys.board(rating_board(GAME)) + ":applied", race.id)
        assert f"{rating_board(GAME)}: " in await differences(season, fix=True)
        assert await differences(season) == []
        assert race.id in (await season.store.ratings.ledger(GAME)).races

    async def test_skills_that_do_not_follow_from_each_other_are_worked_out_anew(self, season: Shell) -> None:
        ledger = await season.store.ratings.ledger(GAME)
        first = next(iter(ledger.races))
        assert await season.store.ratings.rebuild(GAME, ledger, {first: None}, [])
        assert await differences(season, fix=True) != []
        assert await differences(season) == []
        assert (await season.store.ratings.skills(GAME, ["ann"]))["ann"].games == 2
        assert Skill() not in (await season.store.ratings.ledger(GAME)).skills.values()


async def test_a_race_whose_effects_are_on_their_way_may_count_or_not(season: Shell) -> None:
    """Of what a node is about to write nothing is said, and nothing of what it has written already."""
    race = await season.race(ANN, BEN, start_in=-60_000, settings=SHORT)
    assert race.start_at is not None
    for who, status in ((ANN, EntrantStatus.WON), (BEN, EntrantStatus.CONCEDED)):
        race = await season.append(race, Done(who.id, status, Tally(9, 13, 9, 0)), at=race.start_at + 9_000)
    assert await differences(season) == []
    for lost in ("player_finished", "board_submit", "race_compact"):
        async with season.attended(race) as referee:
            await referee.wake()
            season.link.lose_request(lost)
            with pytest.raises(Exception, match="lost"):
                await referee.finish()
        assert await differences(season) == []
        assert await differences(season, fix=True) == []
    async with season.attended(race) as referee:
        await referee.finish()
    assert await differences(season) == []
    assert (await season.store.census.rows(best_board(GAME)))["ann"].value == 9_000
