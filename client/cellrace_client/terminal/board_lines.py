"""A board drawn as lines of text, for people."""

from __future__ import annotations

from cellrace.board import Board
from cellrace.board_text import home_tops
from cellrace.cards import NO_CARD, SUITS, SYMBOLS, card_name, card_symbol, is_red
from cellrace.notation import CELL_LETTERS, COLUMN_LETTERS
from cellrace_client.language import _

_RED = "\x1b[31m"
_PLAIN = "\x1b[0m"


def board_lines(board: Board, *, symbols: bool = False, color: bool = False) -> list[str]:
    """The board: cells, home, the reserve where there is one, then the columns with the exposed card lowest.

    `symbols` draws suits as ♣♦♥♠ and not as letters; `color` makes hearts and diamonds red by terminal codes.
    """

    def card(number: int) -> str:
        text = card_symbol(number) if symbols else card_name(number)
        return f"{_RED}{text}{_PLAIN}" if color and is_red(number) else text

    held = [card(number) if number != NO_CARD else "--" for number in board.cells]
    labels = [_("cells"), _("home"), _("reserve")]
    width = max(map(len, labels))
    cells, home, reserve = (f"{label:<{width}} " for label in labels)
    lines = [cells + "  ".join(f"{letter} {text}" for letter, text in zip(CELL_LETTERS, held, strict=False))]
    lines.append(home + "  ".join(_home(suit, top, symbols) for suit, top in home_tops(board).items()))
    if board.reserve:
        lines.append(reserve + "  ".join(map(card, board.reserve)))
    lines.append("")
    lines.append("   " + "   ".join(f"{letter:>2}" for letter in COLUMN_LETTERS[: len(board.columns)]))
    for row in range(max(map(len, board.columns))):
        cards = [card(column[row]) if row < len(column) else "  " for column in board.columns]
        lines.append(("   " + "   ".join(cards)).rstrip())
    return lines


def _home(suit: str, top: str | None, symbols: bool) -> str:
    name = SYMBOLS[SUITS.index(suit)] if symbols else suit
    return f"{name} {top[0] if top else '-'}"
