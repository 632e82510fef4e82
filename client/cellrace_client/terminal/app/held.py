"""What a player has picked up, where it may be dropped, and what move that is. Pure."""

from __future__ import annotations

from typing import NamedTuple

from cellrace.board import Board
from cellrace.cards import NO_CARD
from cellrace.notation import FIRST_CELL, HOME, MOVES, RESERVE, move_text, parse_move


class Held(NamedTuple):
    """A pile of which cards are picked up: so many from its exposed end."""

    pile: int
    cards: int = 1


def cards_of(board: Board, pile: int) -> bytes:
    """The cards of a pile that can be picked up, from the buried end to the exposed one; none for home."""
    if pile < FIRST_CELL:
        return board.columns[pile] if pile < len(board.columns) else b""
    if pile == RESERVE:
        return board.reserve[:1]
    if pile == HOME or pile - FIRST_CELL >= len(board.cells):
        return b""
    card = board.cells[pile - FIRST_CELL]
    return b"" if card == NO_CARD else bytes((card,))


def run_length(board: Board, column: int) -> int:
    """How many cards at the end of a column lie in order."""
    cards = board.columns[column]
    fits = board.variant.fits
    length = min(1, len(cards))
    while 0 < length < len(cards) and cards[-length] * 64 + cards[-length - 1] in fits:
        length += 1
    return length


def piles_of(board: Board) -> list[int]:
    """Every pile that a card may be dropped on, in the order in which they lie on the table."""
    cells = [FIRST_CELL + i for i in range(len(board.cells))]
    return [*cells, HOME, *range(len(board.columns))]


def drop(board: Board, held: Held, target: int) -> str:
    """The move that drops what is held on a pile, legal or not.

    A filled column takes what fits there; how many cards are held counts only where a column is empty.
    """
    to_empty = held.pile < FIRST_CELL and target < len(board.columns) and not board.columns[target]
    return move_text(held.pile, target, held.cards if to_empty and held.cards > 1 else 0)


def targets(board: Board, held: Held) -> frozenset[int]:
    """The piles on which what is held may be dropped."""
    return frozenset(
        pile for pile in piles_of(board) if pile != held.pile and board.refusal(drop(board, held, pile)) is None
    )


def send_home(board: Board, pile: int) -> str | None:
    """The move that plays a pile's exposed card home; None where there is none to play."""
    return move_text(pile, HOME) if cards_of(board, pile) and pile != RESERVE else None


def carried_by(board: Board, move: str) -> tuple[Held, int]:
    """The cards that a legal move takes, and the pile to which they go."""
    source, target, _count = parse_move(move)
    return Held(source, board.carried(move) if source < FIRST_CELL else 1), target


def can_be_more(board: Board, move: str) -> bool:
    """Whether a move, just played from this board, could have been meant to carry more: it went to an empty column."""
    parsed = MOVES.get(move)
    if parsed is None or parsed.cards or parsed.target >= len(board.columns) or board.columns[parsed.target]:
        return False
    return board.refusal(f"{move}v2") is None
