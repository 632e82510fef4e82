"""A path of steps told as moves: where each card lies on the real board, judged by the board itself."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from cellrace.autoplay import play_safe_moves
from cellrace.board import Board
from cellrace.cards import NO_CARD
from cellrace.notation import FIRST_CELL, HOME, RESERVE, move_text
from cellrace.solver.position import TO_CELL, TO_EMPTY, TO_HOME, step_parts


@dataclass(frozen=True, slots=True)
class Solution:
    """A won game from a given board on.

    `moves` are for a game without autoplay, every card that goes home among them; `safe_moves` are what a player sends
    in a game with autoplay `safe`; `states` is how many positions the search found.
    """

    moves: tuple[str, ...]
    safe_moves: tuple[str, ...]
    states: int


def tell(board: Board, placement: Sequence[int], path: Sequence[int], states: int) -> Solution:
    """The solution that lays the reserve on the columns of `placement` and then goes the path.

    Raises IllegalMove when the path is none, so that no solution is told that the rules do not allow.
    """
    sent: list[str] = []
    for column in placement:
        sent.append(move_text(RESERVE, column))
        board = board.play(sent[-1])
    moves = sent[:]
    board, played = play_safe_moves(board)
    moves += played
    if not placement:
        # Nothing goes home by itself before the first move, and the first of these moves brings the others about.
        sent += played[:1]
    for step in path:
        move = _spell(board, step)
        board, played = play_safe_moves(board.play(move))
        sent.append(move)
        moves += (move, *played)
    assert board.won, "a path ends with every card home"
    return Solution(tuple(moves), tuple(sent), states)


def _spell(board: Board, step: int) -> str:
    """A step as a move: the cards found where they lie, the first cell or column where any would do."""
    card, count, target = step_parts(step)
    columns = board.columns
    source = FIRST_CELL + board.cells.find(card)
    if source < FIRST_CELL:
        source = next(c for c, column in enumerate(columns) if card in column)
    match target:
        case _ if target == TO_HOME:
            return move_text(source, HOME)
        case _ if target == TO_CELL:
            return move_text(source, FIRST_CELL + board.cells.index(NO_CARD))
        case _ if target == TO_EMPTY:
            return move_text(source, columns.index(b""), count if count > 1 else 0)
        case _:
            return move_text(source, next(c for c, column in enumerate(columns) if column and column[-1] == target))
