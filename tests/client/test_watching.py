"""What somebody is told who watches: moves in words, boards that have changed, never a flood."""

from __future__ import annotations

from dataclasses import replace

import pytest
from msgspec import structs

from cellrace.messages import DonePush, EntrantStatus, MovedPush, ProgressPush, Spectate
from cellrace_client.events import Happened
from cellrace_client.hearing import hear
from cellrace_client.race_view import RaceView
from cellrace_client.terminal.watching import MOST_MOVES, BoardTeller, board_of, first_board_lines, tell_moved
from tests.client.views import BOB, CY, a_view, entrant, started


def watched() -> RaceView:
    """A race of Bob and Cy that has just begun, as a spectator sees it."""
    view = a_view("nobody of them", entrants=(entrant(BOB), entrant(CY)))
    return hear(view, started()).view


def moved(view: RaceView, player: str, *moves: str) -> Happened:
    """The next moves of somebody are shown."""
    push = MovedPush(race=view.race, player=player, seq=len(view.log_of(player)) + len(moves), moves=moves, at=5)
    return Happened(push, view, hear(view, push).view)


def told(event: Happened) -> list[str]:
    assert isinstance(event.push, MovedPush)
    return tell_moved(event, event.push)


def test_moves_are_told_in_words_with_who_played_them() -> None:
    """One after the other, each on the board that it was played on."""
    first = moved(watched(), BOB.id, "1a")
    assert told(first) == ["Bob: JD from column 1 to cell a."]
    assert told(moved(first.view, BOB.id, "ab", "u")) == ["Bob: JD from cell a to cell b.", "Bob: Taken back."]


def test_what_is_told_twice_is_said_once() -> None:
    """A push that overlaps with what is known tells the rest."""
    view = moved(watched(), BOB.id, "1a").view
    push = MovedPush(race=view.race, player=BOB.id, seq=2, moves=("1a", "1b"), at=5)
    event = Happened(push, view, hear(view, push).view)
    assert len(told(event)) == 1
    assert told(Happened(push, event.view, event.view)) == []


def test_of_many_moves_at_once_the_number_is_told() -> None:
    """What was held back comes all at once when the race is over."""
    moves = ("1a", "u") * MOST_MOVES
    assert told(moved(watched(), BOB.id, *moves)) == [f"Bob has played {len(moves)} moves."]


def test_all_begin_with_one_board() -> None:
    """It is told at the start, and not before it."""
    view = watched()
    assert first_board_lines(view)[0] == "All begin with this board:"
    assert first_board_lines(replace(view, dealt=None)) == []


@pytest.mark.parametrize(
    ("spectate", "told"),
    [
        (Spectate.LIVE, []),
        (Spectate.DELAYED, ["Moves are shown 60 s late."]),
        (Spectate.AFTER, ["Moves are shown after the race."]),
    ],
)
def test_whoever_watches_hears_why_no_move_is_shown_yet(spectate: Spectate, told: list[str]) -> None:
    """With the first board it is told that moves are held back; live ones come by themselves."""
    view = watched()
    view = replace(view, settings=structs.replace(view.settings, spectate=spectate))
    assert [line for line in first_board_lines(view) if line.startswith("Moves")] == told


def test_a_board_stands_as_far_as_its_moves_are_shown() -> None:
    """Of somebody whose moves are held back it is said so, rather than that nothing was played."""
    view = moved(watched(), BOB.id, "1a").view
    assert board_of(view, BOB.id)[:2] == ["The board of Bob:", "cells   a JD  b --  c --  d --"]
    view = hear(view, ProgressPush(race=view.race, player=CY.id, seq=9, home=4, moves=9, undos=0, at=7)).view
    assert board_of(view, CY.id) == ["No move of Cy is shown yet."]


def test_boards_are_told_when_they_have_changed_and_at_most_once_an_interval() -> None:
    """However fast the players are; and the last one is told in its time."""
    teller = BoardTeller(10.0)
    view = watched()
    teller.hear(view)
    assert teller.due(0.0) is None
    view = moved(view, BOB.id, "1a").view
    teller.hear(view)
    assert teller.due(0.0) == 0.0
    assert teller.tell(0.0)[0] == "The board of Bob:"
    view = moved(moved(view, BOB.id, "1b").view, CY.id, "2a").view
    teller.hear(view)
    assert teller.tell(4.0) == []
    assert teller.due(4.0) == 6.0
    assert [line for line in teller.tell(10.0) if line.startswith("The board")] == [
        "The board of Bob:",
        "The board of Cy:",
    ]
    assert teller.due(10.0) is None
    assert teller.tell(30.0) == []


def test_boards_of_those_who_are_done_are_told_no_more() -> None:
    """The fact of it says enough."""
    teller = BoardTeller(10.0)
    view = moved(watched(), BOB.id, "1a").view
    ended = EntrantStatus.CONCEDED
    done = DonePush(race=view.race, version=view.version + 1, now=9, player=BOB.id, status=ended, home=0)
    teller.hear(hear(view, done).view)
    assert teller.tell(0.0) == []
