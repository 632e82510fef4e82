"""A bot in one method: of all legal moves it takes the one that leaves most cards home and most room.

python examples/greedy_bot.py [SERVER [RACE]]
"""

from __future__ import annotations

import sys

from cellrace.autoplay import play_safe_moves
from cellrace.board import Board
from cellrace.cards import NO_CARD
from cellrace_client.homemade import Bot, run


class Greedy(Bot):
    """Never looks further than one move, and never at a board twice."""

    def __init__(self) -> None:
        super().__init__()
        self.seen: set[Board] = set()

    def choose(self, board: Board) -> str | None:
        """The move to the best board; None, which concedes, when all of them were there before."""
        self.seen.add(board)
        boards = {move: play_safe_moves(board.play(move))[0] for move in board.legal_moves()}
        new = [move for move in boards if boards[move] not in self.seen]
        return max(new, key=lambda move: worth(boards[move]), default=None)


def worth(board: Board) -> int:
    """How good a board looks: cards home, free cells, empty columns."""
    return 10 * board.cards_home + 3 * board.cells.count(NO_CARD) + 5 * board.columns.count(b"")


if __name__ == "__main__":
    server, race = [*sys.argv[1:], None, None][:2]
    run(Greedy(), server or "localhost", race=race)
