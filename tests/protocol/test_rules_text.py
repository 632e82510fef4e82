"""Rules in plain words: every field of a row is told, and what is told is true."""

from __future__ import annotations

from dataclasses import fields, replace
from gettext import NullTranslations
from typing import Any

import pytest

from cellrace.rules_text import rules_paragraphs
from cellrace.variants import VARIANTS, Build, Empty, Run, Variant, find_variant

# For each field of a row, other values that it might have.
OTHER_VALUES: dict[str, list[Any]] = {
    "id": ["othercell"],
    "name": ["Othercell"],
    "columns": [(9,) * 8, (7, 7, 7, 7, 6, 6, 6), (8, 6, 7, 7, 6, 6, 6, 6)],
    "cells": [1, 2, 5, 6],
    "suits": ["DS", "HS", "CDS"],
    "ranks": ["A23456789TJ", "23456789TJQKA"],
    "home_order": ["KQJT98765432A", "A23456789TJ"],
    "cells_dealt": [1, 2, 3],
    "build": [Build.SUIT, Build.RANK],
    "run": [Run.SINGLE, Run.UNLIMITED],
    "empty": [Empty.KING],
    "reserve": [1, 2, 3],
}

every_variant = pytest.mark.parametrize("variant", VARIANTS.values(), ids=lambda v: v.id)


def told(variant: Variant) -> str:
    """The whole text."""
    return "\n".join(f"{title}: {text}" for title, text in rules_paragraphs(variant))


@pytest.mark.parametrize("field", [field.name for field in fields(Variant)])
def test_each_field_of_a_row_is_told(field: str) -> None:
    freecell = find_variant("freecell")
    rows = [freecell, *(replace(freecell, **{field: value}) for value in OTHER_VALUES[field])]
    texts = [told(row) for row in rows]
    assert len(set(texts)) == len(rows)


def test_no_two_games_have_the_same_rules() -> None:
    assert len({told(replace(v, id="x", name="X")) for v in VARIANTS.values()}) == len(VARIANTS)


@every_variant
def test_paragraphs_are_short_whole_sentences(variant: Variant) -> None:
    for title, text in rules_paragraphs(variant):
        assert title
        assert len(text) < 500
        assert text.endswith(".")
        assert "{" not in text
        assert "  " not in text


SAID = [
    ("freecell", "8 columns, from left to right of 7 7 7 7 6 6 6 6 cards"),
    ("freecell", "There are 4 cells."),
    ("freecell", "of the other colour"),
    ("freecell", "2 free cells and 1 empty column that is 6 cards"),
    ("freecell", "Any card may go to an empty column"),
    ("marseille", "3 cards are left over."),
    ("marseille", "A run of any length"),
    ("marseille", "r1 lays"),
    ("six-by-six", "the ranks A 6 7 8 9 T J Q K, from low to high"),
    ("six-by-six", "in the order A 6 7 8 9 T J Q K"),
    ("six-by-six", "Only one card moves at a time"),
    ("six-by-six-down", "the ranks 6 7 8 9 T J Q K A, from low to high"),
    ("six-by-six-down", "in the order A K Q J T 9 8 7 6"),
    ("two-suit", "of ♥ (H) ♠ (S)"),
    ("one-suit", "bring the whole suit home"),
    ("one-suit", "of any suit"),
    ("eight-off", "The first 4 from the left hold a card"),
    ("eight-off", "cells a b c d e f g k"),
    ("seahaven", "columns 1 2 3 4 5 6 7 8 9 0"),
    ("seahaven", "Only a king"),
    ("forecell", "With 2 free cells that is 3 cards"),
]


@pytest.mark.parametrize(("game", "said"), SAID)
def test_what_makes_a_game_different_is_said(game: str, said: str) -> None:
    assert said in told(find_variant(game))


@every_variant
def test_the_example_of_building_is_one_that_the_rules_allow(variant: Variant) -> None:
    building = dict(rules_paragraphs(variant))["Building"]
    upper, _, lower = building.partition("For example ")[2].partition(".")[0].partition(" goes on ")

    def card(symbol: str) -> int:
        return "A23456789TJQK".index(symbol[0]) * 4 + "♣♦♥♠".index(symbol[1])

    assert card(upper) * 64 + card(lower) in variant.fits


def test_sentences_can_be_translated() -> None:
    class Loud(NullTranslations):
        """A language in which everything is shouted."""

        def gettext(self, message: str) -> str:
            return f"!{message}"

        def ngettext(self, msgid1: str, msgid2: str, n: int) -> str:
            return f"!{msgid1 if n == 1 else msgid2}"

    for title, text in rules_paragraphs(find_variant("marseille"), Loud()):
        assert title.startswith("!")
        assert text.startswith("!")
