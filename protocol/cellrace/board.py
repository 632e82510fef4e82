"""A board: where every card lies, and which moves the rules allow from there (RULES, section 2)."""

from __future__ import annotations

from typing import NamedTuple

from cellrace.cards import NO_CARD
from cellrace.deals import Layout
from cellrace.errors import IllegalMove, Reason
from cellrace.notation import FIRST_CELL, HOME, MOVES, PILE_LETTERS, RESERVE, Move, move_text, parse_move
from cellrace.variants import Build, Empty, Run, Variant

_KING = 12
"""The rank of a king, from 0 for an ace."""
_NO_CARD = bytes((NO_CARD,))

_ONE_CARD: tuple[bytes, ...] = tuple(bytes((card,)) for card in range(64))
_WRONG_SUITS = {Build.COLOR: Reason.WRONG_COLOR, Build.SUIT: Reason.WRONG_SUIT, Build.RANK: Reason.WRONG_RANK}


class Board(NamedTuple):
    """One position of a game; playing a move gives a new one.

    `columns` run from the buried end to the exposed one; `cells` hold NO_CARD where empty; `homes` count the cards
    home of each suit ♣ ♦ ♥ ♠; `reserve` are the cards still to be laid out.
    """

    variant: Variant
    columns: tuple[bytes, ...]
    cells: bytes
    homes: bytes
    reserve: bytes

    @property
    def cards_home(self) -> int:
        """How many cards are home."""
        return sum(self.homes)

    @property
    def won(self) -> bool:
        """Whether every card is home."""
        return sum(self.homes) == len(self.variant.pack)

    def capacity(self, target_is_empty: bool) -> int:
        """How many cards one move may carry to a column, here and now: (e + 1) · 2^m (RULES, section 2)."""
        variant = self.variant
        match variant.run:
            case Run.SINGLE:
                return 1
            case Run.UNLIMITED:
                return variant.pack_size
            case Run.LIMITED:
                room = self.cells.count(NO_CARD) + 1
                if variant.empty is Empty.KING:
                    return room
                return room << (self.columns.count(b"") - target_is_empty)

    def refusal(self, move: str) -> Reason | None:
        """Why a move is illegal, the first reason that applies; None when it is legal."""
        parsed = MOVES.get(move)
        if parsed is None:
            return Reason.BAD_NOTATION
        verdict = self._judge(parsed)
        return verdict if isinstance(verdict, Reason) else None

    def play(self, move: str) -> Board:
        """The board after a move. Raises IllegalMove with the first reason that applies."""
        parsed = MOVES.get(move)
        if parsed is None:
            raise IllegalMove(Reason.BAD_NOTATION, move)
        verdict = self._judge(parsed)
        if isinstance(verdict, Reason):
            raise IllegalMove(verdict, move)
        return self._carry(parsed.source, parsed.target, verdict)

    def _judge(self, move: Move) -> int | Reason:
        """How many cards a move carries, or the first reason against it."""
        source, target, count = move
        variant, columns, cells, homes, reserve = self
        width = len(columns)
        if source < FIRST_CELL:
            if source >= width:
                return Reason.NO_SUCH_PILE
        elif source < HOME:
            if source - FIRST_CELL >= len(cells):
                return Reason.NO_SUCH_PILE
        elif not variant.reserve:
            return Reason.NO_SUCH_PILE
        if target < FIRST_CELL:
            if target >= width:
                return Reason.NO_SUCH_PILE
        elif target != HOME and target - FIRST_CELL >= len(cells):
            return Reason.NO_SUCH_PILE
        if source == RESERVE:
            return 1 if reserve else Reason.EMPTY_SOURCE
        if reserve:
            return Reason.RESERVE_FIRST
        if source == target:
            return Reason.SAME_PILE
        if source < FIRST_CELL:
            column = columns[source]
            if not column:
                return Reason.EMPTY_SOURCE
            card = column[-1]
        else:
            column = b""
            card = cells[source - FIRST_CELL]
            if card == NO_CARD:
                return Reason.EMPTY_SOURCE
        if target >= FIRST_CELL:
            if target == HOME:
                return 1 if homes[card & 3] == variant.home_index[card] else Reason.FOUNDATION_ORDER
            return 1 if cells[target - FIRST_CELL] == NO_CARD else Reason.CELL_FULL
        on = columns[target]
        if on:
            return self._judge_building(column or _ONE_CARD[card], on[-1], count)
        return self._judge_opening(column or _ONE_CARD[card], count or 1)

    def _judge_building(self, column: bytes, on: int, count: int) -> int | Reason:
        """The same for a move onto the exposed card `on`, which asks for a number of cards."""
        variant = self.variant
        fits = variant.fits
        card = column[-1]
        if card * 64 + on in fits and count < 2:
            return 1
        rank_index = variant.rank_index
        wanted = count or rank_index[on] - rank_index[card]
        if wanted < 1 or wanted > len(column):
            return Reason.WRONG_RANK
        head = column[-wanted]
        if rank_index[head] + 1 != rank_index[on]:
            return Reason.WRONG_RANK
        if not self._is_run(column, wanted):
            return Reason.NOT_A_RUN
        if head * 64 + on not in fits:
            return _WRONG_SUITS[variant.build]
        return wanted if wanted == 1 or wanted <= self.capacity(target_is_empty=False) else Reason.TOO_MANY_CARDS

    def _judge_opening(self, column: bytes, count: int) -> int | Reason:
        """The same for a move to an empty column."""
        if count > len(column):
            return Reason.WRONG_RANK
        if self.variant.empty is Empty.KING and column[-count] >> 2 != _KING:
            return Reason.EMPTY_COLUMN_RULE
        if count == 1:
            return 1
        if not self._is_run(column, count):
            return Reason.NOT_A_RUN
        return count if count <= self.capacity(target_is_empty=True) else Reason.TOO_MANY_CARDS

    def _is_run(self, column: bytes, count: int) -> bool:
        fits = self.variant.fits
        return all(column[-i] * 64 + column[-i - 1] in fits for i in range(1, count))

    def _carry(self, source: int, target: int, count: int) -> Board:
        """The board after a move that was judged to be legal."""
        variant, columns_before, cells, homes, reserve = self
        columns = list(columns_before)
        if source < FIRST_CELL:
            column = columns[source]
            cards = column[-count:]
            columns[source] = column[:-count]
        elif source == RESERVE:
            cards = reserve[:1]
            reserve = reserve[1:]
        else:
            at = source - FIRST_CELL
            cards = cells[at : at + 1]
            cells = cells[:at] + _NO_CARD + cells[at + 1 :]
        if target < FIRST_CELL:
            columns[target] += cards
        elif target == HOME:
            suit = cards[0] & 3
            homes = homes[:suit] + _ONE_CARD[homes[suit] + 1] + homes[suit + 1 :]
        else:
            at = target - FIRST_CELL
            cells = cells[:at] + cards + cells[at + 1 :]
        return tuple.__new__(Board, (variant, tuple(columns), cells, homes, reserve))

    def legal_moves(self) -> list[str]:
        """Every legal move in its shortest spelling: columns first, then cells, each in pile order."""
        if self.reserve:
            return [move_text(RESERVE, c) for c in range(len(self.columns))]
        sources = [c for c, column in enumerate(self.columns) if column]
        sources += [FIRST_CELL + i for i, card in enumerate(self.cells) if card != NO_CARD]
        targets = [HOME, *range(len(self.columns)), *range(FIRST_CELL, FIRST_CELL + len(self.cells))]
        moves: list[str] = []
        for source in sources:
            for target in targets:
                move = PILE_LETTERS[source] + PILE_LETTERS[target]
                if self.refusal(move) is None:
                    moves.append(move)
                if source < FIRST_CELL > target and not self.columns[target]:
                    longer = (move_text(source, target, n) for n in range(2, min(len(self.columns[source]), 13) + 1))
                    moves.extend(text for text in longer if self.refusal(text) is None)
        return moves

    def carried(self, move: str) -> int:
        """How many cards a legal move carries. Raises IllegalMove."""
        verdict = self._judge(parse_move(move))
        if isinstance(verdict, Reason):
            raise IllegalMove(verdict, move)
        return verdict

    def single_steps(self, move: str) -> list[str]:
        """One-card moves, each legal in its turn, that lead to the same board as a legal move.

        A move of one card is its own step. So is a run that only an `unlimited` game can carry: nothing shorter tells
        it. Raises IllegalMove.
        """
        count = self.carried(move)
        source, target, _ = parse_move(move)
        cells = [FIRST_CELL + i for i, card in enumerate(self.cells) if card == NO_CARD]
        empty: list[int] = []
        if self.variant.empty is Empty.ANY:
            empty = [c for c, column in enumerate(self.columns) if not column and c != target]
        if count == 1 or count > (len(cells) + 1) << len(empty):
            return [move]
        return _single_steps(count, source, target, cells, empty)


def _single_steps(count: int, source: int, target: int, cells: list[int], empty: list[int]) -> list[str]:
    """Through the cells when they suffice, else by parking the upper part of the run on an empty column."""
    if count <= len(cells) + 1:
        parked = cells[: count - 1]
        return [
            *(move_text(source, cell) for cell in parked),
            move_text(source, target),
            *(move_text(cell, target) for cell in reversed(parked)),
        ]
    stone, others = empty[0], empty[1:]
    part = min(count - 1, (len(cells) + 1) << len(others))
    return [
        *_single_steps(part, source, stone, cells, others),
        *_single_steps(count - part, source, target, cells, others),
        *_single_steps(part, stone, target, cells, others),
    ]


def dealt_board(variant: Variant, layout: Layout, *, laid: bool = False) -> Board:
    """The board of a layout; `laid` puts the reserve on the ends of columns 1, 2, 3 … in the order dealt."""
    columns = list(layout.columns)
    reserve = layout.reserve
    if laid:
        for c, card in enumerate(reserve):
            columns[c] += _ONE_CARD[card]
        reserve = b""
    return Board(variant, tuple(columns), layout.cells, bytes(4), reserve)
