"""Which cards go home by themselves after a move: Horne's rule (RULES, section 3)."""

from __future__ import annotations

from enum import StrEnum

from cellrace.board import Board
from cellrace.cards import NO_CARD
from cellrace.notation import CELL_LETTERS, COLUMN_LETTERS
from cellrace.variants import Variant


class Autoplay(StrEnum):
    """What goes home without being moved: `safe` cards, or `none`."""

    SAFE = "safe"
    NONE = "none"


def next_safe_move(board: Board) -> str | None:
    """The first card that can go home and that no card can still need in a column, as a move.

    Columns first, then cells, each from left to right.
    """
    variant, columns, cells, homes, reserve = board
    if reserve:
        return None
    home_index = variant.home_index
    for c, column in enumerate(columns):
        if column and homes[column[-1] & 3] == home_index[column[-1]] and _is_safe(variant, homes, column[-1]):
            return COLUMN_LETTERS[c] + "h"
    for i, card in enumerate(cells):
        if card != NO_CARD and homes[card & 3] == home_index[card] and _is_safe(variant, homes, card):
            return CELL_LETTERS[i] + "h"
    return None


def _is_safe(variant: Variant, homes: bytes, card: int) -> bool:
    """Whether no card can still need this one, which its home is ready for, in a column."""
    before = variant.home_index[card]
    return all(homes[suit] >= before for suit in variant.waits_for[card])


def play_safe_moves(board: Board) -> tuple[Board, list[str]]:
    """The board after all that is safe has gone home, and the moves that took it there."""
    played: list[str] = []
    while (move := next_safe_move(board)) is not None:
        board = board.play(move)
        played.append(move)
    return board, played
