"""Ghosts: how far a finished game has come so long after its start, and how it then stands."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st
from msgspec.structs import replace

from cellrace.autoplay import Autoplay
from cellrace.messages import EntrantStatus, Placement, Settings
from cellrace_server.core.ghosts import GhostGame, ghost_id
from cellrace_server.core.race import deadline, final_standings, standings
from cellrace_server.core.standings import Finish
from tests.server.races import ANN, BEN, START, begun, done, player

BOO = player("Boo")


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
    assert boo.status(None) is EntrantStatus.READY
    assert boo.status(0) is EntrantStatus.PLAYING
    assert boo.status(8_999) is EntrantStatus.PLAYING
    assert boo.status(9_000) is EntrantStatus.CONCEDED


def test_it_has_an_id_of_its_own_so_that_somebody_can_race_an_own_game() -> None:
    assert ghost_id("ann", "r1") != ghost_id("ann", "r2") != "ann"


def test_a_ghost_is_ranked_with_the_others_once_the_race_is_over() -> None:
    race = replace(begun(ANN, settings=Settings(seats=1, deal=617, ranked=False)), ghosts=(ghost((1_000, "26")),))
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
