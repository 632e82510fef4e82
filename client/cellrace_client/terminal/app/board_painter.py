"""A board painted as lines of the terminal. Pure: board, layout, deck and marks in, segments out."""

from __future__ import annotations

from typing import NamedTuple

from rich.segment import Segment
from rich.style import Style

from cellrace.board import Board
from cellrace.cards import NO_CARD, RANKS, SUITS
from cellrace.notation import CELL_LETTERS, COLUMN_LETTERS, FIRST_CELL, HOME, HOME_LETTER, RESERVE, RESERVE_LETTER
from cellrace_client.terminal.app.board_layout import BoardLayout
from cellrace_client.terminal.app.deck import Deck, Light, face_text, suit_text
from cellrace_client.terminal.app.held import Held

_SIDES = {Light.PLAIN: "  ", Light.PICKED: "<>", Light.TARGET: "()", Light.HINT: "{}"}
"""The marks left and right of a card: a light is seen without colours too."""


class Marks(NamedTuple):
    """What is marked on a board: what is held, where it may go, a hint's source and target, where the cursor is."""

    held: Held | None = None
    targets: frozenset[int] = frozenset()
    hint: tuple[Held, int] | None = None
    cursor: int | None = None

    def light(self, pile: int, above: int = 0) -> Light:
        """The light on a card that has so many cards upon it."""
        if self.held is not None and self.held.pile == pile and above < self.held.cards:
            return Light.PICKED
        if above == 0 and pile in self.targets:
            return Light.TARGET
        if self.hint is not None:
            source, target = self.hint
            if (source.pile == pile and above < source.cards) or (target == pile and above == 0):
                return Light.HINT
        return Light.PLAIN


NO_MARKS = Marks()


class _Piece(NamedTuple):
    x: int
    text: str
    style: Style


class BoardPainter:
    """Paints one board."""

    def __init__(self, board: Board, layout: BoardLayout, deck: Deck, marks: Marks, *, letters: bool) -> None:
        self._board = board
        self._layout = layout
        self._deck = deck
        self._marks = marks
        self._letters = letters

    def lines(self) -> list[list[Segment]]:
        """Every line of the board, from the top."""
        return [self._line(self._pieces(y)) for y in range(self._layout.height)]

    def _line(self, pieces: list[_Piece]) -> list[Segment]:
        felt = self._deck.felt
        segments: list[Segment] = []
        at = 0
        width = self._layout.width
        for x, text, style in sorted(pieces):
            if x + len(text) > width:
                continue
            if x > at:
                segments.append(Segment(" " * (x - at), felt))
            segments.append(Segment(text, style))
            at = x + len(text)
        if at < width:
            segments.append(Segment(" " * (width - at), felt))
        return segments

    def _pieces(self, y: int) -> list[_Piece]:
        layout = self._layout
        if y == 0:
            return self._top_labels()
        if y <= layout.top_face:
            return self._top_row(y - 1)
        if y == layout.columns_y - 1:
            letters = COLUMN_LETTERS[: len(layout.columns)]
            return [self._label(x, letter) for x, letter in zip(layout.columns, letters, strict=False)]
        pieces = (self._column(column, y - layout.columns_y) for column in range(len(layout.columns)))
        return [piece for piece in pieces if piece is not None]

    def _label(self, x: int, text: str) -> _Piece:
        return _Piece(x, text.center(self._layout.card), self._deck.label)

    def _top_labels(self) -> list[_Piece]:
        layout = self._layout
        pieces = [self._label(x, letter) for x, letter in zip(layout.cells, CELL_LETTERS, strict=False)]
        pieces += [self._label(x, RESERVE_LETTER if i == 0 else "") for i, x in enumerate(layout.reserve)]
        pieces += [self._label(x, HOME_LETTER) for x in layout.homes]
        return pieces

    def _top_row(self, line: int) -> list[_Piece]:
        board, layout = self._board, self._layout
        pieces = []
        for i, x in enumerate(layout.cells):
            card = board.cells[i]
            pieces.append(self._place(x, FIRST_CELL + i, None if card == NO_CARD else card, "", line))
        for i, x in enumerate(layout.reserve):
            # Only the first one can be laid out.
            pieces.append(self._place(x, RESERVE if i == 0 else -1, board.reserve[i], "", line))
        for suit_letter, x in zip(board.variant.suits, layout.homes, strict=False):
            suit = SUITS.index(suit_letter)
            count = board.homes[suit]
            top = RANKS.index(board.variant.home_order[count - 1]) * 4 + suit if count else None
            pieces.append(self._place(x, HOME, top, suit_text(suit, letters=self._letters), line, suit))
        return pieces

    def _place(self, x: int, pile: int, card: int | None, name: str, line: int, suit: int | None = None) -> _Piece:
        light = self._marks.light(pile)
        if suit is not None and light is not Light.PLAIN and not self._goes_to(suit):
            light = Light.PLAIN
        last = self._layout.top_face - 1
        if card is None:
            return _Piece(x, self._empty_text(pile, light, name, line), self._deck.empty(light))
        return _Piece(x, self._face(card, pile, light, line, last), self._deck.card(card, light))

    def _goes_to(self, suit: int) -> bool:
        """Whether what is held, or what a hint moves, is of this suit."""
        held = self._marks.held or (self._marks.hint[0] if self._marks.hint else None)
        if held is None:
            return False
        if held.pile < FIRST_CELL:
            column = self._board.columns[held.pile]
            return bool(column) and column[-1] & 3 == suit
        return held.pile < HOME and self._board.cells[held.pile - FIRST_CELL] & 3 == suit

    def _column(self, column: int, line: int) -> _Piece | None:
        cards = self._board.columns[column]
        stack = self._layout.stacks[column]
        x = self._layout.columns[column]
        if not cards:
            light = self._marks.light(column)
            last = stack.face - 1
            if line > last:
                return None
            return _Piece(x, self._empty_text(column, light, "", line), self._deck.empty(light))
        if stack.hidden:
            if line == 0:
                return _Piece(x, f"+{stack.hidden}".center(self._layout.card), self._deck.label)
            line -= 1
        depth = min(stack.hidden + line // stack.step, len(cards) - 1)
        within = line - (depth - stack.hidden) * stack.step
        exposed = depth == len(cards) - 1
        if exposed and within >= stack.face:
            return None
        above = len(cards) - 1 - depth
        light = self._marks.light(column, above)
        # The marks of a covered card stand on its first line, of the exposed one also on its last.
        text = self._face(cards[depth], column if exposed else -1, light, within, stack.face - 1 if exposed else -1)
        # Where columns touch, neighbours have another tone too.
        odd = (depth + column * self._layout.touching) % 2 == 1
        return _Piece(x, text, self._deck.card(cards[depth], light, odd=odd))

    def _sides(self, pile: int, light: Light) -> str:
        sides = _SIDES[light]
        if self._marks.cursor == pile:
            # The cursor keeps the right hand mark, so that both can be seen.
            sides = "[" + ("]" if light is Light.PLAIN else sides[1])
        return sides

    def _face(self, card: int, pile: int, light: Light, line: int, last: int) -> str:
        width = self._layout.card
        name = face_text(card, letters=self._letters)
        sides = self._sides(pile, light)
        if line == 0:
            return f"{sides[0]}{name.ljust(width - 2)}{sides[1]}"
        if line == last and line > 1:
            return f" {name.rjust(width - 2)} "
        return " " * width

    def _empty_text(self, pile: int, light: Light, name: str, line: int) -> str:
        width = self._layout.card
        sides = self._sides(pile, light)
        if line == 0:
            inner = (name or "-" * min(2, width - 2)).center(width - 2)
            return f"{sides[0]}{inner}{sides[1]}"
        return " " * width
