"""Which cards go home by themselves after a move: Horne's rule (RULES, section 3)."""

from __future__ import annotations

from enum import StrEnum

from cellrace.board import Board
from cellrace.cards import NO_CARD
from cellrace.notation import CELL_LETTERS, COLUMN_LETTERS
from cellrace.variants import Build

_OTHER_COLOR = ((1, 2), (0, 3), (0, 3), (1, 2))
_SUIT_LETTERS = "CDHS"


class Autoplay(StrEnum):
    """What goes home without being moved: `safe` cards, or `none`."""

    SAFE = "safe"
    NONE = "none"


def next_safe_move(board: Board) -> str | None:
    """The first card that can go home and that no card can still need in a column, as a move.

    Columns first, then cells, each from left to right.
    """
    if board.reserve:
        return None
    for c, column in enumerate(board.columns):
        if column and _is_safe(board, column[-1]):
            return COLUMN_LETTERS[c] + "h"
    for i, card in enumerate(board.cells):
        if card != NO_CARD and _is_safe(board, card):
            return CELL_LETTERS[i] + "h"
    return None


def _is_safe(board: Board, card: int) -> bool:
    variant = board.variant
    homes = board.homes
    place = variant.home_index[card]
    if homes[card & 3] != place:
        return False
    if place < 2 or variant.build is not Build.COLOR:
        return True
    return all(homes[suit] >= place for suit in _OTHER_COLOR[card & 3] if _SUIT_LETTERS[suit] in variant.suits)


def play_safe_moves(board: Board) -> tuple[Board, list[str]]:
    """The board after all that is safe has gone home, and the moves that took it there."""
    played: list[str] = []
    while (move := next_safe_move(board)) is not None:
        board = board.play(move)
        played.append(move)
    return board, played
