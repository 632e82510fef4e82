"""Deals: Microsoft's numbering over its whole range, for every pack."""

from __future__ import annotations

import pytest
from hypothesis import given

from cellrace.board import dealt_board
from cellrace.cards import CARD_NAMES, NO_CARD
from cellrace.deals import LAST_DEAL, UNWINNABLE_FREECELL_DEALS, deal
from cellrace.errors import UnknownDeal
from cellrace.variants import VARIANTS, Variant, find_variant
from tests.protocol.golden_cases import published_deals
from tests.protocol.positions import deal_numbers, variants
from tests.protocol.slow_rules import position, slow_deal

FREECELL = find_variant("freecell")
EDGES = [1, 2, 2**31 - 1, 2**31, 2**31 + 1, 2**32 - 1, 2**32, 2**32 + 1, 2**33 - 1]


@pytest.mark.parametrize(("number", "columns"), published_deals().items(), ids=map(str, published_deals()))
def test_published_deals_are_dealt_as_published(number: int, columns: list[list[str]]) -> None:
    assert deal(FREECELL, number).column_names() == columns


def test_deal_617_begins_as_published() -> None:
    begin = ["7D TD TH KD 4C 4S JD", "AD 7S QC 5H QS TS KS", "5C QD 3H 9S 9C 2H KC"]
    assert deal(FREECELL, 617).column_names()[:3] == [column.split() for column in begin]


@pytest.mark.parametrize("number", EDGES)
@pytest.mark.parametrize("variant", VARIANTS.values(), ids=lambda v: v.id)
def test_every_pack_is_dealt_by_the_letter_of_the_numbering_at_its_edges(variant: Variant, number: int) -> None:
    assert position(dealt_board(variant, deal(variant, number))) == slow_deal(variant, number)


@given(variants, deal_numbers)
def test_every_pack_is_dealt_by_the_letter_of_the_numbering(variant: Variant, number: int) -> None:
    assert position(dealt_board(variant, deal(variant, number))) == slow_deal(variant, number)


@given(variants, deal_numbers)
def test_a_deal_lays_out_each_card_of_the_pack_once(variant: Variant, number: int) -> None:
    layout = deal(variant, number)
    dealt = [*b"".join(layout.columns), *(card for card in layout.cells if card != NO_CARD), *layout.reserve]
    assert sorted(dealt) == sorted(variant.pack)
    assert tuple(map(len, layout.columns)) == variant.columns
    assert len(layout.cells) == variant.cells
    assert len(layout.reserve) == variant.reserve


@pytest.mark.parametrize("number", [0, -1, -(2**31), 2**33, 2**40])
@pytest.mark.parametrize("variant", VARIANTS.values(), ids=lambda v: v.id)
def test_numbers_outside_the_range_name_no_deal(variant: Variant, number: int) -> None:
    with pytest.raises(UnknownDeal) as refused:
        deal(variant, number)
    assert refused.value.number == number


def test_the_range_ends_at_2_to_the_33_less_1() -> None:
    assert LAST_DEAL == 8_589_934_591


def test_cards_of_other_packs_come_in_home_order() -> None:
    assert [CARD_NAMES[card] for card in find_variant("six-by-six-down").pack[:5]] == ["AC", "AD", "AH", "AS", "KC"]
    assert [CARD_NAMES[card] for card in find_variant("two-suit").pack[:3]] == ["AH", "AS", "2H"]


def test_dealt_cells_are_the_left_ones() -> None:
    assert [card == NO_CARD for card in deal(find_variant("seahaven"), 5).cells] == [False, False, True, True]


def test_the_fixed_placement_lays_the_reserve_on_columns_1_2_3_in_the_order_dealt() -> None:
    marseille = find_variant("marseille")
    layout = deal(marseille, 5)
    laid = dealt_board(marseille, layout, laid=True)
    by_hand = dealt_board(marseille, layout)
    for move in ("r1", "r2", "r3"):
        by_hand = by_hand.play(move)
    assert laid == by_hand
    assert laid.reserve == b""


def test_the_eight_deals_that_cannot_be_won_are_the_published_eight() -> None:
    assert sorted(UNWINNABLE_FREECELL_DEALS) == [11982, 146692, 186216, 455889, 495505, 512118, 517776, 781948]
