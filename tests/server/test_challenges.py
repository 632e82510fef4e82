"""The daily challenge: one deal a day, one attempt a player, whatever dies or is asked at once; days by the clock."""

from __future__ import annotations

import asyncio
from datetime import date, timedelta

import pytest

from cellrace.commitment import commitment
from cellrace.errors import ErrorCode, Refused
from cellrace.messages import (
    Daily,
    DailyAttempt,
    DailyGet,
    DailyPractice,
    DailyStart,
    EntrantStatus,
    RaceKind,
    RaceState,
)
from cellrace.variants import MAIN_VARIANTS
from cellrace_server.challenges import Challenges
from cellrace_server.core.daily import TIME_LIMIT, closes_at, day_of, opens_at, published_at
from cellrace_server.core.facts import Done, Tally
from cellrace_server.core.race import LATE_COMMITS, Race
from cellrace_server.net.views import race_answer, started_push
from cellrace_server.referee import Referee
from cellrace_server.results import effects_of
from cellrace_server.room import Room
from cellrace_server.store import keys
from cellrace_server.store.errors import StoreUnavailable
from tests.server.races import ANN, BEN
from tests.server.shell import FakeMember, Shell

GAME = "one-suit"
DAY = date(2031, 5, 17)
NOON = opens_at(DAY) + 12 * 3_600_000
STEPS = ("HGET", "ZADD", "due_expect", "race_create", "race_append", "daily_made", "race_load", "race_open")
"""What a start asks of the store after the claim, by function or command."""


class Desk:
    """The challenges of one node, under a clock that the test sets."""

    def __init__(self, shell: Shell, monkeypatch: pytest.MonkeyPatch) -> None:
        self.shell = shell
        self.challenges = Challenges(shell.store, shell.rooms, shell.admission)
        self.rooms: list[Room] = []
        """The rooms that were answered."""
        self.now = NOON
        monkeypatch.setattr(shell.store.clock, "now", lambda: self.now)

    async def start(self, member: FakeMember | None = None, variant: str = GAME) -> Referee:
        return await self.challenges.start(member or FakeMember(ANN), DailyStart(variant=variant), self.rooms.append)

    async def get(self, day: date | None = None, variant: str = GAME, player: object = ANN) -> Daily:
        asked = DailyGet(variant=variant, date=day.isoformat() if day else None)
        return await self.challenges.get(player, asked)  # type: ignore[arg-type]  # ANN, or None for a stranger

    async def practise(self, day: date = DAY) -> Referee:
        asked = DailyPractice(variant=GAME, date=day.isoformat())
        return await self.challenges.practise(FakeMember(ANN), asked, self.rooms.append)

    async def end(self, race: Race, status: EntrantStatus) -> Race:
        """The race of Ann's game once it has ended, with all that follows."""
        await self.shell.append(race, Done("ann", status, Tally(9, 13, 9, 0)))
        async with self.shell.attended(race) as referee:
            await referee.wake()
            await referee.finish()
            return referee.room.race

    async def race(self, race_id: str) -> Race:
        record = await self.shell.store.races.load(race_id)
        assert record is not None
        return record.race


@pytest.fixture
def desk(here: Shell, monkeypatch: pytest.MonkeyPatch) -> Desk:
    return Desk(here, monkeypatch)


@pytest.fixture
def other(there: Shell, monkeypatch: pytest.MonkeyPatch) -> Desk:
    return Desk(there, monkeypatch)


async def refusal(asked: object) -> Refused:
    with pytest.raises(Refused) as refused:
        await asked  # type: ignore[misc]  # a coroutine of any answer
    return refused.value


class TestDays:
    async def test_today_is_told_with_its_hours_and_its_commitment(self, desk: Desk) -> None:
        told = await desk.get()
        assert (told.date, told.opens_at, told.closes_at) == ("2031-05-17", opens_at(DAY), closes_at(DAY))
        assert (told.published_at, told.now, told.entries) == (closes_at(DAY) + 3_600_000, NOON, 0)
        assert (told.deal, told.salt, told.you) == (None, None, None)

    async def test_its_commitment_is_public_the_day_before_and_holds(self, desk: Desk, other: Desk) -> None:
        tomorrow = DAY + timedelta(days=1)
        before = await desk.get(tomorrow)
        assert before.deal is None
        other.now = published_at(tomorrow)
        after = await other.get(tomorrow)
        assert after.deal is not None
        assert after.salt is not None
        assert before.commitment == after.commitment == commitment(GAME, after.deal, after.salt)

    async def test_deal_and_salt_are_told_from_the_publication_on_and_not_before(self, desk: Desk) -> None:
        await desk.get()
        for now, told in ((closes_at(DAY), False), (published_at(DAY) - 1, False), (published_at(DAY), True)):
            desk.now = now
            found = await desk.get(DAY)
            assert (found.deal is not None, found.salt is not None) == (told, told)

    @pytest.mark.parametrize("days", [2, 30, -1, -400])
    async def test_other_days_are_not_there(self, desk: Desk, days: int) -> None:
        """What nobody has asked for while it was today or tomorrow was no day."""
        assert (await refusal(desk.get(DAY + timedelta(days=days)))).code == ErrorCode.NOT_FOUND

    @pytest.mark.parametrize("variant", ["relaxed", "whist"])
    async def test_other_games_have_none(self, desk: Desk, variant: str) -> None:
        for asked in (desk.get(variant=variant), desk.start(variant=variant)):
            assert (await refusal(asked)).code == ErrorCode.NOT_FOUND

    async def test_the_deals_of_today_and_tomorrow_are_drawn_without_being_asked_for(self, desk: Desk) -> None:
        await desk.challenges.prepare()
        exists = desk.shell.store.daily.exists
        for variant in MAIN_VARIANTS:
            days = [await exists(DAY + timedelta(days=n), variant) for n in (-1, 0, 1, 2)]
            assert days == [False, True, True, False]
        desk.now = closes_at(DAY)
        await desk.challenges.prepare()
        assert await exists(DAY + timedelta(days=2), MAIN_VARIANTS[5])


class TestTheAttempt:
    async def test_it_runs_at_once_with_the_layout_and_without_the_number(self, desk: Desk) -> None:
        referee = await desk.start()
        room = desk.rooms[0]
        told = race_answer(room, "ann", desk.now)
        assert (told.kind, told.state, told.start_at) == (RaceKind.DAILY, RaceState.RUNNING, NOON)
        assert (told.settings.time_limit, told.settings.seats) == (TIME_LIMIT, 1)
        assert told.layout is not None
        assert told.you is not None
        assert (told.deal, told.salt) == (None, None)
        assert told.commitment == (await desk.get()).commitment
        assert room.start is not None
        pushed = started_push(room, room.start, desk.now)
        assert (pushed.deal, pushed.salt) == (None, None)
        assert referee.room.entrants_here.keys() == {"ann"}

    async def test_it_is_on_record_before_the_layout_is_told(self, desk: Desk) -> None:
        gate = desk.shell.link.hold_reply("daily_claim")
        starting = asyncio.create_task(desk.start())
        await gate.reached.wait()
        assert await desk.shell.store.daily.attempt(DAY, GAME, "ann") is not None
        assert desk.rooms == []
        gate.open()
        await starting
        assert len(desk.rooms) == 1

    async def test_everyone_has_the_same_deal(self, desk: Desk, other: Desk) -> None:
        ann, ben = await desk.start(), await other.start(FakeMember(BEN))
        assert ann.room.secret == ben.room.secret == await desk.shell.store.daily.secret(DAY, GAME)
        assert ann.room.id != ben.room.id
        assert (await desk.get()).entries == 2

    async def test_a_second_start_is_refused_and_told_of_the_first(self, desk: Desk, other: Desk) -> None:
        race = (await desk.start()).room.id
        for again in (desk, other):
            refused = await refusal(again.start(FakeMember(ANN, "2.t")))
            assert (refused.code, refused.race) == (ErrorCode.ALREADY_ATTEMPTED, race)
        assert desk.rooms + other.rooms == [desk.rooms[0]]

    async def test_nor_does_it_help_to_have_ended_the_first(self, desk: Desk, other: Desk) -> None:
        referee = await desk.start()
        await desk.end(referee.room.race, EntrantStatus.FORFEITED)
        assert (await refusal(other.start())).code == ErrorCode.ALREADY_ATTEMPTED

    async def test_nor_when_the_race_is_not_kept_any_more(self, desk: Desk) -> None:
        """However few days races are kept: an attempt that was played and has expired is no missing one."""
        race = (await desk.start()).room.id
        await desk.shell.link.command("DEL", keys.race(race))
        assert (await refusal(desk.start())).code == ErrorCode.ALREADY_ATTEMPTED
        assert (await desk.get()).you == DailyAttempt(race=race, status=EntrantStatus.PLAYING, home=0)
        assert await desk.shell.store.races.load(race) is None

    async def test_of_starts_at_two_nodes_at_once_there_is_one_attempt(self, desk: Desk, other: Desk) -> None:
        started = await asyncio.gather(
            *(d.start(FakeMember(ANN, f"{n}.s")) for n in range(3) for d in (desk, other)), return_exceptions=True
        )
        races = {s.room.id if isinstance(s, Referee) else s.race for s in started if isinstance(s, Referee | Refused)}
        assert len(races) == 1
        assert (await desk.get()).entries == 1
        assert await desk.shell.store.players.races("ann") == tuple(races)

    @pytest.mark.parametrize("step", STEPS)
    async def test_a_node_that_dies_on_the_way_leaves_one_attempt_that_can_be_played(
        self, desk: Desk, other: Desk, step: str
    ) -> None:
        """NODES 21: claim first; whoever reads a claim creates the race if it is missing."""
        desk.shell.link.lose_request(step)
        with pytest.raises(StoreUnavailable):
            await desk.start()
        claimed = await other.shell.store.daily.attempt(DAY, GAME, "ann")
        assert claimed is not None
        told = (await other.get()).you
        assert told == DailyAttempt(race=claimed.race, status=EntrantStatus.PLAYING, home=0)
        race = await other.race(claimed.race)
        assert (race.state(NOON), race.start_at) == (RaceState.RUNNING, NOON)
        refused = await refusal(other.start())
        assert (refused.code, refused.race) == (ErrorCode.ALREADY_ATTEMPTED, claimed.race)
        assert (await other.get()).entries == 1
        assert await other.shell.store.players.races("ann") == (claimed.race,), "hello finds it"

    @pytest.mark.parametrize("step", ["HGET", "race_create", "race_append"])
    async def test_an_attempt_that_was_only_claimed_is_begun_by_the_next_start(
        self, desk: Desk, other: Desk, step: str
    ) -> None:
        """Nobody has seen its layout: that start is answered as the first one should have been."""
        desk.shell.link.lose_request(step)
        with pytest.raises(StoreUnavailable):
            await desk.start()
        other.now = NOON + 90_000
        referee = await other.start()
        assert referee.room.race.start_at == NOON, "the claim is what counts, so nobody gains by it"
        assert referee.room.start is not None
        assert (await refusal(other.start())).code == ErrorCode.ALREADY_ATTEMPTED

    async def test_a_sweep_gives_up_no_attempt_that_is_half_made(self, desk: Desk, other: Desk) -> None:
        desk.shell.link.lose_request("race_append")
        with pytest.raises(StoreUnavailable):
            await desk.start()
        other.now = NOON + 120_000
        await other.shell.upkeep.sweep_once()
        assert (await other.start()).room.race.state(other.now) is RaceState.RUNNING

    async def test_a_node_that_holds_the_race_while_it_is_made_knows_it_once_it_is(self, desk: Desk) -> None:
        """As by a sweep, of an attempt that was claimed long before: what a node writes it is not told."""
        gate = desk.shell.link.hold_request("race_append")
        async with asyncio.TaskGroup() as tasks:
            starting = tasks.create_task(desk.start())
            await gate.reached.wait()
            claimed = await desk.shell.store.daily.attempt(DAY, GAME, "ann")
            assert claimed is not None
            async with desk.shell.rooms.hold(claimed.race):
                gate.open()
                room = (await starting).room
        assert room.race.state(NOON) is RaceState.RUNNING
        assert room.released
        assert room.entrants_here.keys() == {"ann"}

    async def test_a_lost_reply_to_the_claim_is_no_second_attempt(self, desk: Desk) -> None:
        desk.shell.link.resend("daily_claim")
        await desk.start()
        assert (await desk.get()).entries == 1

    async def test_an_own_attempt_is_shown_as_it_stands_and_to_nobody_else(self, desk: Desk) -> None:
        referee = await desk.start()
        race = referee.room.id
        assert (await desk.get()).you == DailyAttempt(race=race, status=EntrantStatus.PLAYING, home=0)
        assert (await desk.get(player=BEN)).you is None
        assert (await desk.get(player=None)).you is None
        desk.now = NOON + 50_000
        await desk.end(referee.room.race, EntrantStatus.WON)
        assert (await desk.get()).you == DailyAttempt(
            race=race, status=EntrantStatus.WON, home=13, time=50_000, place=1
        )


class TestMidnight:
    async def test_an_attempt_belongs_to_the_day_on_which_it_began(self, desk: Desk) -> None:
        desk.now = closes_at(DAY) - 1
        referee = await desk.start()
        desk.now = closes_at(DAY) + 1_000_000
        ended = await desk.end(referee.room.race, EntrantStatus.WON)
        assert [won.day for won in effects_of(ended, 1).days] == [DAY]
        assert (await desk.get(DAY)).you is not None
        assert (await desk.get()).you is None

    async def test_the_next_day_has_another_attempt(self, desk: Desk) -> None:
        desk.now = closes_at(DAY) - 1
        first = await desk.start()
        desk.now = closes_at(DAY)
        second = await desk.start()
        assert first.room.id != second.room.id
        assert first.room.secret != second.room.secret

    async def test_it_has_its_whole_time_limit_after_midnight_and_then_ends(self, desk: Desk) -> None:
        desk.now = closes_at(DAY) - 1
        referee = await desk.start()
        race = referee.room.race
        desk.now = closes_at(DAY) + TIME_LIMIT * 1000 - 2
        assert race.state(desk.now) is RaceState.RUNNING
        assert not await referee.wake(), "nobody ends it before its limit"
        desk.now = closes_at(DAY) + TIME_LIMIT * 1000 + LATE_COMMITS
        while await referee.wake():
            pass
        assert referee.room.race.standings is not None
        assert referee.room.race.standings[0].status is EntrantStatus.TIMED_OUT
        assert day_of(race.start_at or 0) == DAY

    async def test_who_is_away_keeps_the_attempt_until_its_limit(self, desk: Desk) -> None:
        """There is no grace: come back and go on, the clock runs."""
        referee = await desk.start()
        await desk.shell.admission.gone(referee, "ann", "1.s", NOON)
        desk.now = NOON + TIME_LIMIT * 1000 - 1
        assert not await referee.wake()
        entrant = referee.room.entrant("ann")
        assert entrant is not None
        assert entrant.done is None


class TestPractice:
    async def test_it_is_too_early_until_the_day_is_published(self, desk: Desk) -> None:
        await desk.get()
        desk.now = published_at(DAY) - 1
        assert (await refusal(desk.practise())).code == ErrorCode.TOO_EARLY
        assert (await refusal(desk.practise(DAY + timedelta(days=4)))).code == ErrorCode.TOO_EARLY
        desk.now = published_at(DAY)
        await desk.practise()

    async def test_it_is_the_days_deal_and_never_counts(self, desk: Desk) -> None:
        deal = (await desk.shell.store.daily.secret(DAY, GAME)).deal
        desk.now = published_at(DAY)
        referee = await desk.practise()
        race = referee.room.race
        told = race_answer(desk.rooms[0], "ann", desk.now)
        assert (told.deal, told.kind, told.state) == (deal, RaceKind.RACE, RaceState.RUNNING)
        assert not race.settings.ranked
        effects = effects_of(await desk.end(race, EntrantStatus.WON), deal)
        assert effects.finished == effects.scores == effects.days == ()

    async def test_it_can_be_played_as_often_as_one_likes(self, desk: Desk) -> None:
        await desk.get()
        desk.now = published_at(DAY)
        assert len({(await desk.practise()).room.id for _ in range(3)}) == 3

    async def test_a_day_that_was_none_cannot_be_practised(self, desk: Desk) -> None:
        assert (await refusal(desk.practise(DAY - timedelta(days=9)))).code == ErrorCode.NOT_FOUND
