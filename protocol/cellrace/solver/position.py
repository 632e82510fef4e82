"""Positions as the search holds them: one bytes key each, equal for positions that play alike.

A key is the filled columns in sorted order, the cards in cells in sorted order, and the four home counts, with a
SEPARATOR between each two. Which column or cell a card lies in is found again when the line is told (`line`).

A step is an int, `head << 12 | count << 6 | target`: the head card moved, how many cards, and the card they go to (or
TO_CELL, TO_EMPTY, TO_HOME).
"""

from __future__ import annotations

from functools import lru_cache
from typing import NamedTuple

from cellrace.board import Board
from cellrace.cards import NO_CARD
from cellrace.variants import Empty, Run, Variant

SEPARATOR = 64
"""No card, and no home count."""
SEPARATOR_BYTE = bytes((SEPARATOR,))

# Targets of a step that are no cards.
TO_CELL = 52
TO_EMPTY = 53
TO_HOME = 54

UNBOUNDED = 64
"""A capacity that no run exceeds."""

_NOTHING_NEXT = SEPARATOR


class Rules(NamedTuple):
    """A game's row in the form in which the search asks for it.

    `parents[card]` are the cards it may lie on; `next_home[suit][count]` is the card that goes home next.
    """

    width: int
    cells: int
    pack_size: int
    suits: tuple[int, ...]
    home_index: bytes
    fits: frozenset[int]
    parents: tuple[tuple[int, ...], ...]
    next_home: tuple[bytes, ...]
    waits_for: tuple[tuple[int, ...], ...]
    openers: frozenset[int]
    run: Run
    stepping_stones: bool


@lru_cache(maxsize=64)
def rules_of(variant: Variant) -> Rules:
    """The rules of a game."""
    pack = variant.pack
    suits = tuple(sorted({card & 3 for card in pack}))
    next_home = [bytearray((_NOTHING_NEXT,)) * (len(variant.home_order) + 1) for _ in range(4)]
    for card in pack:
        next_home[card & 3][variant.home_index[card]] = card
    highest = len(variant.ranks) - 1
    return Rules(
        width=len(variant.columns),
        cells=variant.cells,
        pack_size=len(pack),
        suits=suits,
        home_index=variant.home_index,
        fits=variant.fits,
        parents=tuple(tuple(lower for lower in pack if card * 64 + lower in variant.fits) for card in range(NO_CARD)),
        next_home=tuple(bytes(cards) for cards in next_home),
        waits_for=variant.waits_for,
        openers=frozenset(card for card in pack if variant.empty is Empty.ANY or variant.rank_index[card] == highest),
        run=variant.run,
        stepping_stones=variant.empty is Empty.ANY,
    )


def key_of(rules: Rules, board: Board) -> bytes:
    """The key of a board whose reserve is laid out, with what is safe already home."""
    columns = [column for column in board.columns if column]
    cells = bytes(card for card in board.cells if card != NO_CARD)
    return settled_key(rules, columns, cells, board.homes)


def settled_key(rules: Rules, columns: list[bytes], cells: bytes, homes: bytes) -> bytes:
    """The key of a position after all that is safe has gone home (RULES, section 3)."""
    columns, cells, homes = settle(rules, columns, cells, homes)
    return SEPARATOR_BYTE.join((*sorted(columns), bytes(sorted(cells)), homes))


def settle(rules: Rules, columns: list[bytes], cells: bytes, homes: bytes) -> tuple[list[bytes], bytes, bytes]:
    """The filled columns, the cells and the homes after all that is safe has gone home."""
    home_index, waits_for = rules.home_index, rules.waits_for
    left = columns[:]
    in_cells = bytearray(cells)
    counts = bytearray(homes)

    def is_safe(card: int) -> bool:
        place = home_index[card]
        return counts[card & 3] == place and all(counts[suit] >= place for suit in waits_for[card])

    moved = True
    while moved:
        moved = False
        for c, column in enumerate(left):
            end = len(column)
            while end and is_safe(column[end - 1]):
                end -= 1
                counts[column[end] & 3] += 1
                moved = True
            left[c] = column[:end]
        for card in bytes(in_cells):
            if is_safe(card):
                in_cells.remove(card)
                counts[card & 3] += 1
                moved = True
    return [column for column in left if column], bytes(in_cells), bytes(counts)


def split_key(key: bytes) -> tuple[list[bytes], bytes, bytes]:
    """The filled columns, the cells' cards and the home counts of a key."""
    parts = key.split(SEPARATOR_BYTE)
    homes = parts.pop()
    cells = parts.pop()
    return parts, cells, homes


def step_parts(step: int) -> tuple[int, int, int]:
    """The head card, the number of cards and the target of a step."""
    return step >> 12, step >> 6 & 63, step & 63
