"""A bot in one method: it goes to the best board that it has not seen yet, and takes a move back when there is none.

python examples/greedy_bot.py [SERVER [RACE]]
"""

from __future__ import annotations

import sys

from cellrace.autoplay import play_safe_moves
from cellrace.board import Board
from cellrace.cards import NO_CARD
from cellrace_client.homemade import Bot, run


class Greedy(Bot):
    """Never looks further than one move."""

    seen: frozenset[Board] = frozenset()
    depth = 0

    def choose(self, board: Board) -> str | None:
        """The next move, `u` to take the last one back, or None to concede."""
        self.seen |= {board}
        boards = {move: play_safe_moves(board.play(move))[0] for move in board.legal_moves()}
        new = [move for move in boards if boards[move] not in self.seen]
        self.depth += 1 if new else -1
        if self.depth < 0 or len(self.seen) > 1000:
            return None
        return max(new, key=lambda move: worth(boards[move]), default="u")


def worth(board: Board) -> int:
    """How good a board looks: cards home, free cells, empty columns."""
    return 10 * board.cards_home + 3 * board.cells.count(NO_CARD) + 5 * board.columns.count(b"")


if __name__ == "__main__":
    server, race, *_ = [*sys.argv[1:], None, None]
    run(Greedy(), server or "localhost", race=race)
