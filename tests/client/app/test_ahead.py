"""One's own game ahead of the server: what is shown, what is sent, what is taken back."""

from __future__ import annotations

from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from cellrace.errors import IllegalMove
from cellrace.messages import RaceState
from cellrace_client.race_view import RaceView
from cellrace_client.terminal.app.ahead import Ahead, Parcel
from tests.client.views import a_view, committed, started
from tests.story.solved_games import golden_game

SOLVED = golden_game("freecell", 617, "safe")


def view_with(*log: str) -> RaceView:
    """Ann's race on deal 617 with these entries on record."""
    told = started()
    view = a_view(
        state=RaceState.RUNNING,
        start_at=5000,
        commitment=committed(),
        deal=told.deal,
        salt=told.salt,
        layout=told.layout,
        cells=told.cells,
        reserve=told.reserve,
    )
    assert view.game is not None
    game, _ = view.game.play_all(log)
    return replace(view, game=game, log=tuple(log))


def test_moves_show_at_once_and_are_sent_in_order() -> None:
    """What is not sent waits; a message takes as many as it may."""
    ahead = Ahead(view_with())
    for move in ("58", "4a", "46"):
        ahead.play(move)
    assert ahead.game.seq == 3
    assert ahead.next_parcel(2) == Parcel(0, ("58", "4a"))
    assert ahead.next_parcel() == Parcel(2, ("46",))
    assert ahead.next_parcel() is None
    assert ahead.waiting == 3
    assert ahead.follow(view_with("58", "4a")) == 0
    assert ahead.waiting == 1
    assert ahead.game.seq == 3


def test_what_a_server_has_forgotten_is_sent_again() -> None:
    """A store that was set back has less on record than was told; what it has otherwise is another matter."""
    ahead = Ahead(view_with())
    for move in ("58", "4a", "46"):
        ahead.play(move)
    ahead.next_parcel()
    ahead.follow(view_with("58", "4a", "46"))
    ahead.forgotten(view_with("58", "4a", "46"))
    assert ahead.next_parcel() is None
    ahead.forgotten(view_with("58"))
    assert ahead.waiting == 2
    assert ahead.next_parcel() == Parcel(1, ("4a", "46"))
    ahead.follow(view_with("58", "4a", "46"))
    assert ahead.waiting == 0
    assert ahead.game.seq == 3


def test_an_illegal_move_changes_nothing() -> None:
    """Neither the board nor what is to be sent."""
    ahead = Ahead(view_with())
    with pytest.raises(IllegalMove):
        ahead.play("12")
    assert ahead.next_parcel() is None
    assert ahead.seq == 0


def test_the_last_move_is_replaced_while_it_is_not_sent() -> None:
    """Once it is sent, it is taken back for the other one."""
    ahead = Ahead(view_with())
    ahead.play("58")
    assert ahead.next_parcel(but_last=True) is None
    ahead.play_instead("4a")
    assert ahead.next_parcel() == Parcel(0, ("4a",))
    ahead.play_instead("4b")
    assert ahead.next_parcel() == Parcel(1, ("u", "4b"))


def test_a_replacement_that_is_illegal_leaves_the_last_move() -> None:
    """The player is told, and nothing else happens."""
    ahead = Ahead(view_with())
    ahead.play("58")
    with pytest.raises(IllegalMove):
        ahead.play_instead("58v3")
    assert ahead.next_parcel() == Parcel(0, ("58",))


def test_another_way_on_record_takes_back_what_was_shown() -> None:
    """Only what was not on record too is lost."""
    ahead = Ahead(view_with("58"))
    for move in ("4a", "46", "2b"):
        ahead.play(move)
    assert ahead.follow(view_with("58", "4a", "u")) == 2
    assert ahead.game.seq == 3
    assert ahead.waiting == 0


def test_what_the_server_counts_otherwise_is_sent_again_once() -> None:
    """Twice at the same place, it is taken back: nothing goes on for ever."""
    ahead = Ahead(view_with())
    for move in ("58", "4a"):
        ahead.play(move)
    ahead.next_parcel()
    assert ahead.refused(view_with("58"), stale=True) == 0
    assert ahead.next_parcel() == Parcel(1, ("4a",))
    assert ahead.refused(view_with("58"), stale=True) == 1
    assert ahead.game.seq == 1


def test_what_the_server_will_not_have_is_taken_back() -> None:
    """All that was not on record."""
    ahead = Ahead(view_with())
    for move in ("58", "4a"):
        ahead.play(move)
    ahead.next_parcel()
    assert ahead.refused(view_with(), stale=False) == 2
    assert ahead.game.seq == 0


@given(st.lists(st.sampled_from(["play", "send", "record", "undo"]), max_size=55))
def test_whatever_the_order_every_move_arrives_once(steps: list[str]) -> None:
    """Playing, sending and records in any order: what the server gets is what was played, entry by entry."""
    ahead = Ahead(view_with())
    played: list[str] = []
    sent: list[str] = []
    recorded = 0
    standing: list[str] = []
    for step in steps:
        match step:
            case "play":
                standing.append(SOLVED[len(standing)])
                ahead.play(standing[-1])
                played.append(standing[-1])
            case "undo" if standing:
                standing.pop()
                ahead.play("u")
                played.append("u")
            case "send":
                parcel = ahead.next_parcel(3)
                if parcel is not None:
                    assert parcel.seq == len(sent)
                    sent += parcel.moves
            case "record" if recorded < len(sent):
                recorded += 1
                assert ahead.follow(view_with(*sent[:recorded])) == 0
            case _:
                continue
    while (parcel := ahead.next_parcel()) is not None:
        sent += parcel.moves
    assert sent == played
    assert ahead.waiting == len(played) - recorded


def test_nothing_is_known_before_there_is_a_game() -> None:
    """A view without one says nothing."""
    ahead = Ahead(view_with("58"))
    assert ahead.follow(a_view()) == 0
    assert ahead.refused(a_view(), stale=False) == 0
