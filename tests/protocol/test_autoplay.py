"""Autoplay: Horne's rule in one defined order."""

from __future__ import annotations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from cellrace.autoplay import next_safe_move, play_safe_moves
from cellrace.board import Board, dealt_board
from cellrace.board_text import named_board
from cellrace.cards import CARD_NAMES, RANKS
from cellrace.deals import deal
from cellrace.variants import VARIANTS, Build, Variant, find_variant
from tests.protocol.positions import built_positions, deal_numbers, played_positions
from tests.protocol.slow_rules import autoplay, position


def board_with(variant: Variant, homes: str, ends: list[str], cells: str = "") -> Board:
    """A board with these tops at home (as `4C 2D`), these column ends, and what is left buried in the last column."""
    tops: dict[str, str | None] = {name[1]: name for name in homes.split()}
    order = variant.home_order
    home = {rank + suit for suit, top in tops.items() if top for rank in order[: order.index(top[0]) + 1]}
    columns = [names.split() for names in ends]
    held = [None if name == "-" else name for name in cells.split()]
    used = {*home, *(name for column in columns for name in column), *held}
    # Buried under the last column from the lowest card down, so that none of them is in reach.
    rest = [CARD_NAMES[card] for card in variant.pack if CARD_NAMES[card] not in used]
    columns += [[] for _ in range(len(variant.columns) - len(columns) - 1)]
    return named_board(variant, [*columns, rest], held, tops)


FREECELL = find_variant("freecell")


def played(board: Board) -> list[str]:
    """What goes home by itself."""
    return play_safe_moves(board)[1]


@pytest.mark.parametrize(
    ("homes", "end", "goes", "why"),
    [
        ("", "AC", True, "an ace is never needed"),
        ("AC", "2C", True, "nor a two, whatever else is home"),
        ("2C", "3C", False, "a red two may still need the black three"),
        ("2C 2D", "3C", False, "the other red two still may"),
        ("2C 2D 2H", "3C", True, "both red twos are home"),
        ("2C 2S", "3C", False, "spades do not count"),
        ("5C 5D 4H", "6C", False, "five of hearts is out"),
        ("5C 5D 5H", "6C", True, "both red fives are home"),
        ("5D 5C 5S", "6D", True, "the same for a red card"),
        ("QC QD JH", "KC", False, "even a king waits"),
        ("4C 5D 5H", "6C", False, "it cannot go home yet"),
    ],
)
def test_alternating_colours_wait_for_both_suits_of_the_other_colour(
    homes: str, end: str, goes: bool, why: str
) -> None:
    assert (played(board_with(FREECELL, homes, [end]))[:1] == ["1h"]) == goes, why


def test_with_two_suits_only_the_other_suit_of_the_pack_counts() -> None:
    variant = find_variant("two-suit")
    assert played(board_with(variant, "2H", ["3H"])) == []
    assert played(board_with(variant, "2H 2S", ["3H"]))[:1] == ["1h"]


@pytest.mark.parametrize("variant", [v for v in VARIANTS.values() if v.build is not Build.COLOR], ids=lambda v: v.id)
def test_building_in_suit_or_by_rank_alone_sends_every_card_home_that_can_go(variant: Variant) -> None:
    third = variant.home_order[2] + "S"
    assert played(board_with(variant, variant.home_order[1] + "S", [third]))[:1] == ["1h"]


def test_columns_come_first_then_cells_and_again_from_the_start_after_each_card() -> None:
    board = board_with(FREECELL, "", ["9C 2D", "9H AS", "KC"], "- AD 2S -")
    # 1h must wait for bh; after bh the columns are looked at again, so the two of diamonds goes before that of spades.
    assert played(board) == ["2h", "bh", "1h", "ch"]


def test_of_two_safe_cards_the_left_one_goes_first() -> None:
    assert played(board_with(FREECELL, "", ["9C AD", "9H AS"], "AC AH"))[:4] == ["1h", "2h", "ah", "bh"]


def test_cells_beyond_the_seventh_have_the_letter_k() -> None:
    board = board_with(find_variant("eight-off"), "", ["9C"], "- - - - - - - AD")
    assert played(board)[0] == "kh"


def test_column_ten_has_the_digit_0() -> None:
    variant = find_variant("seahaven")
    board = board_with(variant, "", [*(f"{rank}H" for rank in RANKS[4:12]), "KC"])
    columns = list(board.columns)
    columns[9] = columns[9][1:] + columns[9][:1]
    assert played(board._replace(columns=tuple(columns)))[0] == "0h"


def test_nothing_goes_home_while_the_reserve_is_out() -> None:
    variant = find_variant("marseille")
    number = next(n for n in range(1, 500) if any(column[-1] < 4 for column in deal(variant, n).columns))
    board = dealt_board(variant, deal(variant, number))
    assert played(board) == []
    ace = next(c for c, column in enumerate(board.columns) if column[-1] < 4)
    covered = f"r{(ace + 1) % 7 + 1}"
    for _ in range(3):
        assert next_safe_move(board) is None
        board = board.play(covered)
    assert next_safe_move(board) is not None


@settings(max_examples=200)
@given(st.one_of(played_positions(), built_positions()))
def test_autoplay_does_what_the_slow_rules_do_in_the_same_order(board: Board) -> None:
    after, moves = play_safe_moves(board)
    slow_after, slow_moves = autoplay(position(board))
    assert moves == slow_moves
    assert position(after) == slow_after
    assert next_safe_move(after) is None


@given(st.sampled_from(list(VARIANTS.values())), deal_numbers)
def test_playing_safe_moves_by_hand_leads_to_the_same_board(variant: Variant, number: int) -> None:
    board = dealt_board(variant, deal(variant, number))
    after, moves = play_safe_moves(board)
    for move in moves:
        board = board.play(move)
    assert board == after
