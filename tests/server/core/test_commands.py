"""What a command makes true of a race, state by state; what refuses it; and who wakes it when."""

from __future__ import annotations

import pytest
from msgspec.structs import replace

from cellrace.errors import ErrorCode, Refused
from cellrace.messages import CancelReason, Ends, EntrantStatus, LeftReason, RaceKind, Settings
from cellrace_server.core.commands import (
    FACTS_LIMIT,
    Begin,
    Command,
    Concede,
    Delay,
    Forfeit,
    Join,
    Kick,
    Leave,
    Rematch,
    SetReady,
    Start,
    Wake,
    decide,
)
from cellrace_server.core.facts import (
    Cancelled,
    CountdownBegan,
    Done,
    Joined,
    Left,
    Over,
    ReadySet,
    Rematched,
    Tally,
)
from cellrace_server.core.race import (
    IDLE_CANCEL,
    LATE_COMMITS,
    NEVER_ENTERED,
    OFFLINE_REMOVAL,
    Race,
    deadline,
    standings,
)
from tests.server.races import (
    ANN,
    BEN,
    BORN,
    CAT,
    DAN,
    START,
    after,
    begun,
    carried_out,
    done,
    new_race,
    open_race,
    player,
    with_settings,
)

NOW = BORN + 1_000
LIMIT = START + 1_800_000
"""The time limit of a race with the default settings."""
TALLY = Tally(12, 5, 11, 1)
WON, CONCEDED, TIMED_OUT = EntrantStatus.WON, EntrantStatus.CONCEDED, EntrantStatus.TIMED_OUT
FORFEITED, ABANDONED = EntrantStatus.FORFEITED, EntrantStatus.ABANDONED


def refusal(race: Race, command: Command, now: int = NOW) -> ErrorCode:
    with pytest.raises(Refused) as refused:
        decide(race, command, now)
    return ErrorCode(refused.value.code)


def wake(race: Race, now: int, absent: dict[str, int] | None = None, **tallies: Tally) -> list[object]:
    return list(decide(race, Wake(absent or {}, tallies), now))


class TestJoining:
    def test_a_player_becomes_an_entrant(self) -> None:
        assert decide(open_race(ANN), Join(BEN), NOW) == [Joined(BEN)]

    def test_again_changes_nothing_in_any_state(self) -> None:
        for race, now in ((open_race(ANN), NOW), (begun(ANN, BEN), START - 1), (begun(ANN, BEN), START)):
            assert decide(race, Join(ANN), now) == []

    def test_the_last_seat_is_taken_and_no_more(self) -> None:
        two = Settings(seats=2)
        assert decide(open_race(ANN, settings=two), Join(BEN), NOW) == [Joined(BEN)]
        assert refusal(open_race(ANN, BEN, settings=two), Join(CAT)) is ErrorCode.RACE_FULL

    def test_bots_stay_out_where_they_are_not_wanted(self) -> None:
        bot = player("Bot", bot=True)
        assert decide(open_race(ANN), Join(bot), NOW) == [Joined(bot)]
        assert refusal(open_race(ANN, settings=Settings(bots=False)), Join(bot)) is ErrorCode.BOTS_NOT_ALLOWED

    def test_the_first_to_join_is_host_and_before_that_whoever_created_it(self) -> None:
        assert new_race().host == "ann"
        assert open_race(BEN, ANN).host == "ben"


class TestReadiness:
    def test_an_entrant_is_ready_and_not_again(self) -> None:
        assert decide(open_race(ANN), SetReady("ann", True), NOW) == [ReadySet("ann", True)]
        assert decide(open_race(ANN, ready=True), SetReady("ann", False), NOW) == [ReadySet("ann", False)]

    def test_what_holds_already_is_no_new_fact(self) -> None:
        assert decide(open_race(ANN, ready=True), SetReady("ann", True), NOW) == []

    def test_only_an_entrant_can_be_ready(self) -> None:
        assert refusal(open_race(ANN), SetReady("ben", True)) is ErrorCode.NOT_ENTRANT

    @pytest.mark.parametrize("command", [SetReady("ann", True), Join(BEN)])
    def test_a_record_does_not_grow_for_ever_by_those_who_cannot_decide(self, command: Command) -> None:
        race = replace(open_race(ANN, CAT), version=FACTS_LIMIT)
        assert decide(replace(race, version=FACTS_LIMIT - 1), command, NOW) != []
        assert refusal(race, command) is ErrorCode.NOT_ALLOWED
        assert decide(race, Leave("ann"), NOW) == [Left("ann", LeftReason.LEFT)]


class TestLeaving:
    def test_an_open_race_just_goes_on_without_the_one_who_left(self) -> None:
        assert decide(open_race(ANN, BEN), Leave("ann"), NOW) == [Left("ann", LeftReason.LEFT)]

    def test_the_host_role_passes_to_whoever_joined_next(self) -> None:
        assert carried_out(open_race(ANN, BEN, CAT), Leave("ann"), NOW).host == "ben"

    def test_the_last_one_cancels_the_race(self) -> None:
        assert decide(open_race(ANN), Leave("ann"), NOW) == [
            Left("ann", LeftReason.LEFT),
            Cancelled(CancelReason.EMPTY),
        ]

    @pytest.mark.parametrize("now", [START - 1, START])
    def test_from_the_countdown_on_it_is_a_forfeit(self, now: int) -> None:
        assert decide(begun(ANN, BEN, CAT), Leave("ann", TALLY), now) == [Done("ann", FORFEITED, TALLY)]

    def test_if_all_forfeit_before_the_start_the_race_is_cancelled(self) -> None:
        race = carried_out(begun(ANN, BEN), Leave("ann"), START - 2)
        assert decide(race, Leave("ben"), START - 1) == [
            Done("ben", FORFEITED, Tally()),
            Cancelled(CancelReason.ALL_FORFEITED),
        ]

    def test_if_the_last_one_forfeits_at_the_start_the_race_is_over(self) -> None:
        race = carried_out(begun(ANN, BEN), Leave("ann"), START - 1)
        race = carried_out(race, Leave("ben"), START)
        assert race.cancelled is None
        assert wake(race, START) == [Over(standings(race))]

    def test_whoever_is_done_may_leave_and_nothing_changes(self) -> None:
        race = done(begun(ANN, BEN), "ann", WON)
        assert decide(race, Leave("ann"), START + 61_000) == []

    def test_again_changes_nothing_as_long_as_one_has_not_come_back(self) -> None:
        race = carried_out(open_race(ANN, BEN), Leave("ben"), NOW)
        assert decide(race, Leave("ben"), NOW) == []
        assert decide(after(race, Joined(BEN)), Leave("ben"), NOW) == [Left("ben", LeftReason.LEFT)]

    def test_who_was_removed_has_not_left(self) -> None:
        assert (
            refusal(after(open_race(ANN, BEN), Left("ben", LeftReason.KICKED)), Leave("ben")) is ErrorCode.NOT_ENTRANT
        )

    def test_a_race_that_has_ended_may_be_left(self) -> None:
        assert decide(after(open_race(ANN), Cancelled(CancelReason.EMPTY)), Leave("ann"), NOW) == []

    def test_only_an_entrant_can_leave(self) -> None:
        assert refusal(open_race(ANN), Leave("ben")) is ErrorCode.NOT_ENTRANT


class TestStarting:
    def test_the_host_starts_with_those_who_are_ready_and_the_others_are_removed(self) -> None:
        race = after(open_race(ANN, BEN, CAT, DAN), ReadySet("cat", True), ReadySet("ben", True))
        assert decide(race, Start("ann", "c"), NOW) == [
            Left("ann", LeftReason.NOT_READY),
            Left("dan", LeftReason.NOT_READY),
            CountdownBegan(NOW + 5_000, "c"),
        ]

    def test_two_must_be_ready(self) -> None:
        race = after(open_race(ANN, BEN), ReadySet("ann", True))
        assert refusal(race, Start("ann", "c")) is ErrorCode.TOO_FEW

    def test_one_is_enough_where_there_is_one_seat(self) -> None:
        race = open_race(ANN, ready=True, settings=Settings(seats=1, countdown=0))
        assert decide(race, Start("ann", "c"), NOW) == [CountdownBegan(NOW, "c")]

    def test_only_the_host_starts(self) -> None:
        race = open_race(ANN, BEN, ready=True)
        assert refusal(race, Start("ben", "c")) is ErrorCode.NOT_HOST
        assert refusal(race, Start("dan", "c")) is ErrorCode.NOT_HOST

    def test_whoever_created_it_and_is_not_in_it_is_no_host(self) -> None:
        assert refusal(new_race(), Start("ann", "c")) is ErrorCode.NOT_HOST


class TestKicking:
    def test_the_host_removes_an_entrant(self) -> None:
        assert decide(open_race(ANN, BEN), Kick("ann", "ben"), NOW) == [Left("ben", LeftReason.KICKED)]

    def test_only_the_host_kicks(self) -> None:
        assert refusal(open_race(ANN, BEN), Kick("ben", "ann")) is ErrorCode.NOT_HOST

    def test_whoever_is_not_there_is_not_found(self) -> None:
        assert refusal(open_race(ANN, BEN), Kick("ann", "dan")) is ErrorCode.NOT_FOUND

    def test_a_host_who_is_alone_and_removes_herself_cancels_the_race(self) -> None:
        assert decide(open_race(ANN), Kick("ann", "ann"), NOW)[-1] == Cancelled(CancelReason.EMPTY)


@pytest.mark.parametrize(("command", "status"), [(Concede, CONCEDED), (Forfeit, FORFEITED)])
class TestStopping:
    def test_an_entrant_stops_with_the_game_as_far_as_it_came(
        self, command: type[Concede | Forfeit], status: EntrantStatus
    ) -> None:
        assert decide(begun(ANN, BEN), command("ann", TALLY), START) == [Done("ann", status, TALLY)]

    def test_whoever_is_done_cannot_stop_again(self, command: type[Concede | Forfeit], status: EntrantStatus) -> None:
        race = done(begun(ANN, BEN), "ann", status)
        assert refusal(race, command("ann", TALLY), START + 61_000) is ErrorCode.ALREADY_DONE

    def test_not_before_the_start(self, command: type[Concede | Forfeit], status: EntrantStatus) -> None:
        assert refusal(begun(ANN, BEN), command("ann", TALLY), START - 1) is ErrorCode.NOT_STARTED

    def test_only_an_entrant_can_stop(self, command: type[Concede | Forfeit], status: EntrantStatus) -> None:
        assert refusal(begun(ANN, BEN), command("dan", TALLY), START) is ErrorCode.NOT_ENTRANT

    def test_the_last_one_leaves_nothing_to_wait_for(
        self, command: type[Concede | Forfeit], status: EntrantStatus
    ) -> None:
        race = carried_out(done(begun(ANN, BEN), "ben", WON), command("ann", TALLY), START + 61_000)
        assert deadline(race, {}) == 0
        assert wake(race, START + 61_000) == [Over(standings(race))]


class TestBeginning:
    def test_the_countdown_begins_when_all_are_ready(self) -> None:
        assert decide(open_race(ANN, BEN, ready=True), Begin("c"), NOW) == [CountdownBegan(NOW + 5_000, "c")]

    def test_and_not_when_somebody_is_not_ready_any_more(self) -> None:
        race = after(open_race(ANN, BEN, ready=True), ReadySet("ben", False))
        assert decide(race, Begin("c"), NOW) == []

    def test_one_is_not_enough_where_there_are_more_seats(self) -> None:
        assert decide(open_race(ANN, ready=True), Begin("c"), NOW) == []

    def test_without_a_deal_all_are_unready_and_the_race_is_open(self) -> None:
        race = open_race(ANN, BEN, ready=True)
        assert decide(race, Delay(), NOW) == [ReadySet("ann", False), ReadySet("ben", False)]


class TestRematching:
    def test_a_race_that_is_over_has_its_one_successor(self) -> None:
        finished = done(done(begun(ANN, BEN), "ann", WON), "ben", CONCEDED)
        race = after(finished, Over(standings(finished)))
        assert decide(race, Rematch("ben", "s"), START + 90_000) == [Rematched("s")]
        assert decide(after(race, Rematched("s")), Rematch("ann", "s"), START + 90_000) == []

    def test_only_an_entrant_asks_for_a_rematch(self) -> None:
        assert refusal(begun(ANN, BEN), Rematch("dan", "s"), START) is ErrorCode.NOT_ENTRANT


class TestWakingAnOpenRace:
    def test_an_entrant_offline_for_thirty_seconds_is_removed(self) -> None:
        race = open_race(ANN, BEN, CAT)
        gone = {"ben": NOW}
        assert wake(race, NOW + OFFLINE_REMOVAL - 1, gone) == []
        assert wake(race, NOW + OFFLINE_REMOVAL, gone) == [Left("ben", LeftReason.OFFLINE)]

    def test_without_anyone_online_it_is_cancelled(self) -> None:
        assert wake(open_race(ANN, BEN), NOW + OFFLINE_REMOVAL, {"ann": NOW, "ben": NOW})[-1] == Cancelled(
            CancelReason.EMPTY
        )

    def test_unchanged_for_thirty_minutes_it_is_cancelled(self) -> None:
        race = open_race(ANN, BEN)
        assert wake(race, BORN + IDLE_CANCEL - 1) == []
        assert wake(race, BORN + IDLE_CANCEL) == [Cancelled(CancelReason.UNCHANGED)]

    def test_whoever_has_created_it_is_given_time_to_enter_it(self) -> None:
        """A race is on record before its first entrant: a wake in between must not take it away."""
        assert wake(new_race(), BORN + NEVER_ENTERED - 1) == []
        assert wake(new_race(), BORN + NEVER_ENTERED) == [Cancelled(CancelReason.EMPTY)]
        assert deadline(new_race(), {}) == BORN + NEVER_ENTERED


class TestWakingARunningRace:
    def test_an_entrant_gone_for_longer_than_grace_is_abandoned(self) -> None:
        race, gone = begun(ANN, BEN), {"ben": START + 7_000}
        assert wake(race, START + 7_000 + 119_999, gone, ben=TALLY) == []
        assert wake(race, START + 7_000 + 120_000, gone, ben=TALLY) == [Done("ben", ABANDONED, TALLY)]

    def test_grace_begins_at_the_start_for_whoever_went_before(self) -> None:
        race, gone = begun(ANN, BEN), {"ben": START - 4_000}
        assert wake(race, START + 119_999, gone) == []
        assert wake(race, START + 120_000, gone) == [Done("ben", ABANDONED, Tally())]

    def test_a_daily_attempt_has_no_grace(self) -> None:
        solo = after(new_race(Settings(seats=1), kind=RaceKind.DAILY), Joined(ANN), CountdownBegan(START, "c"))
        assert wake(solo, START + 1_000_000, {"ann": START}) == []
        assert deadline(solo, {"ann": START}) == LIMIT + LATE_COMMITS

    def test_the_time_limit_times_out_who_still_plays_two_seconds_late(self) -> None:
        race = done(begun(ANN, BEN, CAT), "cat", WON)
        assert wake(race, LIMIT + LATE_COMMITS - 1) == []
        assert wake(race, LIMIT + LATE_COMMITS, ann=TALLY) == [
            Done("ann", TIMED_OUT, TALLY),
            Done("ben", TIMED_OUT, Tally()),
        ]

    def test_the_first_win_ends_a_race_that_is_to_end_so(self) -> None:
        race = done(begun(ANN, BEN, CAT, settings=Settings(seats=4, ends=Ends.FIRST_WIN)), "cat", WON)
        assert deadline(race, {}) == 0
        assert wake(race, START + 60_000, ann=TALLY) == [
            Done("ann", TIMED_OUT, TALLY),
            Done("ben", TIMED_OUT, Tally()),
        ]
        assert wake(with_settings(race, ends=Ends.ALL), START + 60_000) == []

    def test_it_is_over_when_every_entrant_is_done_and_not_before(self) -> None:
        race = done(begun(ANN, BEN), "ann", WON)
        assert wake(race, START + 61_000) == []
        race = done(race, "ben", CONCEDED)
        assert wake(race, START + 61_000) == [Over(standings(race))]

    def test_it_is_over_and_not_cancelled_also_by_a_clock_that_has_not_seen_it_begin(self) -> None:
        """What is on record says that it has begun (a seed of the simulation)."""
        race = done(done(begun(ANN, BEN), "ann", WON, at=START + 700), "ben", WON, at=START + 800)
        assert wake(race, START - 5_000) == [Over(standings(race))]

    @pytest.mark.parametrize(("measured", "taken_off"), [(34, 34), (250, 250), (251, 250), (9_999, 250)])
    def test_a_winners_time_is_from_the_start_to_the_stamp_less_latency_up_to_its_cap(
        self, measured: int, taken_off: int
    ) -> None:
        race = done(begun(ANN, BEN), "ann", WON, at=START + 61_234, latency=measured)
        (first,) = standings(race)
        assert (first.raw, first.latency, first.time) == (61_234, taken_off, 61_234 - taken_off)


class TestDeadlines:
    @pytest.mark.parametrize(
        ("race", "absent", "instant"),
        [
            pytest.param(open_race(ANN, BEN), {}, BORN + IDLE_CANCEL, id="open: idle"),
            pytest.param(open_race(ANN, BEN), {"ben": NOW}, NOW + OFFLINE_REMOVAL, id="open: somebody is gone"),
            pytest.param(open_race(ANN, BEN, ready=True), {}, 0, id="all ready: now"),
            pytest.param(
                open_race(ANN, BEN, ready=True), {"ben": NOW}, NOW + OFFLINE_REMOVAL, id="all ready, one is gone"
            ),
            pytest.param(begun(ANN, BEN), {}, LIMIT + LATE_COMMITS, id="running: the limit"),
            pytest.param(begun(ANN, BEN), {"ben": START + 1}, START + 120_001, id="running: grace"),
            pytest.param(begun(ANN, BEN), {"ben": START - 9_000}, START + 120_000, id="grace from the start on"),
            pytest.param(done(begun(ANN, BEN), "ben", WON), {"ben": START}, LIMIT + LATE_COMMITS, id="gone when done"),
            pytest.param(after(open_race(ANN), Cancelled(CancelReason.EMPTY)), {}, None, id="cancelled: never"),
        ],
    )
    def test_when_a_race_must_be_woken_next(self, race: Race, absent: dict[str, int], instant: int | None) -> None:
        assert deadline(race, absent) == instant
