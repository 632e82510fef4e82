"""Boards in the middle of games, for tests of how they are drawn and played on."""

from __future__ import annotations

from random import Random

from hypothesis import strategies as st

from cellrace.board import Board, dealt_board
from cellrace.deals import deal
from cellrace.variants import VARIANTS, find_variant


def dealt(variant_id: str, number: int) -> Board:
    """A board as it is dealt."""
    variant = find_variant(variant_id)
    return dealt_board(variant, deal(variant, number))


@st.composite
def boards(draw: st.DrawFn) -> Board:
    """A board of any game after some random moves."""
    board = dealt(draw(st.sampled_from(sorted(VARIANTS))), draw(st.integers(1, 1000)))
    chance = Random(draw(st.integers(0, 2**32)))
    for _ in range(draw(st.integers(0, 60))):
        moves = board.legal_moves()
        if not moves or board.won:
            break
        board = board.play(chance.choice(moves))
    return board
