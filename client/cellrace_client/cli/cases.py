"""Cases: a position and moves to play from it, read from JSON lines and answered in JSON lines."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from typing import BinaryIO

from msgspec import DecodeError, Struct
from msgspec.json import Decoder, Encoder

from cellrace.autoplay import Autoplay
from cellrace.board import Board, dealt_board
from cellrace.board_text import named_board
from cellrace.deals import deal
from cellrace.errors import CellraceError, IllegalMove, InvalidText
from cellrace.game import Game
from cellrace.messages.boards import board_map
from cellrace.messages.values import BoardMap
from cellrace.variants import Variant, find_variant

LONGEST_LINE = 1024 * 1024
"""The most bytes of a line: a full log of 20,000 moves has a sixth of that."""


@dataclass(frozen=True, slots=True)
class Outcome:
    """How far moves could be played: the game there, the step of each move, and the first that is illegal."""

    game: Game
    steps: list[list[str]]
    illegal: IllegalMove | None


def play_moves(game: Game, moves: Iterable[str]) -> Outcome:
    """Play moves up to the first that is illegal."""
    steps: list[list[str]] = []
    for index, move in enumerate(moves):
        try:
            game, step = game.play(move, index)
        except IllegalMove as illegal:
            return Outcome(game, steps, illegal)
        steps.append(step)
    return Outcome(game, steps, None)


class CaseBoard(Struct, frozen=True, gc=False):
    """A board as the wire has it; what is missing is empty."""

    columns: list[list[str]]
    cells: list[str | None] | None = None
    homes: dict[str, str | None] | None = None
    reserve: list[str] | None = None


class Case(Struct, frozen=True, gc=False):
    """One line to answer."""

    variant: str | None = None
    deal: int | None = None
    board: CaseBoard | None = None
    moves: list[str] | None = None
    autoplay: Autoplay | None = None


class CaseError(Struct, frozen=True, gc=False):
    """Why a case is not all right: a move that is illegal, or a line that is no case."""

    index: int | None
    move: str | None
    reason: str
    message: str


class CaseAnswer(Struct, frozen=True, gc=False):
    """What became of a case; board, home and won tell the position before the illegal move, if there is one."""

    ok: bool
    applied: int
    won: bool
    home: int
    board: BoardMap | None
    error: CaseError | None


def answer(outcome: Outcome) -> CaseAnswer:
    """The answer that tells an outcome."""
    board = outcome.game.board
    illegal = outcome.illegal
    return CaseAnswer(
        ok=illegal is None,
        applied=len(outcome.steps),
        won=board.won,
        home=board.cards_home,
        board=board_map(board),
        error=None if illegal is None else CaseError(illegal.index, illegal.move, illegal.reason, str(illegal)),
    )


def no_case(message: str) -> CaseAnswer:
    """The answer to a line that is no case."""
    return CaseAnswer(
        ok=False, applied=0, won=False, home=0, board=None, error=CaseError(None, None, "no_case", message)
    )


class CaseReader:
    """Answers lines; a case that does not say them gets this variant and this autoplay."""

    def __init__(self, variant: Variant, autoplay: Autoplay) -> None:
        self._variant = variant
        self._autoplay = autoplay
        self._decoder = Decoder(Case)
        self._encoder = Encoder()

    def answer_line(self, line: bytes) -> CaseAnswer:
        """The answer to one line, whatever it holds."""
        if len(line) > LONGEST_LINE:
            return no_case(f"The line is longer than {LONGEST_LINE} bytes.")
        try:
            case = self._decoder.decode(line)
        except (DecodeError, ValueError, RecursionError) as unreadable:
            return no_case(f"The line is no case: {unreadable}.")
        try:
            board = self._board(case)
        except CellraceError as refused:
            return no_case(str(refused))
        game = Game(board, self._autoplay if case.autoplay is None else case.autoplay)
        return answer(play_moves(game, case.moves or ()))

    def _board(self, case: Case) -> Board:
        variant = self._variant if case.variant is None else find_variant(case.variant)
        match case:
            case Case(deal=int(number), board=None):
                return dealt_board(variant, deal(variant, number))
            case Case(deal=None, board=CaseBoard() as board):
                return named_board(variant, board.columns, board.cells or (), board.homes or {}, board.reserve or ())
            case _:
                raise InvalidText("A case has a deal or a board, one of the two.")

    def encode(self, told: CaseAnswer) -> bytes:
        """An answer as a line."""
        return self._encoder.encode(told) + b"\n"


def read_lines(stream: BinaryIO) -> Iterator[bytes]:
    """The lines of a stream as they come; of one that is too long, enough to see that."""
    while line := stream.readline(LONGEST_LINE + 2):
        rest = line
        while len(rest) > LONGEST_LINE and not rest.endswith(b"\n"):
            rest = stream.readline(LONGEST_LINE + 2)
        yield line.rstrip(b"\r\n")
