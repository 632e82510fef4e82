"""A move as the boards in between: supermoves card by card, and cards that go home by themselves. Pure."""

from __future__ import annotations

from collections.abc import Sequence

from cellrace.board import Board
from cellrace.notation import UNDO

LONGEST = 0.45
"""Seconds that the steps of one move take at most."""
_A_STEP = 0.06
"""Seconds of one step where there are few: long enough to be seen."""


def boards_between(before: Board, step: Sequence[str]) -> list[Board]:
    """The boards from a move to its end, the last one included; `step` is the move and what went home after it.

    One board alone where there is nothing in between, none for `u`.
    """
    if step[0] == UNDO:
        return []
    boards = []
    board = before
    for single in before.single_steps(step[0]):
        board = board.play(single)
        boards.append(board)
    for home in step[1:]:
        board = board.play(home)
        boards.append(board)
    return boards


def pause(count: int) -> float:
    """Seconds between so many boards."""
    return min(_A_STEP, LONGEST / max(1, count))
