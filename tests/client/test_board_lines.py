"""A board drawn for people: every card where it lies."""

from __future__ import annotations

import re

from hypothesis import given
from hypothesis import strategies as st

from cellrace.board import Board, dealt_board
from cellrace.deals import deal
from cellrace.variants import find_variant
from cellrace_client.terminal.board_lines import board_lines
from tests.protocol.positions import built_positions, played_positions
from tests.protocol.slow_rules import position

DEAL_1 = """\
cells   a --  b --  c --  d --
home    C -  D -  H -  S -

    1    2    3    4    5    6    7    8
   JD   2D   9H   JC   5D   7H   7C   5H
   KD   KC   9S   5S   AD   QC   KH   3H
   2S   KS   9D   QD   JS   AS   AH   3C
   4C   5C   TS   QH   4H   AC   4D   7S
   3S   TD   4S   TH   8H   2C   JH   7D
   6D   8S   8D   QS   6C   3D   8C   TC
   6S   9C   2H   6H"""


def first_board() -> Board:
    """Deal 1."""
    freecell = find_variant("freecell")
    return dealt_board(freecell, deal(freecell, 1))


def test_deal_1_looks_as_it_is_printed_everywhere() -> None:
    assert "\n".join(board_lines(first_board())) == DEAL_1


def test_cells_and_homes_are_on_top() -> None:
    board = first_board().play("6a").play("6b").play("6h")
    assert board_lines(board)[:2] == ["cells   a 3D  b 2C  c --  d --", "home    C A  D -  H -  S -"]


def test_suits_can_be_drawn_as_symbols() -> None:
    lines = board_lines(first_board().play("6a"), symbols=True)
    assert lines[0].startswith("cells   a 3♦")
    assert lines[1] == "home    ♣ -  ♦ -  ♥ -  ♠ -"
    assert not re.search("[2-9TJQKA][CDHS]", "\n".join(lines))


def test_colour_adds_codes_and_changes_nothing_else() -> None:
    colored = "\n".join(board_lines(first_board(), color=True))
    assert "\x1b[31mJD\x1b[0m" in colored
    assert "\x1b[31mJC" not in colored
    assert re.sub("\x1b\\[[0-9]*m", "", colored) == DEAL_1


def test_a_reserve_is_shown_until_it_is_laid_out() -> None:
    marseille = find_variant("marseille")
    board = dealt_board(marseille, deal(marseille, 5))
    assert board_lines(board)[2] == "reserve AD  7C  TS"
    laid = board.play("r1").play("r1").play("r1")
    assert not any(line.startswith("reserve") for line in board_lines(laid))


@given(st.one_of(played_positions(), built_positions()))
def test_every_card_in_play_is_drawn_once_under_its_column(board: Board) -> None:
    lines = board_lines(board)
    pos = position(board)
    drawn = re.findall("[A23456789TJQK][CDHS]", "\n".join(lines))
    home = [card for pile in pos.homes.values() for card in pile]
    assert sorted(drawn) == sorted(set(pos.cards()) - set(home))
    body = lines[lines.index("") + 2 :]
    for c, column in enumerate(pos.columns):
        at = 3 + 5 * c
        assert [line[at : at + 2] for line in body if line[at : at + 2].strip()] == column
