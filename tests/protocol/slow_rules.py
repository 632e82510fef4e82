"""The rules once more, as slowly and plainly as the page tells them: what the engine is compared with.

Written from the rules' text, with card names and lists, and sharing nothing with the engine but a variant's row.
"""

from __future__ import annotations

import re
from dataclasses import dataclass, field
from itertools import pairwise

from cellrace.board import Board
from cellrace.errors import Reason
from cellrace.variants import Variant

RED = "DH"
SPELLING = re.compile(r"[0-9a-gk][0-9a-gkh]|r[0-9]|[0-9][0-9]v[1-9a-d]")


@dataclass
class Position:
    """Cards by name; homes as lists from the first card to the top one."""

    variant: Variant
    columns: list[list[str]]
    cells: list[str | None]
    homes: dict[str, list[str]]
    reserve: list[str] = field(default_factory=list)

    def copy(self) -> Position:
        """A position that can be changed."""
        return Position(
            self.variant,
            [list(column) for column in self.columns],
            list(self.cells),
            {suit: list(pile) for suit, pile in self.homes.items()},
            list(self.reserve),
        )

    def cards(self) -> list[str]:
        """Every card, wherever it lies, sorted."""
        lying = [card for column in self.columns for card in column] + [card for card in self.cells if card]
        return sorted(lying + [card for pile in self.homes.values() for card in pile] + self.reserve)


def position(board: Board) -> Position:
    """The engine's board in card names, by its documented encoding: rank * 4 + suit, ace first, ♣ ♦ ♥ ♠."""

    def name(card: int) -> str:
        return "A23456789TJQK"[card // 4] + "CDHS"[card % 4]

    order = board.variant.home_order
    return Position(
        board.variant,
        [[name(card) for card in column] for column in board.columns],
        [None if card == 52 else name(card) for card in board.cells],
        {suit: [rank + suit for rank in order[: board.homes["CDHS".index(suit)]]] for suit in board.variant.suits},
        [name(card) for card in board.reserve],
    )


def rank_follows(variant: Variant, upper: str, lower: str) -> bool:
    """Whether `upper` is one rank below `lower`."""
    return variant.ranks.index(upper[0]) + 1 == variant.ranks.index(lower[0])


def suits_fit(variant: Variant, upper: str, lower: str) -> bool:
    """Whether the suits satisfy how the game builds."""
    if variant.build == "color":
        return (upper[1] in RED) != (lower[1] in RED)
    return variant.build == "rank" or upper[1] == lower[1]


def may_lie_on(variant: Variant, upper: str, lower: str) -> bool:
    """Whether a card may lie on another in a column."""
    return rank_follows(variant, upper, lower) and suits_fit(variant, upper, lower)


def is_run(variant: Variant, cards: list[str]) -> bool:
    """Whether each card lies rightly on the one above it."""
    return all(may_lie_on(variant, lower, upper) for upper, lower in pairwise(cards))


def capacity(pos: Position, target: int) -> int:
    """How many cards go to a column at once."""
    if pos.variant.run == "single":
        return 1
    if pos.variant.run == "unlimited":
        return 1000
    free_cells = pos.cells.count(None)
    if pos.variant.empty == "king":
        return free_cells + 1
    empty = sum(1 for c, column in enumerate(pos.columns) if not column and c != target)
    return int((free_cells + 1) * 2**empty)


def may_go_home(pos: Position, card: str) -> bool:
    """Whether a card is the next of its suit."""
    return pos.variant.home_order.index(card[0]) == len(pos.homes[card[1]])


def _pile(pos: Position, letter: str) -> tuple[str, int] | None:
    """The kind and place of a pile that the game has."""
    if letter in "1234567890":
        column = "1234567890".index(letter)
        return ("column", column) if column < len(pos.columns) else None
    if letter in "abcdefgk":
        cell = "abcdefgk".index(letter)
        return ("cell", cell) if cell < len(pos.cells) else None
    if letter == "h":
        return ("home", 0)
    return ("reserve", 0) if pos.variant.reserve else None


def reasons_against(pos: Position, move: str) -> set[Reason]:
    """Every reason for which a move is illegal: none when it is legal."""
    if not SPELLING.fullmatch(move):
        return {Reason.BAD_NOTATION}
    source, target = _pile(pos, move[0]), _pile(pos, move[1])
    reasons: set[Reason] = set()
    if source is None or target is None:
        reasons.add(Reason.NO_SUCH_PILE)
    if pos.reserve and move[0] != "r":
        reasons.add(Reason.RESERVE_FIRST)
    if move[0] == move[1]:
        reasons.add(Reason.SAME_PILE)
    cards: list[str] = []
    if source is not None:
        kind, at = source
        if kind == "column":
            cards = pos.columns[at]
        elif kind == "cell":
            held = pos.cells[at]
            cards = [held] if held else []
        else:
            cards = pos.reserve[:1]
        if not cards:
            reasons.add(Reason.EMPTY_SOURCE)
    if target is not None:
        kind, at = target
        if kind == "cell" and pos.cells[at] is not None:
            reasons.add(Reason.CELL_FULL)
        if kind == "home" and cards and not may_go_home(pos, cards[-1]):
            reasons.add(Reason.FOUNDATION_ORDER)
        if kind == "column" and cards and move[0] not in ("r", move[1]):
            reasons |= _reasons_at_column(pos, cards, at, int(move[3:] or "0", 16))
    return reasons


def _reasons_at_column(pos: Position, cards: list[str], target: int, said: int) -> set[Reason]:
    variant = pos.variant
    on = pos.columns[target][-1] if pos.columns[target] else None
    count = said or (1 if on is None else variant.ranks.index(on[0]) - variant.ranks.index(cards[-1][0]))
    if not 1 <= count <= len(cards):
        return {Reason.WRONG_RANK}
    moved = cards[-count:]
    reasons: set[Reason] = set()
    if on is None:
        if variant.empty == "king" and moved[0][0] != "K":
            reasons.add(Reason.EMPTY_COLUMN_RULE)
    else:
        if not rank_follows(variant, moved[0], on):
            reasons.add(Reason.WRONG_RANK)
        if not suits_fit(variant, moved[0], on):
            reasons.add(Reason.WRONG_COLOR if variant.build == "color" else Reason.WRONG_SUIT)
    if not is_run(variant, moved):
        reasons.add(Reason.NOT_A_RUN)
    if count > capacity(pos, target):
        reasons.add(Reason.TOO_MANY_CARDS)
    return reasons


def first_reason(pos: Position, move: str) -> Reason | None:
    """The reason that a refusal names: the first in the listed order."""
    reasons = reasons_against(pos, move)
    return next((reason for reason in Reason if reason in reasons), None)


def after(pos: Position, move: str) -> Position:
    """The position that a legal move leads to."""
    pos = pos.copy()
    count = 1
    if move[0] in "0123456789" and move[1] in "0123456789":
        source, target = pos.columns["1234567890".index(move[0])], pos.columns["1234567890".index(move[1])]
        ranks = pos.variant.ranks
        asked = 1 if not target else ranks.index(target[-1][0]) - ranks.index(source[-1][0])
        count = int(move[3:] or "0", 16) or asked
    moved = _take(pos, move[0], count)
    if move[1] in "1234567890":
        pos.columns["1234567890".index(move[1])].extend(moved)
    elif move[1] == "h":
        pos.homes[moved[0][1]].append(moved[0])
    else:
        pos.cells["abcdefgk".index(move[1])] = moved[0]
    return pos


def _take(pos: Position, letter: str, count: int) -> list[str]:
    if letter == "r":
        return [pos.reserve.pop(0)]
    if letter in "abcdefgk":
        at = "abcdefgk".index(letter)
        card = pos.cells[at]
        assert card is not None
        pos.cells[at] = None
        return [card]
    column = pos.columns["1234567890".index(letter)]
    moved = column[-count:]
    del column[-count:]
    return moved


def safe_to_play(pos: Position, card: str) -> bool:
    """Horne's rule: it may go home, and no other card can still need it in a column."""
    if not may_go_home(pos, card):
        return False
    rank = pos.variant.home_order.index(card[0])
    if pos.variant.build != "color" or rank in (0, 1):
        return True
    others = [suit for suit in pos.variant.suits if (suit in RED) != (card[1] in RED)]
    return all(len(pos.homes[suit]) >= rank for suit in others)


def autoplay(pos: Position) -> tuple[Position, list[str]]:
    """What goes home by itself, one card after the other, each time the first from the left."""
    moves: list[str] = []
    while not pos.reserve:
        exposed = [(letter, column[-1:]) for letter, column in zip("1234567890", pos.columns, strict=False)]
        exposed += [(letter, [card] if card else []) for letter, card in zip("abcdefgk", pos.cells, strict=False)]
        safe = [letter + "h" for letter, cards in exposed if cards and safe_to_play(pos, cards[0])]
        if not safe:
            break
        pos = after(pos, safe[0])
        moves.append(safe[0])
    return pos, moves


def slow_deal(variant: Variant, number: int) -> Position:
    """A deal by the letter of the numbering."""
    pack = [rank + suit for rank in variant.home_order for suit in "CDHS" if suit in variant.suits]
    state = number % 2**32
    taken = []
    while pack:
        state = (state * 214013 + 2531011) % 2**32
        v = state >> 16
        draw = v & 0x7FFF if number < 2**31 else (v & 0x7FFF) | 0x8000 if number < 2**32 else v + 1
        j = draw % len(pack)
        taken.append(pack[j])
        pack[j] = pack[-1]
        pack.pop()
    columns: list[list[str]] = [[] for _ in variant.columns]
    while any(len(column) < size for column, size in zip(columns, variant.columns, strict=True)):
        for column, size in zip(columns, variant.columns, strict=True):
            if len(column) < size:
                column.append(taken.pop(0))
    cells: list[str | None] = [taken.pop(0) if cell < variant.cells_dealt else None for cell in range(variant.cells)]
    return Position(variant, columns, cells, {suit: [] for suit in variant.suits}, taken)
