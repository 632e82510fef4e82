"""A player's hand over the board: what keys and clicks pick up and drop. Pure: it asks for moves and plays none."""

from __future__ import annotations

from enum import Enum
from typing import NamedTuple

from cellrace.board import Board
from cellrace.errors import Reason
from cellrace.notation import FIRST_CELL, HOME, RESERVE, move_text
from cellrace_client.language import _
from cellrace_client.terminal.app.board_layout import Hit
from cellrace_client.terminal.app.held import Held, can_be_more, cards_of, drop, piles_of, run_length, send_home
from cellrace_client.terminal.app.keys import COUNT_LETTER, COUNTS, UNDO_LETTER, pile_of
from cellrace_client.terminal.refusals import reason_text


class Play(NamedTuple):
    """A move that is asked for; `instead` of the last one when that was to carry more cards."""

    move: str
    instead: bool = False


class Refuse(NamedTuple):
    """Why there is nothing to be done."""

    sentence: str


class Way(Enum):
    """Where the cursor goes."""

    LEFT = "left"
    RIGHT = "right"
    UP = "up"
    DOWN = "down"


Asked = Play | Refuse | None


class Hand:
    """What is held, and where the cursor is, if it is used."""

    def __init__(self) -> None:
        self.held: Held | None = None
        self.cursor: int | None = None
        self._last: str | None = None
        self._counting = False

    @property
    def may_grow(self) -> bool:
        """Whether the last move may yet be told to carry more cards."""
        return self._last is not None

    def let_go(self) -> bool:
        """Drops what is held where it was; False when nothing was."""
        held, self.held = self.held, None
        counting, self._counting = self._counting, False
        return held is not None or counting

    def type(self, letter: str, board: Board) -> Asked:
        """A letter of the notation: the first one picks up, the second one drops."""
        if self._counting and letter in COUNTS:
            self._counting = False
            last, self._last = self._last, None
            return Play(f"{last}{COUNT_LETTER}{letter}", instead=True)
        self._counting = letter == COUNT_LETTER and self._last is not None
        if letter == COUNT_LETTER:
            return None
        if letter == UNDO_LETTER:
            self.let_go()
            return self._ask(UNDO_LETTER, board)
        pile = pile_of(letter)
        if self.held is not None:
            return self._drop(pile, board)
        if pile == HOME:
            return self.go_home(board)
        return self._pick(Held(pile), board)

    def choose(self, board: Board) -> Asked:
        """Picks up where the cursor is, or drops there."""
        if self.cursor is None:
            self.cursor = 0
            return None
        if board.reserve and self.held is None and self.cursor < FIRST_CELL:
            return self._ask(move_text(RESERVE, self.cursor), board)
        return self._drop(self.cursor, board) if self.held else self._pick(Held(self.cursor), board)

    def go_home(self, board: Board) -> Asked:
        """Plays the exposed card home that is held, or else that is under the cursor."""
        pile = self.held.pile if self.held else self.cursor
        self.held = None
        move = send_home(board, pile) if pile is not None else None
        return self._ask(move, board) if move else Refuse(_("Cards that are home stay there."))

    def go(self, way: Way, board: Board) -> None:
        """Moves the cursor; it appears on the first column."""
        if self.cursor is None:
            self.cursor = 0
            return
        columns = list(range(len(board.columns)))
        top = [pile for pile in piles_of(board) if pile >= FIRST_CELL]
        row, other = (columns, top) if self.cursor < FIRST_CELL else (top, columns)
        at = row.index(self.cursor) if self.cursor in row else 0
        match way:
            case Way.LEFT | Way.RIGHT:
                self.cursor = row[(at + (1 if way is Way.RIGHT else -1)) % len(row)]
            case Way.UP | Way.DOWN:
                # Both rows are as wide, so that the same share of each lies above the other.
                self.cursor = other[round(at * (len(other) - 1) / max(1, len(row) - 1))]

    def hold_more(self, more: int, board: Board) -> None:
        """Holds so many more cards of a run, or fewer."""
        if self.held is None or self.held.pile >= FIRST_CELL:
            return
        most = run_length(board, self.held.pile)
        self.held = Held(self.held.pile, max(1, min(most, self.held.cards + more)))

    def press(self, hit: Hit, board: Board) -> Asked:
        """A mouse button goes down: drops what is held, or picks up the card there with all that lie upon it."""
        self.cursor = None
        if board.reserve and hit.pile < FIRST_CELL:
            self.held = None
            return self._ask(move_text(RESERVE, hit.pile), board)
        if self.held is not None:
            return self._drop(hit.pile, board)
        cards = 1
        if hit.pile < FIRST_CELL:
            cards = len(board.columns[hit.pile]) - hit.depth
            if cards > max(1, run_length(board, hit.pile)):
                return Refuse(reason_text(Reason.NOT_A_RUN))
        if hit.pile == HOME:
            return None
        return self._pick(Held(hit.pile, max(1, cards)), board)

    def release(self, hit: Hit | None, board: Board) -> Asked:
        """The button goes up elsewhere: what was dragged there is dropped."""
        if self.held is None:
            return None
        if hit is None:
            self.held = None
            return None
        return self._drop(hit.pile, board)

    def _pick(self, held: Held, board: Board) -> Asked:
        self._last = None
        if not cards_of(board, held.pile):
            exists = held.pile in piles_of(board) or (held.pile == RESERVE and board.variant.reserve)
            return Refuse(reason_text(Reason.EMPTY_SOURCE if exists else Reason.NO_SUCH_PILE))
        if board.reserve and held.pile != RESERVE:
            return Refuse(reason_text(Reason.RESERVE_FIRST))
        self.held = held
        return None

    def _drop(self, pile: int, board: Board) -> Asked:
        held, self.held = self.held, None
        if held is None or pile == held.pile:
            return None
        return self._ask(drop(board, held, pile), board)

    def _ask(self, move: str, board: Board) -> Play:
        self._last = move if can_be_more(board, move) else None
        return Play(move)
