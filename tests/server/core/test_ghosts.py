"""Ghosts: how far a finished game has come so long after its start, and how it then stands."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st
from msgspec.structs import replace

from cellrace.autoplay import Autoplay
from cellrace.messages import Ends, EntrantStatus, Placement, Settings
from cellrace_server.core.commands import Wake, decide
from cellrace_server.core.facts import Done, Fact, Stamped, Tally
from cellrace_server.core.ghosts import GhostGame, ghost_id
from cellrace_server.core.race import Race, deadline, evolve, final_standings, standing_of, standings
from cellrace_server.core.standings import Finish
from tests.server.races import ANN, BEN, START, begun, done, player

BOO = player("Boo")
ALONE = Settings(seats=1, deal=617, ranked=False)


def wake(race: Race, now: int) -> list[Fact]:
    """What becomes true by itself."""
    return decide(race, Wake({}, {}), now)


def ghost(*moves: tuple[int, str], ended: int = 9_000, status: EntrantStatus = EntrantStatus.WON) -> GhostGame:
    """Boo's game, won after nine seconds unless it ended otherwise."""
    raw = ended if status is EntrantStatus.WON else None
    finish = Finish(BOO, status, 52, len(moves), 0, raw, at=START + ended)
    return GhostGame(BOO, moves, Autoplay.SAFE, Placement.PLAYER, True, finish, ended)


def test_an_entry_is_played_at_its_time_and_not_before() -> None:
    boo = ghost((1_000, "26"), (1_000, "3a"), (4_000, "7h"))
    assert [boo.entries_until(elapsed) for elapsed in (-1, 0, 999, 1_000, 3_999, 4_000, 10**9)] == [0, 0, 0, 2, 2, 3, 3]


@given(st.lists(st.integers(0, 60_000)).map(sorted), st.integers(-1, 70_000), st.integers(0, 10_000))
def test_a_ghost_goes_on_and_never_back(stamps: list[int], elapsed: int, later: int) -> None:
    boo = ghost(*((at, "u") for at in stamps))
    seq = boo.entries_until(elapsed)
    assert seq == sum(at <= elapsed for at in stamps)
    assert boo.entries_until(elapsed + later) >= seq


def test_it_is_ready_before_the_start_plays_and_then_has_ended_as_it_did() -> None:
    boo = ghost((1_000, "26"), status=EntrantStatus.CONCEDED)
    assert boo.status(begun=False) is EntrantStatus.READY
    assert boo.status(begun=True) is EntrantStatus.PLAYING
    assert replace(boo, done=True).status(begun=True) is EntrantStatus.CONCEDED


def test_its_end_becomes_a_fact_when_its_game_was_over_once() -> None:
    race = replace(begun(ANN, settings=ALONE), ghosts=(ghost((1_000, "26")),))
    assert deadline(race, {}) == START + 9_000
    assert wake(race, START + 8_999) == []
    (fact,) = wake(race, START + 9_000)
    assert fact == Done(BOO.id, EntrantStatus.WON, Tally(1, 52, 1, 0))
    race = evolve(race, Stamped(race.version + 1, "x", START + 9_500, fact))
    assert wake(race, START + 9_600) == []
    assert deadline(race, {}) == deadline(begun(ANN, settings=ALONE), {}), "nothing is left to wait for"


def test_whoever_is_done_after_a_ghost_is_placed_behind_it_at_once() -> None:
    race = replace(begun(ANN, settings=ALONE), ghosts=(ghost((1_000, "26")),))
    (fact,) = wake(race, START + 9_000)
    race = evolve(race, Stamped(race.version + 1, "x", START + 9_500, fact))
    standing = standing_of(race, BOO.id)
    assert standing is not None
    assert (standing.place, standing.time) == (1, 9_000), "its own time, whenever that was written"
    race = done(race, "ann", EntrantStatus.WON, at=START + 10_000)
    assert [(s.player.name, s.place) for s in standings(race)] == [("Boo", 1), ("Ann", 2)]


@pytest.mark.parametrize("ended", [-2_000, 0, 1_000])
def test_a_game_that_was_given_up_before_its_start_ends_with_this_one(ended: int) -> None:
    race = replace(begun(ANN, settings=ALONE), ghosts=(ghost(ended=ended, status=EntrantStatus.FORFEITED),))
    due = START + max(0, ended)
    assert deadline(race, {}) == due
    assert wake(race, due - 1) == []
    assert len(wake(race, due)) == 1


def test_a_ghost_that_wins_ends_no_race_that_the_first_win_ends() -> None:
    settings = replace(ALONE, seats=2, ends=Ends.FIRST_WIN)
    race = replace(begun(ANN, BEN, settings=settings), ghosts=(ghost((1_000, "26")),))
    (fact,) = wake(race, START + 9_000)
    race = evolve(race, Stamped(race.version + 1, "x", START + 9_000, fact))
    assert wake(race, START + 9_100) == []


def test_it_has_an_id_of_its_own_so_that_somebody_can_race_an_own_game() -> None:
    assert ghost_id("ann", "r1") != ghost_id("ann", "r2") != "ann"


def test_a_ghost_is_ranked_with_the_others_once_the_race_is_over() -> None:
    race = replace(begun(ANN, settings=ALONE), ghosts=(ghost((1_000, "26")),))
    race = done(race, "ann", EntrantStatus.WON, at=START + 10_000)
    assert [(s.player.name, s.place) for s in final_standings(race)] == [("Boo", 1), ("Ann", 2)]
    assert [s.player.name for s in standings(race)] == ["Ann"]


def test_nobody_waits_for_a_ghost() -> None:
    """It ends no race and keeps none going: that is for those who live."""
    race = replace(begun(ANN, BEN), ghosts=(ghost((1_000, "26"), ended=3_600_000),))
    alone = begun(ANN, BEN)
    assert deadline(race, {}) == deadline(alone, {})
    for name in ("ann", "ben"):
        race = done(race, name, EntrantStatus.CONCEDED)
    assert deadline(race, {}) == 0, "over now, though the ghost would play for an hour"
