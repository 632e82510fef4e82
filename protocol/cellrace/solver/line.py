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
    for step in without_detours(board, path):
        move = _spell(board, step)
        assert move is not None, "a path leads from position to position"
        board, played = play_safe_moves(board.play(move))
        sent.append(move)
        moves += (move, *played)
    assert board.won, "a path ends with every card home"
    return Solution(tuple(moves), tuple(sent), states)


def without_detours(board: Board, path: Sequence[int]) -> Sequence[int]:
    """The path without each step that the rest of it can do without: still to a win, and never longer."""
    kept = 0
    while kept < len(path):
        shorter = _what_still_wins(board, [*path[:kept], *path[kept + 1 :]])
        if shorter is None:
            kept += 1
        else:
            path = shorter
    return path


def _what_still_wins(board: Board, path: Sequence[int]) -> list[int] | None:
    """The steps of a path that can be taken, one after the other, when they lead to a win."""
    taken: list[int] = []
    for step in path:
        move = _spell(board, step)
        if move is not None and board.refusal(move) is None:
            board, _ = play_safe_moves(board.play(move))
            taken.append(step)
    return taken if board.won else None


def _spell(board: Board, step: int) -> str | None:
    """A step as a move: the cards found where they lie, the first cell or column where any would do.

    None where the card is home, where more or fewer cards lie on it, or where there is no such target.
    """
    card, count, target = step_parts(step)
    columns = board.columns
    source = FIRST_CELL + board.cells.find(card)
    if source < FIRST_CELL:
        source = next((c for c, column in enumerate(columns) if card in column), HOME)
        if source == HOME or columns[source][-count:][0] != card:
            return None
    goal = _goal(board, source, target)
    if goal is None or goal == source:
        return None
    return move_text(source, goal, count if target == TO_EMPTY and count > 1 else 0)


def _goal(board: Board, source: int, target: int) -> int | None:
    """The pile that a step from a pile goes to; None where there is no such one now."""
    if target == TO_HOME:
        return HOME
    if target == TO_CELL:
        free = board.cells.find(NO_CARD)
        return FIRST_CELL + free if free >= 0 and source < FIRST_CELL else None
    if target == TO_EMPTY:
        return board.columns.index(b"") if b"" in board.columns else None
    return next((c for c, column in enumerate(board.columns) if column.endswith(bytes((target,)))), None)
