"""Leaderboards and profiles as they are asked for: which board a request means, and who may see what of a player."""

from __future__ import annotations

from datetime import date, timedelta

import pytest
from msgspec.structs import replace

from cellrace.errors import BadMessage, ErrorCode, Refused
from cellrace.messages import BoardRow, EntrantStatus, GameRecord, Leaderboard, LeaderboardGet, Player, PlayerGet
from cellrace_server.competition import RECENT, Competition
from cellrace_server.core.daily import closes_at, opens_at
from cellrace_server.core.effects import (
    FULL_HOME,
    NOT_WON,
    DayWon,
    Finished,
    RowInfo,
    Score,
    best_board,
    daily_board,
    deal_board,
)
from cellrace_server.core.facts import Done, Tally
from cellrace_server.core.names import parse_name
from cellrace_server.core.ratings import Applied, RatingStep, Skill
from cellrace_server.revoking import set_streak
from cellrace_server.store.players import Credentials
from tests.server.races import ANN, BEN, CAT
from tests.server.shell import SHORT, FakeMember, Shell

GAME = "one-suit"
DAY = date(2031, 5, 17)
ROBO = Player(id="robo", name="Robo", bot=True)


class Office:
    """The competition of one node, under a clock that the test sets, with players who are on record."""

    def __init__(self, shell: Shell, monkeypatch: pytest.MonkeyPatch) -> None:
        self.shell = shell
        self.competition = Competition(shell.store)
        self.now = opens_at(DAY) + 3_600_000
        monkeypatch.setattr(shell.store.clock, "now", lambda: self.now)

    async def register(self, *players: Player) -> None:
        for who in players:
            credentials = Credentials(who.id, f"{who.id}.secret")
            await self.shell.store.players.register(credentials, parse_name(who.name), who.bot, 7)

    async def board(self, board: str, *, asking: Player = ANN, **fields: object) -> Leaderboard:
        request = LeaderboardGet(**{"board": board, "variant": GAME, **fields})  # type: ignore[arg-type]  # as asked
        return await self.competition.leaderboard(asking.id, request)

    async def submit(self, board: str, who: Player, value: int, order: int = 0, info: RowInfo | None = None) -> None:
        await self.shell.store.boards.submit(Score(board, who, value, order, info or RowInfo(race=f"r-{who.id}")))

    async def streak(self, who: Player, *days: date) -> None:
        won = {}
        for day in days:
            won = await self.shell.store.profiles.win_day(DayWon(who, GAME, day, opens_at(day) + 1))
        await set_streak(self.shell.store, GAME, who, won)


@pytest.fixture
async def office(here: Shell, monkeypatch: pytest.MonkeyPatch) -> Office:
    made = Office(here, monkeypatch)
    await made.register(ANN, BEN, CAT, ROBO)
    return made


class TestBoards:
    async def test_best_shows_times_moves_and_races_and_ones_own_row(self, office: Office) -> None:
        await office.submit(best_board(GAME), BEN, 900, 1, RowInfo(race="r1", time=900, home=13, moves=8))
        await office.submit(best_board(GAME), ANN, 950, 2, RowInfo(race="r2", time=950, home=13, moves=9))
        told = await office.board("best", limit=1)
        assert told.rows == (BoardRow(place=1, player=BEN, time=900, moves=8, race="r1"),)
        assert told.you == BoardRow(place=2, player=ANN, time=950, moves=9, race="r2")
        assert (told.board, told.variant, told.total) == ("best", GAME, 2)

    async def test_daily_has_winners_by_time_and_the_others_by_cards_home(self, office: Office) -> None:
        board = daily_board(DAY, GAME)
        await office.submit(board, CAT, NOT_WON + FULL_HOME - 4, 1, RowInfo(race="r3", home=4, moves=2))
        await office.submit(board, BEN, NOT_WON + FULL_HOME - 12, 2, RowInfo(race="r2", home=12, moves=7))
        await office.submit(board, ANN, 9_000_000, 3, RowInfo(race="r1", time=9_000_000, home=13, moves=9))
        told = await office.board("daily")
        assert [(row.place, row.player.id, row.time, row.home) for row in told.rows] == [
            (1, "ann", 9_000_000, 13),
            (2, "ben", None, 12),
            (3, "cat", None, 4),
        ]

    async def test_daily_is_todays_unless_another_date_is_named(self, office: Office) -> None:
        await office.shell.store.daily.secret(DAY, GAME)
        await office.submit(daily_board(DAY, GAME), ANN, 9)
        assert (await office.board("daily")).total == 1
        office.now = closes_at(DAY)
        assert (await office.board("daily")).total == 0
        assert (await office.board("daily", date=DAY.isoformat())).total == 1

    @pytest.mark.parametrize("days", [1, 400, -1])
    async def test_a_day_that_was_none_is_not_found(self, office: Office, days: int) -> None:
        with pytest.raises(Refused) as refused:
            await office.board("daily", date=(DAY + timedelta(days=days)).isoformat())
        assert (refused.value.code, refused.value.field) == (ErrorCode.NOT_FOUND, "date")

    async def test_a_deal_has_a_board_of_its_own_and_its_number_is_needed(self, office: Office) -> None:
        await office.submit(deal_board(GAME, 617), ANN, 9)
        assert (await office.board("deal", deal=617)).total == 1
        assert (await office.board("deal", deal=618)).total == 0
        with pytest.raises(BadMessage) as bad:
            await office.board("deal")
        assert bad.value.field == "deal"

    @pytest.mark.parametrize(("field", "fields"), [("board", {"board": "fame"}), ("variant", {"variant": "whist"})])
    async def test_what_there_is_not_is_not_found(self, office: Office, field: str, fields: dict[str, str]) -> None:
        with pytest.raises(Refused) as refused:
            await office.board(**{"board": "best", **fields})
        assert (refused.value.code, refused.value.field) == (ErrorCode.NOT_FOUND, field)

    async def test_ratings_are_whole_numbers_the_highest_first(self, office: Office) -> None:
        steps = tuple(
            RatingStep(who.id, 1, who.bot, Skill(), Skill(mu=mu, sigma=2.0, games=1))
            for who, mu in ((ANN, 20.01), (BEN, 30.0), (ROBO, 40.0))
        )
        await office.shell.store.ratings.apply(GAME, "r", Applied(1, steps))
        told = await office.board("rating")
        assert [(row.place, row.player.name, row.rating) for row in told.rows] == [
            (1, "Robo", 2360),
            (2, "Ben", 1960),
            (3, "Ann", 1560),
        ]
        people = await office.board("rating", bots=False)
        assert [(row.place, row.player.name) for row in people.rows] == [(1, "Ben"), (2, "Ann")]
        assert [row.player.bot for row in told.rows] == [True, False, False], "the mark is shown"

    async def test_streaks_are_days_and_go_when_a_day_has_passed_without_a_win(self, office: Office) -> None:
        yesterday, before = DAY - timedelta(days=1), DAY - timedelta(days=2)
        await office.streak(ANN, yesterday, before)
        await office.streak(BEN, DAY)
        await office.streak(CAT, before)
        told = await office.board("streak")
        assert [(row.place, row.player.id, row.streak) for row in told.rows] == [(1, "ann", 2), (2, "ben", 1)]
        assert told.total == 2
        office.now = closes_at(DAY) - 1
        assert (await office.board("streak")).total == 2
        office.now = closes_at(DAY)
        told = await office.board("streak")
        assert [(row.place, row.player.id) for row in told.rows] == [(1, "ben")]
        assert told.you is None, "one's own goes as well"

    async def test_a_streak_that_is_gone_comes_back_longer_if_it_was_won_in_time(self, office: Office) -> None:
        """An attempt that began before midnight and is won after it."""
        await office.streak(ANN, DAY - timedelta(days=1))
        office.now = closes_at(DAY) + 600_000
        assert (await office.board("streak")).total == 0
        await office.streak(ANN, DAY)
        assert [row.streak for row in (await office.board("streak")).rows] == [2]

    async def test_around_is_centred_on_who_asks(self, office: Office) -> None:
        for n, who in enumerate((BEN, ROBO, ANN, CAT)):
            await office.submit(best_board(GAME), who, 10 * n)
        told = await office.board("best", around=True, limit=2)
        assert [row.player.id for row in told.rows] == ["robo", "ann"]

    async def test_players_who_are_no_more_are_not_shown(self, office: Office) -> None:
        await office.submit(best_board(GAME), Player(id="gone", name="Gone", bot=False), 1)
        told = await office.board("best", asking=Player(id="gone", name="Gone", bot=False))
        assert (told.rows, told.you) == ((), None)


class TestProfiles:
    async def test_a_profile_has_records_by_game_and_the_rating_of_each(self, office: Office) -> None:
        store = office.shell.store
        await store.profiles.finish(Finished("ann", GAME, "r1", True, 5, 900))
        await store.profiles.finish(Finished("ann", "freecell", "r2", False, 6, None))
        step = RatingStep("ann", 1, False, Skill(), Skill(mu=30.0, sigma=2.0, games=1))
        await store.ratings.apply(GAME, "r1", Applied(5, (step,)))
        profile = await office.competition.profile("ben", PlayerGet(player="ann"))
        assert profile.identity.player == ANN
        assert profile.identity.since == 7
        assert profile.games == {
            "freecell": GameRecord(played=1, won=0, streak=0, best_streak=0),
            GAME: GameRecord(played=1, won=1, streak=1, best_streak=1, best_time=900, rating=1960),
        }

    async def test_without_a_name_it_is_ones_own(self, office: Office) -> None:
        assert (await office.competition.profile("ben", PlayerGet())).identity.player == BEN

    async def test_who_is_not_there_is_not_found(self, office: Office) -> None:
        with pytest.raises(Refused) as refused:
            await office.competition.profile("ann", PlayerGet(player="nobody"))
        assert refused.value.code == ErrorCode.NOT_FOUND

    async def test_recent_races_are_those_that_ended_the_newest_first_private_ones_for_oneself(
        self, office: Office, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        shell = office.shell
        ended = []
        for n, settings in enumerate((SHORT, replace(SHORT, private=True), SHORT)):
            office.now += 1_000 * n
            race = await shell.race(ANN, BEN, start_in=-5_000, settings=settings)
            for who in (ANN, BEN):
                race = await shell.append(race, Done(who.id, EntrantStatus.CONCEDED, Tally()))
            async with shell.attended(race, FakeMember(ANN)) as referee:
                await referee.wake()
                await referee.finish()
            ended.append(race.id)
        await shell.race(ANN)
        assert await self.recent(office, asking="ann") == ended[::-1]
        assert await self.recent(office, asking="ben") == [ended[2], ended[0]]
        assert await self.recent(office, asking="") == [ended[2], ended[0]]
        assert RECENT == 20

    async def recent(self, office: Office, asking: str) -> list[str]:
        profile = await office.competition.profile(asking, PlayerGet(player="ann"))
        return [head.race.id for head in profile.recent]
