"""Playing on without a plan: the move that looks best, and never a position twice. Pure."""

from __future__ import annotations

from collections.abc import Set as AbstractSet
from itertools import pairwise

from cellrace.board import Board
from cellrace.cards import NO_CARD
from cellrace.game import Game


def greedy_move(game: Game, seen: AbstractSet[Board]) -> str | None:
    """The legal move to the best position that was not seen yet; None when there is none."""
    best: str | None = None
    best_worth = -1
    for move in game.board.legal_moves():
        after, _ = game.play(move)
        if after.board in seen:
            continue
        worth = board_worth(after.board)
        if worth > best_worth:
            best, best_worth = move, worth
    return best


def board_worth(board: Board) -> int:
    """How good a position looks: cards home, room to move, and cards that lie in order."""
    fits = board.variant.fits
    ordered = sum(upper * 64 + lower in fits for column in board.columns for lower, upper in pairwise(column))
    return 12 * board.cards_home + 6 * board.columns.count(b"") + 3 * board.cells.count(NO_CARD) + 2 * ordered
