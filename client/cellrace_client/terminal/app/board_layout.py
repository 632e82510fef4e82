"""Where each pile lies on the screen, for a board and the room there is. Pure."""

from __future__ import annotations

from typing import NamedTuple

from cellrace.board import Board
from cellrace.notation import FIRST_CELL, HOME, RESERVE
from cellrace.variants import Variant

NARROWEST = 4
_WIDEST = 9
_GAP = 1
"""Cells of a card, rank, suit and a mark on either side at least, and of the gap to the next."""


class Stack(NamedTuple):
    """How a column is drawn: its first cards left out, lines for each covered card, lines for the exposed one."""

    hidden: int
    step: int
    face: int

    def line_of(self, depth: int) -> int:
        """The line, counted from the column's first, on which a card begins."""
        return (depth - self.hidden) * self.step + (1 if self.hidden else 0)


class Hit(NamedTuple):
    """What lies at a place: a pile, and in a column which card, counted from its buried end."""

    pile: int
    depth: int


class BoardLayout(NamedTuple):
    """The places of one board: all in cells of the terminal, from the upper left corner of the board."""

    width: int
    height: int
    card: int
    columns: tuple[int, ...]
    cells: tuple[int, ...]
    homes: tuple[int, ...]
    reserve: tuple[int, ...]
    top_face: int
    columns_y: int
    stacks: tuple[Stack, ...]

    @property
    def touching(self) -> bool:
        """Whether columns lie side by side without a gap."""
        return len(self.columns) > 1 and self.columns[1] - self.columns[0] == self.card

    def hit(self, board: Board, x: int, y: int) -> Hit | None:
        """What lies at a place; the room below a column belongs to its exposed card."""
        if y < self.columns_y - 1:
            for places, first in ((self.cells, FIRST_CELL), (self.homes, HOME), (self.reserve, RESERVE)):
                for i, left in enumerate(places):
                    if left <= x < left + self.card:
                        return Hit(first + i if first == FIRST_CELL else first, 0)
            return None
        for column, left in enumerate(self.columns):
            if left <= x < left + self.card:
                cards = len(board.columns[column])
                stack = self.stacks[column]
                line = max(0, y - self.columns_y - (1 if stack.hidden else 0))
                return Hit(column, max(0, min(cards - 1, stack.hidden + line // stack.step)))
        return None


def slots(variant: Variant) -> int:
    """How many cards lie beside each other at most."""
    return max(len(variant.columns), variant.cells + len(variant.suits) + variant.reserve)


def narrowest(variant: Variant) -> int:
    """The width that a game's board needs."""
    return slots(variant) * (NARROWEST + _GAP) + 1


def tightest(variant: Variant) -> int:
    """The width of a board that is only looked at: its cards lie side by side without a gap."""
    return slots(variant) * NARROWEST + 1


def lay_out(board: Board, width: int, height: int) -> BoardLayout:
    """The layout of a board: cards as large as the room allows, and the same for every board of a game."""
    variant = board.variant
    most = slots(variant)
    gap = _GAP if width >= narrowest(variant) else 0
    card = max(NARROWEST, min(_WIDEST, (width - 1) // most - gap))
    pitch = card + gap
    used = most * pitch - gap
    left = max(0, (width - used) // 2)
    # A sentence of three lines below the board takes nothing from its cards at 40 or 30 lines.
    if height >= 32:
        top_face, step, face = 3, 2, 4
    elif height >= 25:
        top_face, step, face = 3, 1, 3
    else:
        top_face, step, face = 1, 1, 2
    columns_y = top_face + 2
    room = max(1, height - columns_y)
    # The columns stand in the middle where cells and homes need more room.
    first = left + (used - (len(board.columns) * pitch - gap)) // 2
    homes = len(variant.suits)
    home_x = left + used - (homes * pitch - gap)
    cells = tuple(left + i * pitch for i in range(variant.cells))
    reserve_x = (left + variant.cells * pitch + home_x - variant.reserve * pitch) // 2
    return BoardLayout(
        width=width,
        height=height,
        card=card,
        columns=tuple(first + i * pitch for i in range(len(board.columns))),
        cells=cells,
        homes=tuple(home_x + i * pitch for i in range(homes)),
        reserve=tuple(reserve_x + i * pitch for i in range(len(board.reserve))),
        top_face=top_face,
        columns_y=columns_y,
        stacks=tuple(_stack(len(column), room, step, face) for column in board.columns),
    )


def _stack(cards: int, room: int, step: int, face: int) -> Stack:
    """The cards of one column in the lines there are: narrower first, the exposed one lower, then some left out."""
    while step > 1 and (cards - 1) * step + face > room:
        step -= 1
    face = max(1, min(face, room - (cards - 1) * step))
    hidden = 0
    if cards > room:
        hidden = cards - room + 1
    return Stack(hidden, step, face)
