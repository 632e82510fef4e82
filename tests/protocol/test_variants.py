"""Variants: the table of the rules' first section, and what is derived from a row."""

from __future__ import annotations

import pickle
from itertools import product

import pytest

from cellrace.cards import CARD_NAMES
from cellrace.errors import UnknownVariant
from cellrace.variants import MAIN_VARIANTS, VARIANTS, Variant, find_variant
from tests.protocol.slow_rules import may_lie_on

FREECELL = (7, 7, 7, 7, 6, 6, 6, 6)
SIX = "A6789TJQK"
UP = "A23456789TJQK"

# id: pack, columns, cells, dealt, build, run, home order, reserve, what goes to an empty column
TABLE = {
    "freecell": (52, FREECELL, 4, 0, "color", "limited", UP, 0, "any"),
    "marseille": (52, (7,) * 7, 3, 0, "color", "unlimited", UP, 3, "any"),
    "six-by-six": (36, (6,) * 6, 3, 0, "suit", "single", SIX, 0, "any"),
    "six-by-six-down": (36, (6,) * 6, 3, 0, "suit", "single", "AKQJT9876", 0, "any"),
    "two-suit": (26, (5, 5, 4, 4, 4, 4), 2, 0, "color", "limited", UP, 0, "any"),
    "one-suit": (13, (5, 4, 4), 2, 0, "rank", "limited", UP, 0, "any"),
    "bakers-game": (52, FREECELL, 4, 0, "suit", "limited", UP, 0, "any"),
    "relaxed": (52, FREECELL, 4, 0, "color", "unlimited", UP, 0, "any"),
    "eight-off": (52, (6,) * 8, 8, 4, "suit", "limited", UP, 0, "king"),
    "seahaven": (52, (5,) * 10, 4, 2, "suit", "limited", UP, 0, "king"),
    "forecell": (52, (6,) * 8, 4, 4, "color", "limited", UP, 0, "king"),
}


def test_the_games_are_those_of_the_rules_row_by_row() -> None:
    rows = {
        v.id: (
            v.pack_size,
            v.columns,
            v.cells,
            v.cells_dealt,
            v.build.value,
            v.run.value,
            v.home_order,
            v.reserve,
            v.empty.value,
        )
        for v in VARIANTS.values()
    }
    assert rows == TABLE
    assert set(MAIN_VARIANTS) <= set(VARIANTS)
    assert len(MAIN_VARIANTS) == 6


@pytest.mark.parametrize("variant", VARIANTS.values(), ids=lambda v: v.id)
def test_the_layout_uses_the_pack_up(variant: Variant) -> None:
    assert sum(variant.columns) + variant.cells_dealt + variant.reserve == variant.pack_size
    assert len(set(variant.pack)) == variant.pack_size


@pytest.mark.parametrize("variant", VARIANTS.values(), ids=lambda v: v.id)
def test_what_may_lie_on_what_is_the_column_rule_for_every_pair(variant: Variant) -> None:
    for upper, lower in product(variant.pack, repeat=2):
        allowed = may_lie_on(variant, CARD_NAMES[upper], CARD_NAMES[lower])
        assert (upper * 64 + lower in variant.fits) == allowed, (CARD_NAMES[upper], CARD_NAMES[lower])


@pytest.mark.parametrize(
    ("game", "upper", "lower", "allowed"),
    [
        ("six-by-six", "AC", "6C", True),
        ("six-by-six", "6C", "AC", False),
        ("six-by-six", "KC", "AC", False),
        ("six-by-six-down", "KC", "AC", True),
        ("six-by-six-down", "AC", "KC", False),
        ("six-by-six-down", "AC", "6C", False),
        ("one-suit", "QS", "KS", True),
        ("freecell", "KS", "AH", False),
    ],
)
def test_ranks_never_go_round(game: str, upper: str, lower: str, allowed: bool) -> None:
    variant = find_variant(game)
    assert (CARD_NAMES.index(upper) * 64 + CARD_NAMES.index(lower) in variant.fits) == allowed


@pytest.mark.parametrize("variant", VARIANTS.values(), ids=lambda v: v.id)
def test_a_row_stays_one_object_in_another_process(variant: Variant) -> None:
    assert pickle.loads(pickle.dumps(variant)) is variant  # noqa: S301 - our own bytes


def test_an_unknown_game_is_refused_with_the_names_of_those_there_are() -> None:
    with pytest.raises(UnknownVariant, match="six-by-six-down"):
        find_variant("klondike")
