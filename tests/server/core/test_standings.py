"""Standings: who is better than whom, shared places, times (protocol, section 4)."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from cellrace.messages import EntrantStatus
from cellrace_server.core.standings import Finish, placed, rank
from tests.server.races import player

WON, CONCEDED, TIMED_OUT = EntrantStatus.WON, EntrantStatus.CONCEDED, EntrantStatus.TIMED_OUT
FORFEITED, ABANDONED = EntrantStatus.FORFEITED, EntrantStatus.ABANDONED


def finish(name: str, status: EntrantStatus, home: int = 0, raw: int | None = None, latency: int = 0) -> Finish:
    return Finish(player(name), status, home, moves=80, undos=3, raw=raw, latency=latency)


def places(*finishes: Finish) -> list[tuple[str, int]]:
    return [(standing.player.name, standing.place) for standing in rank(finishes)]


def test_winners_come_first_by_time_then_those_who_stopped_by_cards_home_then_those_who_gave_up() -> None:
    assert places(
        finish("Abe", ABANDONED, home=40),
        finish("Fay", FORFEITED, home=51),
        finish("Tom", TIMED_OUT, home=20),
        finish("Con", CONCEDED, home=30),
        finish("Win", WON, home=52, raw=90_000),
        finish("Van", WON, home=52, raw=80_000),
    ) == [("Van", 1), ("Win", 2), ("Con", 3), ("Tom", 4), ("Fay", 5), ("Abe", 6)]


def test_equals_share_a_place_and_the_next_one_is_skipped() -> None:
    two = [finish("Ann", WON, 52, 70_000), finish("Ben", WON, 52, 70_100, latency=100)]
    assert places(*two, finish("Cat", WON, 52, 70_001)) == [("Ann", 1), ("Ben", 1), ("Cat", 3)]
    assert places(finish("Con", CONCEDED, 9), finish("Tom", TIMED_OUT, 9), finish("Fay", FORFEITED, 9)) == [
        ("Con", 1),
        ("Tom", 1),
        ("Fay", 3),
    ]


@pytest.mark.parametrize(
    ("raw", "latency", "time"),
    [(60_000, 0, 60_000), (60_000, 80, 59_920), (100, 200, 0), (0, 0, 0)],
)
def test_a_winners_time_is_raw_less_the_latency(raw: int, latency: int, time: int) -> None:
    (standing,) = rank((finish("Ann", WON, 52, raw, latency),))
    assert standing.time == time
    assert standing.raw == raw
    assert standing.latency == latency


@pytest.mark.parametrize("status", [CONCEDED, TIMED_OUT, FORFEITED, ABANDONED])
def test_only_winners_have_times(status: EntrantStatus) -> None:
    (standing,) = rank((finish("Ann", status, 12),))
    assert (standing.time, standing.raw, standing.latency) == (None, None, None)
    assert (standing.home, standing.moves, standing.undos) == (12, 80, 3)


@st.composite
def finishes(draw: st.DrawFn) -> tuple[Finish, ...]:
    """Any ends of up to eight games, with few different values, so that there are ties."""
    ended = []
    for number in range(draw(st.integers(0, 8))):
        status = draw(st.sampled_from([WON, CONCEDED, TIMED_OUT, FORFEITED, ABANDONED]))
        raw = draw(st.integers(0, 4)) * 100 if status is WON else None
        home = 52 if status is WON else draw(st.integers(0, 3))
        ended.append(finish(f"P{number}", status, home, raw, draw(st.sampled_from([0, 100, 200]))))
    return tuple(ended)


def better(one: Finish, other: Finish) -> bool:
    """What the protocol says, told in another way."""
    groups = {WON: 0, CONCEDED: 1, TIMED_OUT: 1, FORFEITED: 2, ABANDONED: 2}
    if groups[one.status] != groups[other.status]:
        return groups[one.status] < groups[other.status]
    if one.status is WON:
        assert one.time is not None
        assert other.time is not None
        return one.time < other.time
    return one.home > other.home


@given(finishes())
def test_a_place_is_one_more_than_the_number_who_are_better(ended: tuple[Finish, ...]) -> None:
    standings = rank(ended)
    by_player = {end.player.id: end for end in ended}
    assert sorted(s.player.id for s in standings) == sorted(by_player)
    for standing in standings:
        mine = by_player[standing.player.id]
        assert standing.place == 1 + sum(better(other, mine) for other in ended)
    assert [s.place for s in standings] == sorted(s.place for s in standings)


@given(finishes(), st.randoms(use_true_random=False))
def test_places_do_not_depend_on_the_order_of_finishing_and_ties_keep_it(
    ended: tuple[Finish, ...],
    source: object,
) -> None:
    order = list(ended)
    source.shuffle(order)  # type: ignore[attr-defined]  # Hypothesis draws a random.Random
    assert {s.player.id: s.place for s in rank(tuple(order))} == {s.player.id: s.place for s in rank(ended)}
    for place in {s.place for s in rank(tuple(order))}:
        tied = [s.player.id for s in rank(tuple(order)) if s.place == place]
        assert tied == [end.player.id for end in order if end.player.id in tied]


@given(finishes())
def test_the_place_of_one_is_told_as_in_the_standings_of_all(ended: tuple[Finish, ...]) -> None:
    assert {placed(end, ended) for end in ended} == set(rank(ended))
