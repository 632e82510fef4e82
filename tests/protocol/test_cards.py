"""Cards: 52 names, read leniently, written in one way."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from cellrace.cards import CARD_NAMES, card_name, card_symbol, is_red, parse_card
from cellrace.errors import InvalidText

cards = st.integers(0, 51)


@given(cards)
def test_a_name_reads_back_as_its_card(card: int) -> None:
    assert parse_card(card_name(card)) == card


def test_cards_are_numbered_by_rank_then_suit() -> None:
    assert [card_name(card) for card in (0, 1, 2, 3, 4, 51)] == ["AC", "AD", "AH", "AS", "2C", "KS"]
    assert len(set(CARD_NAMES)) == 52


@pytest.mark.parametrize("text", ["TD", "td", "10D", "10d", " Td "])
def test_names_are_read_in_any_case_and_with_ten_in_full(text: str) -> None:
    assert card_name(parse_card(text)) == "TD"


@pytest.mark.parametrize("text", ["", "T", "D", "DT", "1D", "TDD", "TX", "110D", "T D", "T♦", "-", "0"])
def test_what_names_no_card_is_refused_with_a_sentence(text: str) -> None:
    with pytest.raises(InvalidText, match="is no card"):
        parse_card(text)


@given(cards)
def test_the_symbol_form_has_the_same_rank_and_the_suit_drawn(card: int) -> None:
    symbol = card_symbol(card)
    assert symbol[0] == card_name(card)[0]
    assert "♣♦♥♠".index(symbol[1]) == "CDHS".index(card_name(card)[1])


@given(cards)
def test_diamonds_and_hearts_are_red(card: int) -> None:
    assert is_red(card) == (card_name(card)[1] in "DH")
