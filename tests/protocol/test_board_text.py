"""Boards as text: written in one way, read leniently, each card of the pack exactly once."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from cellrace.board import Board, dealt_board
from cellrace.board_text import board_text, cell_names, home_tops, named_board, parse_board
from cellrace.deals import deal
from cellrace.errors import InvalidText
from cellrace.variants import find_variant
from tests.protocol.positions import built_positions, played_positions
from tests.protocol.slow_rules import position

FREECELL = find_variant("freecell")
some_positions = st.one_of(played_positions(), built_positions())

DEAL_1 = """\
: JD KD 2S 4C 3S 6D 6S
: 2D KC KS 5C TD 8S 9C
: 9H 9S 9D TS 4S 8D 2H
: JC 5S QD QH TH QS 6H
: 5D AD JS 4H 8H 6C
: 7H QC AS AC 2C 3D
: 7C KH AH 4D JH 8C
: 5H 3H 3C 7S 7D TC
"""


@given(some_positions)
def test_a_board_reads_back_from_its_text(board: Board) -> None:
    assert parse_board(board.variant, board_text(board)) == board


@given(some_positions, st.randoms(use_true_random=False))
def test_a_board_is_read_however_people_write_it(board: Board, choices: object) -> None:
    lines = []
    for line in board_text(board).splitlines():
        lines.append(choices.choice(["", "  ", "# a remark"]))  # type: ignore[attr-defined] # a Random
        shape = choices.choice([str.lower, str.upper, lambda text: text.replace("T", "10")])  # type: ignore[attr-defined]
        label, colon, cards = line.partition(":")
        lines.append(f"  {label}{colon}  {shape(cards).replace(' ', '   ')}  # so it goes")
    assert parse_board(board.variant, "\r\n".join(lines)) == board


@given(some_positions)
def test_names_of_a_boards_piles_give_the_board_again(board: Board) -> None:
    pos = position(board)
    assert named_board(board.variant, pos.columns, cell_names(board), home_tops(board), pos.reserve) == board
    assert cell_names(board) == pos.cells
    assert home_tops(board) == {suit: pile[-1] if pile else None for suit, pile in pos.homes.items()}


def test_deal_1_is_written_as_fc_solve_writes_it() -> None:
    assert board_text(dealt_board(FREECELL, deal(FREECELL, 1))) == DEAL_1
    assert parse_board(FREECELL, DEAL_1.replace(": ", "")) == dealt_board(FREECELL, deal(FREECELL, 1))


def test_homes_and_cells_are_written_when_they_hold_something() -> None:
    board = dealt_board(FREECELL, deal(FREECELL, 1)).play("6a").play("6b").play("6h").play("2d")
    assert board_text(board).splitlines()[:2] == ["Foundations: H-0 C-A D-0 S-0", "Freecells: 3D 2C - 9C"]


def test_a_reserve_is_written_and_read() -> None:
    marseille = find_variant("marseille")
    board = dealt_board(marseille, deal(marseille, 1)).play("r3")
    assert board_text(board).startswith("Reserve: ")
    assert parse_board(marseille, board_text(board)) == board


def test_an_empty_column_is_a_lone_colon() -> None:
    lines = DEAL_1.splitlines()
    moved = [":", *lines[1:7], lines[7] + lines[0][1:]]
    assert parse_board(FREECELL, "\n".join(moved)).columns[0] == b""


def test_other_words_for_homes_and_cells_and_every_sign_for_nothing_are_read() -> None:
    board = dealt_board(FREECELL, deal(FREECELL, 1)).play("6a").play("6b").play("6h")
    columns = [line for line in board_text(board).splitlines() if line.startswith(":")]
    for homes in ("Founds: h-0 c-a d-0", "homes: C-A S- D-0", "FOUNDATIONS: C-a"):
        for cells in ("Cells: 3d 2C", "FC: 3D 2C 0 *", "freecells: 3D 2c - --"):
            assert parse_board(FREECELL, "\n".join([homes, cells, *columns])) == board


def test_foundations_of_suits_that_are_not_in_the_pack_may_be_written_when_empty() -> None:
    variant = find_variant("two-suit")
    board = dealt_board(variant, deal(variant, 1))
    assert parse_board(variant, "Foundations: H-0 C-0 D-0 S-0\n" + board_text(board)) == board
    with pytest.raises(InvalidText, match="no home for 'C'"):
        parse_board(variant, "Foundations: C-A\n" + board_text(board))


@pytest.mark.parametrize(
    ("change", "sentence"),
    [
        (lambda text: text.replace("JD ", "JX "), "is no card"),
        (lambda text: text.replace("JD ", "KD "), "KD is there more than once"),
        (lambda text: text.replace("JD ", ""), "Missing from the board: JD"),
        (lambda text: text + ": AS\n", "8 columns, not 9"),
        (lambda text: text.replace(": 5H 3H 3C 7S 7D TC\n", ""), "8 columns, not 7"),
        (lambda text: "Foundations: C-A\n" + text, "AC is there more than once"),
        (lambda text: "Foundations: C-X\n" + text, "is no foundation"),
        (lambda text: "Foundations: X-A\n" + text, "is no foundation"),
        (lambda text: "Foundations: CA\n" + text, "is no foundation"),
        (lambda text: "Freecells: - - - - -\n" + text, "4 cells, not 5"),
        (lambda text: "Freecells: AS\n" + text, "AS is there more than once"),
        (lambda text: "Reserve: AS\n" + text, "reserve of 0 cards, not 1"),
        (lambda text: "Moves: 26\n" + text, "is no line of a board"),
        (lambda _: "", "8 columns, not 0"),
    ],
)
def test_a_text_that_is_no_board_of_the_game_is_refused_with_a_sentence(change: object, sentence: str) -> None:
    with pytest.raises(InvalidText, match=sentence):
        parse_board(FREECELL, change(DEAL_1))  # type: ignore[operator] # a function of the table above


@pytest.mark.parametrize(
    ("homes", "sentence"),
    [
        ({"X": None}, "no home for 'X'"),
        ({"": None}, "no home for ''"),
        ({"CD": None}, "no home for 'CD'"),
        ({"c": None}, "no home for 'c'"),
        ({"C": "AD"}, "AD cannot lie on the home of C"),
        ({"C": "A"}, "is no card"),
    ],
)
def test_homes_are_a_suit_with_its_own_top_card(homes: dict[str, str | None], sentence: str) -> None:
    columns = [line[1:].split() for line in DEAL_1.splitlines()]
    with pytest.raises(InvalidText, match=sentence):
        named_board(FREECELL, columns, [], homes)


def test_cards_outside_the_pack_are_refused() -> None:
    variant = find_variant("one-suit")
    text = board_text(dealt_board(variant, deal(variant, 1)))
    with pytest.raises(InvalidText, match="AH is not in the pack of One Suit"):
        parse_board(variant, text.replace("AS", "AH"))
