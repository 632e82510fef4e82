"""What keys and clicks ask for, on any board."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from cellrace.board import Board
from cellrace.board_text import parse_board
from cellrace.notation import FIRST_CELL, HOME, MOVES, RESERVE
from cellrace.variants import VARIANTS, find_variant
from cellrace_client.terminal.app.board_layout import Hit
from cellrace_client.terminal.app.hand import Hand, Play, Refuse, Way
from cellrace_client.terminal.app.held import Held, can_be_more, drop, piles_of, run_length, send_home, targets
from cellrace_client.terminal.app.keys import notation_letter
from tests.client.app.boards import boards, dealt


def typed(hand: Hand, board: Board, text: str) -> list[object]:
    """What each letter asks for."""
    return [hand.type(letter, board) for letter in text]


def test_two_letters_are_a_move() -> None:
    """The first picks up, the second drops."""
    hand, board = Hand(), dealt("freecell", 617)
    assert typed(hand, board, "58") == [None, Play("58")]
    assert hand.held is None


def test_the_same_pile_twice_lets_go() -> None:
    """Nothing is asked for."""
    hand, board = Hand(), dealt("freecell", 617)
    assert typed(hand, board, "55") == [None, None]
    assert hand.held is None


def test_a_count_stands_in_for_the_last_move() -> None:
    """Only where that went to an empty column and could carry more."""
    board = parse_board(find_variant("one-suit"), "Foundations: S-3\n: KS QS JS TS 9S 8S 7S 6S\n:\n: 5S 4S")
    hand = Hand()
    assert typed(hand, board, "32") == [None, Play("32")]
    assert hand.may_grow
    assert typed(hand, board, "v2") == [None, Play("32v2", instead=True)]
    assert not hand.may_grow
    assert typed(hand, board, "v") == [None]


def test_an_undo_is_one_letter() -> None:
    """Whatever is held."""
    hand, board = Hand(), dealt("freecell", 617)
    assert typed(hand, board, "5u") == [None, Play("u")]
    assert hand.held is None


@pytest.mark.parametrize("letter", ["9", "0", "e", "r", "a"])
def test_what_holds_no_card_is_told(letter: str) -> None:
    """There is no such pile, or nothing on it."""
    assert isinstance(Hand().type(letter, dealt("freecell", 617)), Refuse)


def test_the_reserve_comes_first() -> None:
    """Told at the first letter; r picks it up."""
    hand, board = Hand(), dealt("marseille", 1)
    assert isinstance(hand.type("4", board), Refuse)
    assert typed(hand, board, "r4") == [None, Play("r4")]
    assert hand.press(Hit(3, 0), board) == Play("r4")
    hand.cursor = 2
    assert hand.choose(board) == Play("r3")


def test_a_click_picks_a_run_up_with_all_upon_it() -> None:
    """A card in the middle of what is no run is told."""
    board = dealt("freecell", 617)
    hand = Hand()
    assert hand.press(Hit(4, 5), board) is None
    assert hand.held == Held(4, 1)
    hand.let_go()
    assert isinstance(hand.press(Hit(0, 0), board), Refuse)
    assert hand.press(Hit(HOME, 0), board) is None
    assert hand.held is None


def test_a_drag_that_ends_beside_everything_lets_go() -> None:
    """And one that ends on a pile drops there."""
    board = dealt("freecell", 617)
    hand = Hand()
    hand.press(Hit(4, 5), board)
    assert hand.release(None, board) is None
    assert hand.held is None
    hand.press(Hit(4, 5), board)
    assert hand.release(Hit(7, 0), board) == Play("58")


@given(boards(), st.lists(st.sampled_from(Way), max_size=30))
def test_the_cursor_is_always_on_a_pile(board: Board, ways: list[Way]) -> None:
    """Wherever the arrows go."""
    hand = Hand()
    for way in ways:
        hand.go(way, board)
        assert hand.cursor in piles_of(board)


@given(boards())
def test_targets_are_the_piles_that_legal_moves_lead_to(board: Board) -> None:
    """Every move that is lit is legal, and every legal move of one card is lit."""
    moves = board.legal_moves()
    sources = {MOVES[move].source for move in moves}
    for source in sources:
        lit = targets(board, Held(source))
        assert lit == {MOVES[move].target for move in moves if MOVES[move].source == source and len(move) == 2}
        for pile in lit:
            assert board.refusal(drop(board, Held(source), pile)) is None


@given(boards(), st.integers(0, 9), st.integers(1, 6))
def test_what_is_held_is_what_moves_to_an_empty_column(board: Board, column: int, count: int) -> None:
    """As many cards as were picked up, where the rules allow that."""
    if column >= len(board.columns) or run_length(board, column) < count:
        return
    held = Held(column, count)
    for pile in targets(board, held):
        if pile < FIRST_CELL and not board.columns[pile]:
            assert board.carried(drop(board, held, pile)) == count


@given(boards())
def test_only_moves_to_empty_columns_may_grow(board: Board) -> None:
    """And then two cards would be legal too."""
    for move in board.legal_moves():
        if can_be_more(board, move):
            parsed = MOVES[move]
            assert not board.columns[parsed.target]
            assert board.refusal(f"{move}v2") is None


def test_home_is_where_exposed_cards_go() -> None:
    """Not from home, not from an empty pile, not from the reserve."""
    board = dealt("freecell", 617)
    assert send_home(board, 0) == "1h"
    assert send_home(board, FIRST_CELL) is None
    assert send_home(board, RESERVE) is None


def test_letters_of_the_notation_are_found_by_their_place() -> None:
    """In any case, on a Latin or a Cyrillic layout; other keys are none."""
    assert [notation_letter(char) for char in ("A", "ф", "Г", "6", "м")] == ["a", "a", "u", "6", "v"]
    assert [notation_letter(char) for char in ("w", "?", None, "", "ab", " ")] == [None] * 6


def test_every_game_has_its_piles() -> None:
    """Cells, home, columns."""
    for variant in VARIANTS.values():
        board = dealt(variant.id, 1)
        assert len(piles_of(board)) == variant.cells + 1 + len(variant.columns)
