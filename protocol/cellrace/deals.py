"""Deals by Microsoft's numbering, for every pack and over its whole range (RULES, section 4)."""

from __future__ import annotations

from dataclasses import dataclass

from cellrace.cards import CARD_NAMES, NO_CARD
from cellrace.errors import UnknownDeal
from cellrace.variants import Variant

LAST_DEAL = 2**33 - 1
"""The greatest number of a deal: Microsoft's numbering goes no further."""

UNWINNABLE_FREECELL_DEALS: frozenset[int] = frozenset((11982, 146692, 186216, 455889, 495505, 512118, 517776, 781948))
"""All of 1 to 1,000,000 that cannot be won in `freecell` (RULES, section 5)."""


@dataclass(frozen=True, slots=True)
class Layout:
    """Cards as dealt: columns from the buried end to the exposed one, cells with NO_CARD where empty, the reserve."""

    columns: tuple[bytes, ...]
    cells: bytes
    reserve: bytes

    def column_names(self) -> list[list[str]]:
        """The columns as lists of card names."""
        return [[CARD_NAMES[card] for card in column] for column in self.columns]


def deal(variant: Variant, number: int) -> Layout:
    """The layout of a deal number, 1 to 8,589,934,591. Raises UnknownDeal."""
    if not 1 <= number <= LAST_DEAL:
        raise UnknownDeal(number)
    taken = _shuffle(variant.pack, number)
    sizes = variant.columns
    in_columns = sum(sizes)
    cells = taken[in_columns : in_columns + variant.cells_dealt]
    return Layout(
        _lay_in_rows(taken, sizes),
        cells + bytes((NO_CARD,)) * (variant.cells - variant.cells_dealt),
        taken[in_columns + variant.cells_dealt :],
    )


def _shuffle(pack: bytes, number: int) -> bytes:
    """The pack in the order in which its cards are taken."""
    left = bytearray(pack)
    taken = bytearray()
    state = number
    if number < 2**31:
        for count in range(len(left), 0, -1):
            state = (state * 214013 + 2531011) & 0x7FFFFFFF
            j = (state >> 16) % count
            taken.append(left[j])
            left[j] = left[count - 1]
        return bytes(taken)
    # From 2^31 on the draw has 16 bits: the top one set, or from 2^32 on the plain 16 bits and one more.
    top, extra = (0x8000, 0) if number < 2**32 else (0, 1)
    for count in range(len(left), 0, -1):
        state = (state * 214013 + 2531011) & 0xFFFFFFFF
        j = ((state >> 16 | top) + extra) % count
        taken.append(left[j])
        left[j] = left[count - 1]
    return bytes(taken)


def _lay_in_rows(taken: bytes, sizes: tuple[int, ...]) -> tuple[bytes, ...]:
    """Row by row, left to right, over the columns that still want cards."""
    rows = min(sizes)
    width = len(sizes)
    full = rows * width
    columns = [taken[c:full:width] for c in range(width)]
    place = full
    while place < sum(sizes):
        for c, size in enumerate(sizes):
            if len(columns[c]) < size:
                columns[c] += taken[place : place + 1]
                place += 1
    return tuple(columns)
