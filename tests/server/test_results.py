"""What the end of a race leaves behind: exactly once, whichever reply is lost and whichever node dies on the way."""

from __future__ import annotations

import asyncio
from datetime import timedelta

import pytest
from msgspec.structs import replace

from cellrace.messages import CancelReason, EntrantStatus, GameRecord, Player, RaceKind, RatingChange, Settings
from cellrace_server import results
from cellrace_server.core.daily import day_of, opens_at
from cellrace_server.core.effects import best_board, daily_board, deal_board, rating_board, streak_board
from cellrace_server.core.facts import Cancelled, CountdownBegan, Done, Joined, Over, Tally
from cellrace_server.core.race import Race
from cellrace_server.core.ratings import Applied, RatingStep, Skill
from cellrace_server.results import record_end
from cellrace_server.store import ratings
from cellrace_server.store.errors import StoreUnavailable
from cellrace_server.store.players import new_id
from cellrace_server.store.races import Behind
from tests.server.races import ANN, BEN, new_race
from tests.server.shell import DEAL, SECRET, SHORT, FakeMember, Shell

GAME = SHORT.variant
pytestmark = pytest.mark.usefixtures("noon")
EVERY_EFFECT = ("player_finished", "board_submit", "ZREM", "ZADD", "race_compact")
"""What the end of a ranked race writes, by function or command."""


async def decided(here: Shell, *, settings: Settings = SHORT, winner: Player = ANN, loser: Player = BEN) -> Race:
    """A race in which nobody plays any more, and which is not over yet: Ann has won after half a minute."""
    race = await here.race(winner, loser, start_in=-60_000, settings=settings)
    assert race.start_at is not None
    race = await here.append(
        race, Done(winner.id, EntrantStatus.WON, Tally(9, 13, 9, 0), 20), at=race.start_at + 30_000
    )
    return await here.append(race, Done(loser.id, EntrantStatus.CONCEDED, Tally(4, 5, 4, 0)), at=race.start_at + 40_000)


async def woken(shell: Shell, race: Race) -> Race:
    """The race after a node has looked at it once, without what follows from an end."""
    async with shell.attended(race, FakeMember(ANN)) as referee:
        await referee.wake()
        return referee.room.race


async def rows(shell: Shell, board: str) -> list[tuple[int, str, int]]:
    found = await shell.store.boards.rows(board, 0, 100, "", around=False, bots=True)
    return [(row.place, row.player, row.value) for row in found.rows]


async def everything(shell: Shell) -> object:
    """All that the end of these races can have left behind, but for the races."""
    boards = [best_board(GAME), deal_board(GAME, DEAL), rating_board(GAME), streak_board(GAME)]
    return (
        [await rows(shell, board) for board in boards],
        [await shell.store.profiles.records(player.id) for player in (ANN, BEN)],
        [await shell.store.players.recent_races(player.id) for player in (ANN, BEN)],
        [await shell.store.players.races(player.id) for player in (ANN, BEN)],
        await shell.store.lists.newest(True, 0, 10),
    )


async def is_due(shell: Shell) -> bool:
    return await shell.store.due.size() > 0


class TestRatings:
    async def test_each_change_stands_in_the_standings(self, here: Shell) -> None:
        over = await woken(here, await decided(here))
        assert over.standings is not None
        assert [(s.player.id, s.rating) for s in over.standings] == [
            ("ann", RatingChange(before=1000, after=1138)),
            ("ben", RatingChange(before=1000, after=927)),
        ]
        assert await rows(here, rating_board(GAME)) == [(1, "ann", -1138), (2, "ben", -927)]

    async def test_they_are_applied_before_the_end_is_on_record(self, here: Shell) -> None:
        race = await decided(here)
        gate = here.link.hold_request("race_append")
        waking = asyncio.create_task(woken(here, race))
        await gate.reached.wait()
        assert await rows(here, rating_board(GAME)) == [(1, "ann", -1138), (2, "ben", -927)]
        gate.open()
        await waking

    @pytest.mark.parametrize("lost", ["request", "reply"])
    async def test_a_node_that_dies_between_the_ratings_and_the_end_costs_nothing(
        self, here: Shell, there: Shell, lost: str
    ) -> None:
        """NODES 20: once per race id, and whoever goes on is told what was done."""
        race = await decided(here)
        (here.link.lose_request if lost == "request" else here.link.lose_reply)("race_append")
        with pytest.raises(StoreUnavailable):
            await woken(here, race)
        await there.upkeep.sweep_once()
        record = await there.store.races.load(race.id)
        assert record is not None
        assert record.race.standings is not None
        assert [s.rating for s in record.race.standings] == [
            RatingChange(before=1000, after=1138),
            RatingChange(before=1000, after=927),
        ]
        skills = await there.store.ratings.skills(GAME, ["ann", "ben"])
        assert [skill.games for skill in skills.values()] == [1, 1]

    async def test_a_lost_reply_to_the_ratings_is_asked_for_again(self, here: Shell, there: Shell) -> None:
        race = await decided(here)
        here.link.lose_reply("rating_apply")
        with pytest.raises(StoreUnavailable):
            await woken(here, race)
        over = await woken(there, race)
        assert over.standings is not None
        assert over.standings[0].rating == RatingChange(before=1000, after=1138)
        assert (await there.store.ratings.skills(GAME, ["ann"]))["ann"].games == 1

    async def test_two_nodes_that_end_one_race_apply_it_once(self, here: Shell, there: Shell) -> None:
        race = await decided(here)
        one, other = await asyncio.gather(woken(here, race), woken(there, race))
        assert one.standings == other.standings
        assert (await here.store.ratings.skills(GAME, ["ben"]))["ben"].games == 1

    async def test_two_races_of_one_player_that_end_at_once_both_count(self, here: Shell, there: Shell) -> None:
        """NODES 20: the befores are compared, so that neither is worked out on a skill that the other changes."""
        first, second = await decided(here), await decided(here)
        gate = here.link.hold_request("rating_apply")
        waking = asyncio.create_task(woken(here, first))
        await gate.reached.wait()
        faster = await woken(there, second)
        gate.open()
        slower = await waking
        assert faster.standings is not None
        assert slower.standings is not None
        changes = [race.standings[0].rating for race in (faster, slower) if race.standings]
        assert [change.before for change in changes if change] == [1000, 1138]
        assert (await here.store.ratings.skills(GAME, ["ann"]))["ann"].games == 2

    async def test_many_races_of_the_same_players_that_end_at_once_at_one_node_take_turns(
        self, here: Shell, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        """Trying all at once, each round would rate one of them and send all others back."""
        monkeypatch.setattr(results, "ATTEMPTS", 1)
        monkeypatch.setattr(ratings, "PATIENCE", 60.0)
        all_there, apply = asyncio.Barrier(12), here.store.ratings.apply
        tried = set[str]()

        async def together(variant: str, race: str, applied: Applied) -> tuple[RatingStep, ...] | None:
            if race not in tried:
                tried.add(race)
                await all_there.wait()  # Each has read what all others are about to change.
            return await apply(variant, race, applied)

        monkeypatch.setattr(here.store.ratings, "apply", together)
        races = [await decided(here) for _ in range(12)]
        over = await asyncio.gather(*(woken(here, race) for race in races))
        assert all(race.standings is not None for race in over)
        assert (await here.store.ratings.skills(GAME, ["ann"]))["ann"].games == 12

    async def test_none_waits_for_its_turn_behind_a_store_that_does_not_answer(
        self, here: Shell, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        monkeypatch.setattr(ratings, "PATIENCE", 0.01)
        async with here.store.ratings.turn(GAME):
            gate = here.link.hold_request("rating_apply")
            waking = asyncio.create_task(woken(here, await decided(here)))
            await gate.reached.wait()
            await woken(here, await decided(here))
            gate.open()
            assert (await waking).standings is not None
        assert (await here.store.ratings.skills(GAME, ["ann"]))["ann"].games == 2

    async def test_what_is_not_ranked_changes_none(self, here: Shell) -> None:
        over = await woken(here, await decided(here, settings=replace(SHORT, ranked=False)))
        assert over.standings is not None
        assert [s.rating for s in over.standings] == [None, None]
        assert await here.store.ratings.skills(GAME, ["ann"]) == {"ann": Skill()}

    async def test_people_and_bots_are_in_one_pool(self, here: Shell) -> None:
        robo = Player(id="robo", name="Robo", bot=True)
        await woken(here, await decided(here, loser=robo))
        everybody = await here.store.boards.rows(rating_board(GAME), 0, 9, "", around=False, bots=True)
        people = await here.store.boards.rows(rating_board(GAME), 0, 9, "", around=False, bots=False)
        assert [row.player for row in everybody.rows] == ["ann", "robo"]
        assert [row.player for row in people.rows] == ["ann"]


class TestEffects:
    async def test_a_ranked_win_stands_on_each_of_its_boards(self, here: Shell) -> None:
        race = await woken(here, await decided(here))
        await record_end(here.store, race)
        assert await rows(here, best_board(GAME)) == [(1, "ann", 29_980)]
        assert await rows(here, deal_board(GAME, DEAL)) == [(1, "ann", 29_980)]
        assert await here.store.profiles.records("ann") == {
            GAME: GameRecord(played=1, won=1, streak=1, best_streak=1, best_time=29_980)
        }
        assert await here.store.players.recent_races("ben") == (race.id,)

    async def test_doing_it_again_at_another_node_changes_nothing(self, here: Shell, there: Shell) -> None:
        """NODES 19: also after the race is packed, and after another race of these players."""
        race = await woken(here, await decided(here))
        await record_end(here.store, race)
        other = await woken(here, await decided(here, winner=BEN, loser=ANN))
        await record_end(here.store, other)
        before = await everything(here)
        await record_end(there.store, race)
        assert await everything(here) == before

    @pytest.mark.parametrize("lost", EVERY_EFFECT)
    async def test_a_node_that_dies_at_any_effect_leaves_the_rest_to_the_sweep(
        self, here: Shell, there: Shell, lost: str
    ) -> None:
        """NODES 19: the race stays due until its last effect is done."""
        race = await decided(here)
        async with here.attended(race, FakeMember(ANN)) as referee:
            await referee.wake()
            here.link.lose_request(lost)
            with pytest.raises(StoreUnavailable):
                await referee.finish()
        assert await is_due(there)
        await there.upkeep.sweep_once()
        assert not await is_due(there)
        assert await rows(there, best_board(GAME)) == [(1, "ann", 29_980)]
        assert await rows(there, deal_board(GAME, DEAL)) == [(1, "ann", 29_980)]
        assert (await there.store.profiles.records("ben"))[GAME].played == 1
        assert await there.store.players.recent_races("ann") == (race.id,)
        packed = await there.store.races.load(race.id)
        assert packed is not None
        assert packed.race.standings is not None

    async def test_only_what_is_finished_stands_on_a_board(self, here: Shell) -> None:
        race = await decided(here)
        await record_end(here.store, replace(race, standings=None, cancelled=None))
        assert await rows(here, best_board(GAME)) == []
        assert await here.store.profiles.records("ann") == {}

    async def test_a_cancelled_race_leaves_nothing_but_the_lists(self, here: Shell) -> None:
        race = await here.race(ANN, BEN, start_in=60_000)
        race = await here.append(race, Cancelled(CancelReason.ALL_FORFEITED))
        await record_end(here.store, race)
        assert await rows(here, best_board(GAME)) == []
        assert await here.store.profiles.records("ann") == {}
        assert await here.store.players.races("ann") == ()

    async def test_what_an_operator_has_made_void_counts_for_nothing(self, here: Shell) -> None:
        race = await woken(here, await decided(here))
        await here.store.acts.void(race.id)
        await record_end(here.store, race)
        assert await rows(here, best_board(GAME)) == []
        assert await here.store.profiles.records("ann") == {}
        assert await here.store.players.recent_races("ann") == (race.id,), "it was run all the same"


async def attempt(here: Shell, begins: int, status: EntrantStatus = EntrantStatus.WON, home: int = 13) -> Race:
    """Ann's attempt at the daily of the day in which it begins, over after a minute."""
    settings = Settings(variant=GAME, seats=1, private=True, ranked=False)
    born = replace(
        new_race(settings, kind=RaceKind.DAILY, race_id=new_id()), created_at=begins, changed_at=begins, code=""
    )
    await here.rooms.create(born)
    race = await here.append(
        born, Joined(ANN), CountdownBegan(begins, SECRET.commitment(GAME)), at=begins, secret=SECRET
    )
    race = await here.append(race, Done("ann", status, Tally(9, home, 9, 0)), at=begins + 60_000)
    return await woken(here, race)


class TestDailies:
    async def test_a_win_stands_on_the_board_of_its_day_and_begins_a_streak(self, here: Shell) -> None:
        begins = opens_at(day_of(here.now()))
        await record_end(here.store, await attempt(here, begins))
        assert await rows(here, daily_board(day_of(begins), GAME)) == [(1, "ann", 60_000)]
        assert await rows(here, streak_board(GAME)) == [(1, "ann", -1)]
        assert await rows(here, best_board(GAME)) == []
        assert await rows(here, deal_board(GAME, DEAL)) == [], "it would tell the day's number"

    async def test_an_attempt_that_begins_before_midnight_and_ends_after_it_counts_for_its_day(
        self, here: Shell
    ) -> None:
        today = day_of(here.now())
        begins = opens_at(today) - 1
        await record_end(here.store, await attempt(here, begins))
        yesterday = today - timedelta(days=1)
        assert await rows(here, daily_board(yesterday, GAME)) == [(1, "ann", 60_000)]
        assert await rows(here, daily_board(today, GAME)) == []
        assert list(await here.store.profiles.days("ann", GAME)) == [yesterday]

    async def test_what_is_not_won_is_ranked_by_cards_and_begins_no_streak(self, here: Shell) -> None:
        begins = opens_at(day_of(here.now()))
        await record_end(here.store, await attempt(here, begins, EntrantStatus.CONCEDED, home=7))
        assert await rows(here, daily_board(day_of(begins), GAME)) == [(1, "ann", 10**9 + 993)]
        assert await rows(here, streak_board(GAME)) == []

    async def test_days_in_a_row_are_a_streak_in_whatever_order_they_are_told(self, here: Shell, there: Shell) -> None:
        """NODES 19: sets of days and never counters; an older attempt that is told again changes nothing."""
        today = day_of(here.now())
        races = [await attempt(here, opens_at(today - timedelta(days=n)) + 9) for n in range(4)]
        for n, expected in ((0, -1), (2, -1), (1, -3), (2, -3), (3, -4), (0, -4), (3, -4)):
            await record_end((here if n % 2 else there).store, races[n])
            assert await rows(here, streak_board(GAME)) == [(1, "ann", expected)]

    async def test_equal_streaks_stand_in_the_order_in_which_they_were_reached(self, here: Shell) -> None:
        begins = opens_at(day_of(here.now()))
        race = await attempt(here, begins + 500)
        earlier = replace(race, id=new_id())
        await record_end(here.store, race)
        won = await here.store.profiles.days("ann", GAME)
        assert list(won.values()) == [begins + 60_500]
        await record_end(here.store, earlier)
        assert await here.store.profiles.days("ann", GAME) == won


async def test_an_end_that_was_written_by_another_node_is_not_written_again(here: Shell, there: Shell) -> None:
    race = await decided(here)
    over = await woken(here, race)
    assert over.standings is not None
    with pytest.raises(Behind):
        await there.store.races.append(race, "other", [Over(over.standings)], there.now())
