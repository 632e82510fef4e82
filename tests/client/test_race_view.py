"""A race as one client knows it: carried on by pushes, equal to what the server tells whole."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from cellrace.errors import InvalidText
from cellrace.game import Game
from cellrace.messages import (
    CancelledPush,
    CancelReason,
    CountdownPush,
    DelayedPush,
    DelayReason,
    DonePush,
    EntrantStatus,
    FactPush,
    JoinedPush,
    LeftPush,
    LeftReason,
    Log,
    Moved,
    MovedPush,
    OnlinePush,
    OverPush,
    OwnGame,
    Placement,
    ProgressPush,
    RaceState,
    ReadyPush,
    RematchPush,
    Settings,
    Standing,
    board_map,
)
from cellrace.variants import VARIANTS
from cellrace_client.hearing import hear
from cellrace_client.race_view import RaceView
from cellrace_client.verdict import Verdict
from tests.client.views import ANN, BOB, CY, a_view, an_answer, committed, entrant, started


def fact(kind: type[Any], version: int, **fields: Any) -> FactPush:
    """A fact of race r1."""
    made: FactPush = kind(race="r1", version=version, now=1, **fields)
    return made


def running_view(variant: str = "freecell", number: int = 617, **settings: Any) -> RaceView:
    """Ann's race with Bob, started."""
    view = a_view(settings=Settings(variant=variant, **settings))
    view = hear(view, fact(CountdownPush, 2, start_at=5000, commitment=committed(variant, number))).view
    return hear(view, started(variant, number)).view


def test_facts_make_a_race_from_open_to_over() -> None:
    """Each fact and each piece of news does what the protocol says."""
    view = a_view(entrants=(entrant(ANN),))
    view = hear(view, fact(JoinedPush, 2, player=BOB)).view
    assert [one.player.name for one in view.rivals] == ["Bob"]
    view = hear(view, fact(ReadyPush, 3, player="b", ready=True)).view
    assert view.entrants[1].status is EntrantStatus.READY
    view = hear(view, fact(ReadyPush, 4, player="b", ready=False)).view
    assert view.entrants[1].status is EntrantStatus.JOINED
    view = hear(view, fact(CountdownPush, 5, start_at=5000, commitment=committed())).view
    assert (view.state, view.start_at, view.game) == (RaceState.COUNTDOWN, 5000, None)
    view = hear(view, started()).view
    assert view.playing
    assert view.verdict is Verdict.RIGHT
    assert {one.status for one in view.entrants} == {EntrantStatus.PLAYING}
    view = hear(view, ProgressPush(race="r1", player="b", seq=3, home=2, moves=3, undos=0, at=9)).view
    assert (view.entrants[1].seq, view.entrants[1].home) == (3, 2)
    view = hear(view, OnlinePush(race="r1", player="b", online=False)).view
    assert not view.entrants[1].online
    view = hear(view, fact(DonePush, 6, player="a", status=EntrantStatus.CONCEDED, home=0)).view
    assert not view.playing
    standings = (
        Standing(player=BOB, place=1, status=EntrantStatus.WON, home=52, moves=90, undos=1, time=9, raw=10, latency=1),
        Standing(player=ANN, place=2, status=EntrantStatus.CONCEDED, home=0, moves=0, undos=0),
    )
    view = hear(view, fact(OverPush, 7, standings=standings)).view
    assert view.ended
    assert view.standings == standings
    assert (view.entrants[1].status, view.entrants[1].time, view.entrants[1].place) == (EntrantStatus.WON, 9, 1)
    view = hear(view, fact(RematchPush, 8, successor="r2")).view
    assert (view.successor, view.version) == ("r2", 8)


def test_the_host_role_passes_to_the_one_who_joined_first_after() -> None:
    """When the host leaves, the next in order is host; when another leaves, nothing passes."""
    view = a_view(entrants=(entrant(ANN), entrant(BOB), entrant(CY)))
    assert view.is_host
    assert hear(view, fact(LeftPush, 2, player="b", reason=LeftReason.KICKED)).view.host == "a"
    view = hear(view, fact(LeftPush, 2, player="a", reason=LeftReason.OFFLINE)).view
    assert (view.host, view.me) == ("b", None)


def test_a_race_can_be_cancelled_or_delayed() -> None:
    """A delay opens it again with nobody ready, and its next start has another commitment."""
    view = a_view(entrants=(entrant(ANN, EntrantStatus.READY), entrant(BOB, EntrantStatus.READY)))
    view = hear(view, fact(CountdownPush, 2, start_at=5000, commitment=committed())).view
    view = hear(view, DelayedPush(race="r1", reason=DelayReason.NO_DEAL)).view
    assert (view.state, view.commitment, view.start_at) == (RaceState.OPEN, None, None)
    assert {one.status for one in view.entrants} == {EntrantStatus.JOINED}
    view = hear(view, fact(CancelledPush, 3, reason=CancelReason.EMPTY)).view
    assert view.ended


@given(st.lists(st.integers(0, 12), max_size=30))
def test_versions_are_taken_once_and_in_order(versions: list[int]) -> None:
    """A known version changes nothing, the next one is taken, a later one is a gap that changes nothing."""
    view = a_view()
    for version in versions:
        heard = hear(view, fact(ReadyPush, version, player="b", ready=bool(version % 2)))
        assert heard.new == (version == view.version + 1)
        assert heard.gap == (version > view.version + 1)
        assert heard.new or heard.view is view
        view = heard.view


def test_progress_that_is_older_than_what_is_known_is_passed_over() -> None:
    """News may come late after a sync; they take nothing back."""
    view = a_view(entrants=(entrant(ANN), entrant(BOB, seq=9, home=5)))
    heard = hear(view, ProgressPush(race="r1", player="b", seq=8, home=4, moves=8, undos=0, at=9))
    assert heard.view is view
    assert not heard.new


@pytest.mark.parametrize("variant", list(VARIANTS))
@pytest.mark.parametrize("placement", list(Placement))
def test_the_game_of_pushes_is_the_game_of_the_answer(variant: str, placement: Placement) -> None:
    """What `race.started` and the answers to moves build up is what a whole `race` tells, for every game."""
    view = running_view(variant, 5, placement=placement)
    assert view.verdict is Verdict.RIGHT
    assert view.game is not None
    game: Game = view.game
    moves, steps = [], []
    for i in range(12):
        legal = game.board.legal_moves()
        move = legal[0] if legal and i % 5 < 4 else "u"
        game, step = game.play(move)
        moves.append(move)
        steps.append(tuple(step))
    home = game.board.cards_home
    answer = Moved(race="r1", seq=12, steps=tuple(steps), home=home, at=1, won=False)
    moved = view.moved(answer)
    assert moved is not None
    assert moved.game == game
    assert moved.me is not None
    assert (moved.me.seq, moved.me.moves, moved.me.undos) == (12, game.moves, game.undos)
    assert moved.moved(answer) is moved, "a repeat is the same answer again"
    told = started(variant, 5)
    whole = an_answer(
        version=view.version,
        state=RaceState.RUNNING,
        settings=view.settings,
        commitment=view.commitment,
        start_at=5000,
        entrants=moved.entrants,
        deal=5,
        salt=told.salt,
        layout=told.layout,
        cells=told.cells,
        reserve=told.reserve,
        you=OwnGame(moves=tuple(moves), seq=12, board=board_map(game.board)),
    )
    assert RaceView.of(whole, "a") == moved


def test_moves_that_do_not_follow_ask_for_the_race() -> None:
    """An answer from another position, or with moves that are none, is no news but a question."""
    view = running_view()
    assert view.moved(Moved(race="r1", seq=5, steps=(("1a",),), home=0, at=1, won=False)) is None
    assert view.moved(Moved(race="r1", seq=1, steps=(("zz",),), home=0, at=1, won=False)) is None
    assert a_view().moved(Moved(race="r1", seq=1, steps=(("1a",),), home=0, at=1, won=False)) is None


def test_others_logs_grow_by_what_follows_and_a_gap_asks() -> None:
    """`race.moved` carries the last entries up to `seq`: they may overlap, and must not leave a hole."""
    view = running_view()
    first = hear(view, MovedPush(race="r1", player="b", seq=2, moves=("1a", "2b"), at=1))
    assert first.view.log_of("b") == ("1a", "2b")
    overlapping = hear(first.view, MovedPush(race="r1", player="b", seq=3, moves=("2b", "u"), at=1))
    assert overlapping.view.log_of("b") == ("1a", "2b", "u")
    game = overlapping.view.game_of("b")
    assert game is not None
    assert (game.moves, game.undos) == (2, 1)
    again = hear(overlapping.view, MovedPush(race="r1", player="b", seq=3, moves=("u",), at=1))
    assert (again.new, again.gap) == (False, False)
    assert hear(overlapping.view, MovedPush(race="r1", player="b", seq=9, moves=("1a",), at=1)).gap


def test_a_spectator_sees_logs_and_has_no_game() -> None:
    """Who is no entrant plays nothing."""
    told = started()
    view = a_view(
        player="x",
        state=RaceState.RUNNING,
        layout=told.layout,
        deal=617,
        salt=told.salt,
        logs=(Log(player="b", seq=1, moves=("1a",)),),
    )
    assert (view.me, view.game, view.playing) == (None, None, False)
    assert view.log_of("b") == ("1a",)
    game = view.game_of("b")
    assert game is not None
    assert game.seq == 1


def test_a_start_that_is_told_twice_changes_nothing() -> None:
    """`race.started` may come again after a sync."""
    view = running_view()
    assert not hear(view, started()).new


def test_the_verdict_finds_another_deal_another_salt_and_another_layout() -> None:
    """Only the committed deal, laid out as its number says, is right."""
    ready = hear(a_view(), fact(CountdownPush, 2, start_at=5000, commitment=committed())).view
    assert ready.verdict is Verdict.SECRET
    other = started(number=618)
    verdicts = {
        "right": hear(ready, started()).view.verdict,
        "deal": hear(ready, started(deal=618)).view.verdict,
        "salt": hear(ready, started(salt="f" * 32)).view.verdict,
        "layout": hear(ready, started(layout=other.layout)).view.verdict,
        "secret": hear(ready, started(deal=None, salt=None)).view.verdict,
        "none": hear(a_view(), started()).view.verdict,
    }
    assert verdicts == {
        "right": Verdict.RIGHT,
        "deal": Verdict.WRONG_COMMITMENT,
        "salt": Verdict.WRONG_COMMITMENT,
        "layout": Verdict.WRONG_LAYOUT,
        "secret": Verdict.SECRET,
        "none": Verdict.WRONG_COMMITMENT,
    }


def test_a_commitment_that_changes_after_the_countdown_is_found() -> None:
    """What counts is what was published first for this start, whatever a later answer says."""
    before = hear(a_view(), fact(CountdownPush, 2, start_at=5000, commitment=committed(number=1))).view
    told = started()
    fields = {"layout": told.layout, "deal": 617, "salt": told.salt, "commitment": committed()}
    same_start = an_answer(state=RaceState.RUNNING, start_at=5000, **fields)
    assert RaceView.of(same_start, "a", before).verdict is Verdict.WRONG_COMMITMENT
    another_start = an_answer(state=RaceState.RUNNING, start_at=9000, **fields)
    assert RaceView.of(another_start, "a", before).verdict is Verdict.RIGHT


@pytest.mark.parametrize("wrong", ["columns", "twice", "cells", "reserve", "pack"])
def test_a_layout_that_is_none_of_the_game_is_none_at_all(wrong: str) -> None:
    """Whatever draws or plays a board relies on its piles and its pack."""
    told = started()
    columns = [list(column) for column in told.layout]
    fields: dict[str, Any] = {"layout": tuple(map(tuple, columns))}
    match wrong:
        case "columns":
            fields["layout"] = (*told.layout, ())
        case "twice":
            fields["layout"] = ((columns[0][1], *columns[0][1:]), *told.layout[1:])
        case "cells":
            fields["cells"] = (None,) * 5
        case "reserve":
            fields["reserve"] = ("AC",)
        case "pack":
            fields = {"variant_id": "six-by-six"}
    with pytest.raises(InvalidText):
        hear(a_view(), started(**fields))


def test_a_game_that_this_program_does_not_know_can_still_be_watched() -> None:
    """A later server's game has no board here, and its facts are heard all the same."""
    view = a_view(settings=Settings(variant="eleven-up"))
    view = hear(view, started(layout=(("ZZ",),))).view
    assert (view.state, view.game, view.variant) == (RaceState.RUNNING, None, None)
