"""Boards and layouts between the engine's form and the wire's."""

from __future__ import annotations

from typing import NamedTuple

from msgspec import UNSET

from cellrace.board import Board
from cellrace.board_text import cell_names, home_tops, named_board
from cellrace.cards import CARD_NAMES, SUITS
from cellrace.deals import Layout
from cellrace.messages.base import Cells, Columns
from cellrace.messages.values import BoardMap, Homes
from cellrace.variants import Variant


class DealtCards(NamedTuple):
    """A layout as `race` and `race.started` tell it; cells and reserve are None where the game deals none."""

    layout: Columns
    cells: Cells | None
    reserve: tuple[str, ...] | None


def dealt_cards(variant: Variant, layout: Layout) -> DealtCards:
    """A layout in the wire's form."""
    return DealtCards(
        tuple(tuple(column) for column in layout.column_names()),
        tuple(cell_names(layout)) if variant.cells_dealt else None,
        tuple(CARD_NAMES[card] for card in layout.reserve) if variant.reserve else None,
    )


def board_map(board: Board) -> BoardMap:
    """A board in the wire's form."""
    tops = home_tops(board)
    return BoardMap(
        columns=tuple(tuple(CARD_NAMES[card] for card in column) for column in board.columns),
        cells=tuple(cell_names(board)),
        homes=Homes(
            clubs=tops.get("C", UNSET),
            diamonds=tops.get("D", UNSET),
            hearts=tops.get("H", UNSET),
            spades=tops.get("S", UNSET),
        ),
        reserve=tuple(CARD_NAMES[card] for card in board.reserve),
    )


def read_board(variant: Variant, board: BoardMap) -> Board:
    """The engine's form of a board on the wire. Raises InvalidText."""
    tops = zip(SUITS, (board.homes.clubs, board.homes.diamonds, board.homes.hearts, board.homes.spades), strict=True)
    return named_board(
        variant,
        board.columns,
        board.cells,
        {suit: top for suit, top in tops if top is not UNSET},
        board.reserve,
    )
