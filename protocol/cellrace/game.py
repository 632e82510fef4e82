"""One entrant's game: a board, what can be taken back, and the counts that standings use."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field

from cellrace.autoplay import Autoplay, play_safe_moves
from cellrace.board import Board
from cellrace.errors import IllegalMove, Reason
from cellrace.notation import RESERVE_LETTER, UNDO

LOG_LIMIT = 20_000
"""How many entries a game's log may have."""

_Past = tuple[Board, "_Past | None"]


@dataclass(frozen=True, slots=True)
class Game:
    """A game as played so far; each entry of its log gives a new one.

    `seq` counts the log's entries, `moves` those that are neither `u` nor of the reserve (taken back ones too),
    `undos` those that are `u`.
    """

    board: Board
    autoplay: Autoplay = Autoplay.SAFE
    undo: bool = True
    seq: int = 0
    moves: int = 0
    undos: int = 0
    _past: _Past | None = field(default=None, compare=False, repr=False)

    @property
    def won(self) -> bool:
        """Whether every card is home."""
        return self.board.won

    def play(self, move: str, index: int = 0, log_limit: int = LOG_LIMIT) -> tuple[Game, list[str]]:
        """The game after one entry, and its step: the move, then what was played home automatically.

        `index` is the entry's place in its message, for the refusal. Raises IllegalMove.
        """
        if self.board.won:
            raise IllegalMove(Reason.ALREADY_WON, move, index)
        if self.seq >= log_limit:
            raise IllegalMove(Reason.LOG_FULL, move, index)
        if move == UNDO:
            return self._take_back(index), [UNDO]
        try:
            board = self.board.play(move)
        except IllegalMove as refused:
            raise IllegalMove(refused.reason, move, index) from None
        past = (self.board, self._past)
        played: list[str] = []
        if self.autoplay is Autoplay.SAFE:
            board, played = play_safe_moves(board)
        counted = move[0] != RESERVE_LETTER
        game = Game(board, self.autoplay, self.undo, self.seq + 1, self.moves + counted, self.undos, past)
        return game, [move, *played]

    def _take_back(self, index: int) -> Game:
        if not self.undo:
            raise IllegalMove(Reason.UNDO_OFF, UNDO, index)
        if self._past is None:
            raise IllegalMove(Reason.NOTHING_TO_UNDO, UNDO, index)
        board, past = self._past
        return Game(board, self.autoplay, self.undo, self.seq + 1, self.moves, self.undos + 1, past)

    def play_all(self, moves: Iterable[str], log_limit: int = LOG_LIMIT) -> tuple[Game, list[list[str]]]:
        """The game after all entries, and the step of each; or IllegalMove for the first that is illegal."""
        game = self
        steps: list[list[str]] = []
        for index, move in enumerate(moves):
            game, step = game.play(move, index, log_limit)
            steps.append(step)
        return game, steps
