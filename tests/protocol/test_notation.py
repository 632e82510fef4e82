"""Notation: exact spellings for programs, lenient listings for people."""

from __future__ import annotations

import re
from itertools import product

import pytest
from hypothesis import given
from hypothesis import strategies as st

from cellrace.errors import IllegalMove, InvalidText, Reason
from cellrace.notation import HOME, MOVES, RESERVE, Move, move_text, moves_text, parse_move, parse_moves
from tests.protocol.slow_rules import SPELLING

entries = st.sampled_from([*MOVES, "u"])


def test_the_spellings_are_those_of_the_grammar_and_no_others() -> None:
    letters = "0123456789abcdefghijklmnopqrstuvwxyz"
    short = {a + b for a, b in product(letters, letters)}
    long = {a + b + "v" + c for a, b in product("0123456789", repeat=2) for c in letters}
    assert set(MOVES) == {text for text in short | long if SPELLING.fullmatch(text)}


@given(st.sampled_from(sorted(MOVES)))
def test_a_move_is_written_as_it_was_read(text: str) -> None:
    assert move_text(*parse_move(text)) == text


@pytest.mark.parametrize(
    ("text", "move"),
    [
        ("26", Move(1, 5, 0)),
        ("10", Move(0, 9, 0)),
        ("3a", Move(2, 10, 0)),
        ("b5", Move(11, 4, 0)),
        ("1k", Move(0, 17, 0)),
        ("7h", Move(6, HOME, 0)),
        ("ah", Move(10, HOME, 0)),
        ("r4", Move(RESERVE, 3, 0)),
        ("26v3", Move(1, 5, 3)),
        ("26vd", Move(1, 5, 13)),
    ],
)
def test_piles_are_numbered_columns_cells_home_reserve(text: str, move: Move) -> None:
    assert parse_move(text) == move


BAD = ["", " ", "2", "2 6", "26 ", " 26", "266", "2A", "3B", "7H", "h1", "hh", "ha", "rh", "ra", "rr", "1r", "ar"]
BAD += ["26v", "26v0", "26ve", "26vD", "26v03", "26v10", "26V3", "2av1", "a2v1", "2hv1", "r4v1", "u1", "U", "uu", "1i"]
BAD += ["1j", "1l", "ij", "２6", "2６", "1\x00", "²6", "26\n", "u"]


@pytest.mark.parametrize("text", BAD)
def test_any_other_spelling_is_bad_notation(text: str) -> None:
    with pytest.raises(IllegalMove) as refused:
        parse_move(text)
    assert refused.value.reason is Reason.BAD_NOTATION
    assert refused.value.move == text


@given(st.lists(entries, max_size=45))
def test_a_listing_reads_back_as_its_moves_ten_to_a_line(moves: list[str]) -> None:
    text = moves_text(moves)
    assert parse_moves(text) == moves
    assert all(len(line.split()) == 10 for line in text.splitlines()[:-1])


@given(st.lists(entries, max_size=12), st.data())
def test_a_listing_is_read_in_any_case_run_together_and_with_comments(moves: list[str], data: st.DataObject) -> None:
    gaps = [data.draw(st.sampled_from(["", " ", "\n", "\t", "  # so far 26 so good\n"])) for _ in moves]
    # Run together, a count belongs to the move before it, so words are kept apart where cutting would be a guess.
    text = "".join(
        (move.upper() if data.draw(st.booleans()) else move) + (gap or ("" if len(move) == 4 else " "))
        for move, gap in zip(moves, gaps, strict=True)
    )
    assert parse_moves(text) == moves


def test_moves_without_spaces_are_cut_from_the_left() -> None:
    assert parse_moves("26v33a7hU") == ["26v3", "3a", "7h", "u"]


@pytest.mark.parametrize("text", ["26 x", "2", "26v", "26v0", "7h7", "hello", "26,3a"])
def test_a_word_that_cannot_be_cut_into_moves_is_refused(text: str) -> None:
    with pytest.raises(InvalidText, match="is no move"):
        parse_moves(text)


def test_an_empty_listing_has_no_moves() -> None:
    assert parse_moves(" \n# nothing yet\n") == []
    assert moves_text([]) == ""


def test_a_refusal_carries_its_place_and_a_sentence() -> None:
    refused = IllegalMove(Reason.CELL_FULL, "3a", 7)
    assert (refused.reason, refused.move, refused.index) == (Reason.CELL_FULL, "3a", 7)
    assert re.fullmatch(r"[A-Z].*\.", str(refused))
