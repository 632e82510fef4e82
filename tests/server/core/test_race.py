"""A race as a value: its state and its entrants' at every instant, and what each fact makes of it."""

from __future__ import annotations

import pytest
from msgspec.structs import replace

from cellrace.messages import CancelReason, EntrantStatus, LeftReason, RaceKind, RaceState
from cellrace_server.core.facts import Cancelled, Left, Over, Rematched
from cellrace_server.core.race import (
    NEVER_ENTERED,
    Race,
    deadline,
    final_standings,
    standing_of,
    standings,
    unentered_until,
)
from tests.server.races import ANN, BEN, BORN, CAT, START, after, begun, done, new_race, open_race, with_settings

RUN = begun(ANN, BEN, CAT)
FINISHED = done(
    done(done(RUN, "ben", EntrantStatus.WON), "cat", EntrantStatus.CONCEDED, home=9), "ann", EntrantStatus.WON
)


@pytest.mark.parametrize(
    ("race", "now", "state"),
    [
        (open_race(ANN, BEN, ready=True), START + 1, RaceState.OPEN),
        (RUN, START - 1, RaceState.COUNTDOWN),
        (RUN, START, RaceState.RUNNING),
        (FINISHED, START, RaceState.RUNNING),
        (after(FINISHED, Over(standings(FINISHED))), START - 1, RaceState.OVER),
        (after(RUN, Cancelled(CancelReason.ALL_FORFEITED)), START, RaceState.CANCELLED),
    ],
)
def test_its_state_follows_from_its_facts_and_the_clock(race: Race, now: int, state: RaceState) -> None:
    assert race.state(now) is state
    assert race.ended is (state in (RaceState.OVER, RaceState.CANCELLED))


@pytest.mark.parametrize(
    ("race", "status"),
    [
        (open_race(ANN), EntrantStatus.JOINED),
        (open_race(ANN, ready=True), EntrantStatus.READY),
        (RUN, EntrantStatus.PLAYING),
        (done(RUN, "ann", EntrantStatus.FORFEITED), EntrantStatus.FORFEITED),
    ],
)
def test_an_entrant_is_there_then_ready_then_playing_then_done(race: Race, status: EntrantStatus) -> None:
    ann = race.entrant("ann")
    assert ann is not None
    assert race.status(ann) is status


def test_each_standing_is_the_one_among_all_of_those_who_are_done() -> None:
    some = done(RUN, "cat", EntrantStatus.CONCEDED, home=9)
    assert [standing_of(some, who.id) for who in (ANN, BEN)] == [None, None]
    assert standing_of(some, "dan") is None
    assert (standing_of(some, "cat"),) == standings(some)
    assert {standing_of(FINISHED, who.id) for who in (ANN, BEN, CAT)} == set(standings(FINISHED))
    assert standings(FINISHED) == final_standings(FINISHED)


def test_a_fact_leaves_its_version_its_command_and_its_instant() -> None:
    race = after(RUN, Rematched("next"), at=START + 7)
    assert (race.version, race.last_id, race.changed_at) == (RUN.version + 1, f"c{RUN.version + 1}", START + 7)
    assert race.successor == "next"


def test_only_who_has_left_of_oneself_is_a_leaver() -> None:
    race = after(open_race(ANN, BEN, CAT), Left("ben", LeftReason.LEFT), Left("cat", LeftReason.OFFLINE))
    assert [entrant.player for entrant in race.entrants] == [ANN]
    assert race.leavers == ("ben",)


def test_a_race_that_nobody_has_entered_waits_a_minute_and_an_attempt_for_its_time_limit() -> None:
    race = with_settings(new_race(), time_limit=900)
    daily = replace(race, kind=RaceKind.DAILY)
    for never, until in ((race, BORN + NEVER_ENTERED), (daily, BORN + 900_000)):
        assert unentered_until(never) == deadline(never, {}) == until
