"""A supermove in single steps: one-card moves, each legal in its turn, that lead to the same board."""

from __future__ import annotations

import random
from itertools import product

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from cellrace.board import Board
from cellrace.errors import IllegalMove, Reason
from cellrace.variants import Empty, Variant, find_variant
from tests.protocol.positions import built_positions, limited_variants, longest_run, played_positions, supermove
from tests.protocol.slow_rules import after, first_reason, position

# The longest run that each game's cells and columns can ever carry at once.
LARGEST = {
    "freecell": 13,
    "two-suit": 13,
    "one-suit": 6,
    "bakers-game": 13,
    "eight-off": 9,
    "seahaven": 5,
    "forecell": 5,
}


def check_steps(board: Board, move: str) -> int:
    """Play a move's steps by the engine and by the slow rules; how many steps there were."""
    steps = board.single_steps(move)
    stepped, slow = board, position(board)
    for step in steps:
        assert stepped.carried(step) == 1, (move, steps, step)
        assert first_reason(slow, step) is None
        slow = after(slow, step)
        stepped = stepped.play(step)
    assert stepped == board.play(move), (move, steps)
    assert slow == position(stepped)
    return len(steps)


@settings(max_examples=200)
@given(st.one_of(played_positions(limited_variants), built_positions(limited_variants)))
def test_every_legal_move_of_any_position_can_be_told_in_single_steps(board: Board) -> None:
    for move in board.legal_moves():
        check_steps(board, move)


@settings(max_examples=300)
@given(limited_variants, st.data())
def test_supermoves_with_any_room_can_be_told_in_single_steps(variant: Variant, data: st.DataObject) -> None:
    free_cells = data.draw(st.integers(0, variant.cells))
    empty = data.draw(st.integers(0, len(variant.columns) - 2))
    on_empty = data.draw(st.booleans())
    room = (free_cells + 1) * (1 if variant.empty is Empty.KING else 2**empty)
    count = data.draw(st.integers(1, min(room, longest_run(variant, on_empty))))
    made = supermove(variant, count, free_cells, empty, on_empty, random.Random(data.draw(st.integers(0, 2**32))))
    if made is not None:
        check_steps(made.board, made.move)


@pytest.mark.parametrize("variant", [find_variant(game) for game in LARGEST], ids=lambda v: v.id)
def test_the_largest_supermove_of_every_room_can_be_told_in_single_steps(variant: Variant) -> None:
    choices = random.Random(variant.id)
    sizes = set()
    for free_cells, empty, on_empty in product(
        range(variant.cells + 1), range(len(variant.columns) - 1), (False, True)
    ):
        room = (free_cells + 1) * (1 if variant.empty is Empty.KING else 2**empty)
        made = supermove(variant, min(room, longest_run(variant, on_empty)), free_cells, empty, on_empty, choices)
        if made is not None:
            check_steps(made.board, made.move)
            sizes.add(made.size)
    assert max(sizes) == LARGEST[variant.id]


def test_cells_are_enough_for_a_short_run() -> None:
    made = supermove(find_variant("freecell"), 3, 4, 0, False, random.Random(1))
    assert made is not None
    source, target = made.move[0], made.move[1]
    steps = made.board.single_steps(made.move)
    assert len(steps) == 5
    assert steps[2] == source + target
    assert {step[1] for step in steps[:2]} == {step[0] for step in steps[3:]} <= set("abcd")


def test_a_move_of_one_card_is_its_own_step() -> None:
    made = supermove(find_variant("freecell"), 1, 2, 1, False, random.Random(1))
    assert made is not None
    assert made.board.single_steps(made.move) == [made.move]


def test_a_run_that_only_an_unlimited_game_can_carry_is_one_step() -> None:
    made = supermove(find_variant("relaxed"), 4, 1, 0, False, random.Random(1))
    assert made is not None
    assert made.board.single_steps(made.move) == [made.move]


def test_an_illegal_move_has_no_steps() -> None:
    made = supermove(find_variant("freecell"), 4, 1, 0, False, random.Random(1))
    assert made is not None
    with pytest.raises(IllegalMove) as refused:
        made.board.single_steps(made.move)
    assert refused.value.reason is Reason.TOO_MANY_CARDS
