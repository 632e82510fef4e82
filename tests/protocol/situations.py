"""Small situations: two columns as said, and the rest of the pack where it does not matter."""

from __future__ import annotations

from cellrace.board import Board
from cellrace.cards import NO_CARD, parse_card
from cellrace.variants import Variant


def situation(variant: Variant, first: str, second: str, full_cells: str = "") -> Board:
    """A board whose columns 1 and 2 and cells are as said; all other cards lie in the columns from 3 on."""
    columns = [bytes(map(parse_card, names.split())) for names in (first, second)]
    cells = bytes(map(parse_card, full_cells.split()))
    rest = [card for card in variant.pack if card not in cells + b"".join(columns)]
    width = len(variant.columns) - 2
    columns += [bytes(rest[c::width]) for c in range(width)]
    return Board(variant, tuple(columns), cells + bytes((NO_CARD,)) * (variant.cells - len(cells)), bytes(4), b"")


def crowded(variant: Variant, first: str, second: str) -> Board:
    """The same with every cell full."""
    taken = (first + " " + second).split()
    cells = [name for name in ("6S", "7S", "JS", "QS", "6H", "7H", "JH", "QH", "AS", "KS") if name not in taken]
    cells = [name for name in cells if parse_card(name) in variant.pack]
    return situation(variant, first, second, " ".join(cells[: variant.cells]))
